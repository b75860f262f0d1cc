"""What setting up downloads and takes on the disk: `make demo`'s packages, fetched and installed anew.

    python -m bench.install_size

Fetches from the package index that pip is set up for.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
import venv
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.machine import machine

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "requirements" / "run.lock"


def size(folder: Path) -> int:
    """Return the bytes that the files of a folder take on the disk, one that is linked twice counted once."""
    found = {}
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink():
            facts = path.stat()
            found[facts.st_dev, facts.st_ino] = facts.st_blocks * 512
    return sum(found.values())


def packed(folder: Path) -> int:
    """Return the bytes of the files of a folder as they are transferred."""
    return sum(path.stat().st_size for path in folder.iterdir())


def pip(python: str | Path, *words: str | Path) -> None:
    """Run pip of an interpreter."""
    command = [str(python), "-m", "pip", *map(str, words), "--quiet", "--disable-pip-version-check"]
    subprocess.run(command, check=True, stdout=sys.stderr)


def main() -> None:
    argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "").parse_args()
    with TemporaryDirectory() as spare:
        wheels, home = Path(spare) / "wheels", Path(spare) / "venv"
        start = time.perf_counter()
        pip(sys.executable, "download", "--no-cache-dir", "-r", LOCK, "-d", wheels)
        fetched = time.perf_counter()
        venv.create(home, with_pip=True)
        python = home / "bin" / "python"
        pip(python, "install", "--no-index", "--find-links", wheels, "--require-hashes", "-r", LOCK)
        result = {
            "machine": machine(),
            "packages": len(list(wheels.iterdir())),
            "download_mb": round(packed(wheels) / 1e6, 1),
            "venv_mb": round(size(home) / 1e6, 1),
            "download_seconds": round(fetched - start, 1),
            "install_seconds": round(time.perf_counter() - fetched, 1),
        }
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
