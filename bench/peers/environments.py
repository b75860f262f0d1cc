"""The peers' environments: made from pinned requirements, never ours."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

REQUIREMENTS = Path(__file__).resolve().parent / "requirements"


@dataclass(frozen=True, kw_only=True)
class Peer:
    """One system: its module here, the name in tables, the packages whose versions tell what ran."""

    module: str
    title: str
    packages: tuple[str, ...]
    python: str = ""
    """Command of the Python it needs where ours is too old; empty means ours."""


PEERS = (
    Peer(module="ours", title="Kaijuan", packages=("kaijuan",)),
    Peer(
        module="llamaindex",
        title="LlamaIndex",
        packages=("llama-index-core", "llama-index-retrievers-bm25", "chromadb"),
    ),
    Peer(module="haystack", title="Haystack", packages=("haystack-ai",)),
    Peer(module="langchain_chroma", title="LangChain + Chroma", packages=("langchain-classic", "chromadb")),
    Peer(module="langchain_qdrant", title="LangChain + Qdrant local", packages=("langchain-classic", "qdrant-client")),
    Peer(module="txtai", title="txtai", packages=("txtai",)),
    Peer(module="haiku_rag", title="haiku.rag", packages=("haiku.rag-slim", "lancedb"), python="python3.12"),
)


def python_of(peer: Peer, folder: Path, *, make: bool = True) -> Path:
    """Return the interpreter of a peer's environment, made in `folder` where it is missing and `make` says so."""
    if peer.module == "ours":
        return Path(sys.executable)
    home = folder / peer.module
    interpreter = home / "bin" / "python"
    done = home / ".done"
    wanted = (REQUIREMENTS / f"{peer.module}.txt").read_text(encoding="utf-8")
    if done.exists() and done.read_text(encoding="utf-8") == wanted:
        return interpreter
    if not make:
        raise FileNotFoundError("its environment is not there; a run without --quick makes it")
    base = os.environ.get(f"KAIJUAN_BENCH_{peer.python.upper().replace('.', '')}") or peer.python or sys.executable
    if shutil.which(base) is None:
        raise FileNotFoundError(f"{peer.title} needs {base}.")
    print(f"making the environment of {peer.title}", file=sys.stderr)
    subprocess.run([base, "-m", "venv", "--clear", str(home)], check=True)
    install = [str(interpreter), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*install, "-r", str(REQUIREMENTS / f"{peer.module}.txt")], check=True, stdout=sys.stderr)
    done.write_text(wanted, encoding="utf-8")
    return interpreter


def versions(peer: Peer, interpreter: Path) -> dict[str, str]:
    """Return what is installed, Python included."""
    code = (
        "import sys, json, platform; from importlib.metadata import version; "
        "print(json.dumps({'python': platform.python_version(), **{n: version(n) for n in sys.argv[1:]}}))"
    )
    done = subprocess.run([str(interpreter), "-c", code, *peer.packages], capture_output=True, text=True, check=True)
    found: dict[str, str] = json.loads(done.stdout)
    return found
