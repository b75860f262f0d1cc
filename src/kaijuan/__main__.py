"""`python -m kaijuan` is the same as the command `kaijuan`."""

from kaijuan.cli.app import main

if __name__ == "__main__":
    main()
