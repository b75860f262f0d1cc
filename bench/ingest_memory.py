"""Peak memory while a folder of 100 MB is added: this process, the parser and the index owner, each and together.

    python -m bench.ingest_memory [--megabytes N] [--text-share F]

The folder is of plain text kinds by `text-share`, the rest Word files that are mostly pictures.
The onboard model is loaded and used on the first chunks; the rest is embedded by a stub of the same dimensions, since
hours of embedding would not change the memory.
"""

from __future__ import annotations

import argparse
import asyncio
import io
import json
import random
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from docx import Document
from PIL import Image

from bench.machine import machine
from bench.memory import Watch
from bench.texts import paragraphs
from kaijuan import Kaijuan
from kaijuan.config import Config
from kaijuan.core.spans import Span
from kaijuan.index.ports import Embedder, EmbedderInfo, Vector, Vectors
from kaijuan.testing.embedders import HashEmbedder

REAL_TEXTS = 64


class MostlyStub:
    """The onboard embedder for the first texts, a stub for the others; sizes are the onboard tokenizer's."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self._stub = HashEmbedder(dimensions=inner.info.dimensions)
        self._seen = 0

    @property
    def info(self) -> EmbedderInfo:
        return self._inner.info

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        self._seen += len(texts)
        return await (self._inner if self._seen <= REAL_TEXTS else self._stub).embed_passages(texts)

    async def embed_query(self, text: str) -> Vector:
        return await self._inner.embed_query(text)

    def token_spans(self, text: str) -> Sequence[Span]:
        return self._inner.token_spans(text)

    async def close(self) -> None:
        await self._inner.close()


def write_folder(folder: Path, megabytes: int, text_share: float) -> None:
    """Write text, Markdown and HTML, one file of them a fifth of the whole, and Word files that are mostly pictures."""
    text = megabytes * text_share
    big = min(megabytes / 5, text / 2)
    small = 20_000
    sizes = [int(big * 1e6)] + [1_000_000] * int((text - big) * 0.8) + [small] * int((text - big) * 0.2 * 1e6 / small)
    for number, size in enumerate(sizes):
        write_text(folder / f"file{number:04}", ("txt", "md", "html")[number % 3], number, size)
    for number in range(int(megabytes - text)):
        write_word(folder / f"word{number:04}.docx", number)


def write_text(path: Path, ending: str, seed: int, size: int) -> None:
    """Write one plain file of about `size` bytes."""
    body = list(paragraphs(seed, int(size / 2.1)))
    text = "".join(f"<p>{part}</p>\n" for part in body) if ending == "html" else "\n\n".join(body)
    path.with_suffix(f".{ending}").write_text(text, encoding="utf-8")


def write_word(path: Path, seed: int) -> None:
    """Write one Word file of a megabyte: 20,000 bytes of text and a picture of noise."""
    document = Document()
    for part in paragraphs(seed, 9_500):
        document.add_paragraph(part)
    noise = random.Random(seed).randbytes(600 * 550 * 3)
    picture = io.BytesIO()
    Image.frombytes("RGB", (600, 550), noise).save(picture, "PNG")
    document.add_picture(picture)
    document.save(str(path))


async def add(home: Path, folder: Path) -> Any:
    """Add the folder."""
    async with Kaijuan(home, config=Config()) as engine:
        engine.embedder = MostlyStub(engine.embedder)
        return await engine.add([str(folder)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--megabytes", type=int, default=100)
    parser.add_argument("--text-share", type=float, default=0.4)
    options = parser.parse_args()
    with TemporaryDirectory() as spare:
        folder, home = Path(spare) / "folder", Path(spare) / "home"
        folder.mkdir()
        write_folder(folder, options.megabytes, options.text_share)
        size = sum(path.stat().st_size for path in folder.iterdir())
        start = time.perf_counter()
        with Watch(home) as watch:
            report = asyncio.run(add(home, folder))
        seconds = time.perf_counter() - start
    print(
        json.dumps(
            {
                "machine": machine(),
                "folder_mb": round(size / 1e6, 1),
                "text_share": options.text_share,
                "documents": report.documents,
                "chunks": report.chunks,
                "failed": len(report.failed),
                "seconds": round(seconds, 1),
                "peak_mb": watch.peaks_mb(),
                "private_mb": watch.private_mb(),
            },
            indent=1,
        )
    )


if __name__ == "__main__":
    main()
