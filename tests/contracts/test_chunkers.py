"""Every chunker against the shared contract."""

import pytest

from kaijuan import registry
from kaijuan.ingest.ports import Chunker
from kaijuan.ingest.settings import CutSettings
from kaijuan.testing.contracts.chunker import ChunkerContract, ready

USUAL = CutSettings()
SMALL = CutSettings(child_tokens=16, max_tokens=24, parent_tokens=60, window_chars=1000)
WORDS = sorted(registry.targets("chunker"))


@pytest.mark.parametrize("sizes", [USUAL, SMALL], ids=["usual", "small"], scope="class")
@pytest.mark.parametrize("word", WORDS, scope="class")
class TestChunkers(ChunkerContract):
    @pytest.fixture(autouse=True)
    def _chosen(self, word: str, sizes: CutSettings) -> None:
        self.word, self.sizes = word, sizes
        self.limit = sizes.max_tokens
        self.parents_overlap = word == "sentence_window"

    def make(self) -> Chunker:
        made: Chunker = registry.load("chunker", self.word)(self.sizes)
        return ready(made)
