"""How long it takes to import the package and to start the command: median of ten, in seconds.

python -m bench.startup
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from statistics import median

from bench.machine import machine

COMMANDS = {
    "python alone": ["-c", "pass"],
    "import kaijuan": ["-c", "import kaijuan"],
    "import kaijuan.sync": ["-c", "import kaijuan.sync"],
    "kaijuan --help": ["-m", "kaijuan", "--help"],
}


def seconds(arguments: list[str], runs: int = 10) -> float:
    """Return the median time of a Python process."""
    taken = []
    for _ in range(runs + 1):
        start = time.perf_counter()
        subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
        taken.append(time.perf_counter() - start)
    return round(median(taken[1:]), 3)


def main() -> None:
    print(json.dumps({"machine": machine(), "seconds": {name: seconds(args) for name, args in COMMANDS.items()}}))


if __name__ == "__main__":
    main()
