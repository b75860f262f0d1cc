"""The child process that optimises a copied shard: `python -m kaijuan.stores.index.optimising FOLDER`.

Optimising holds Python's global lock for minutes, so it never runs where questions are answered.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from kaijuan.stores.index.qdrant_edge import Shard


def main(folder: str) -> None:
    """Optimise the shard in a folder that nobody else has open."""
    os.nice(10)
    shard = Shard.load(Path(folder), refit=True)
    shard.optimise()
    shard.flush()
    shard.close()


if __name__ == "__main__":
    main(sys.argv[1])
