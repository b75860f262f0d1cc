"""The `kaijuan` command, one file per group of commands."""
