"""Every recogniser against the contract that is shipped for it."""

from __future__ import annotations

import numpy as np
import pytest

from kaijuan import registry
from kaijuan.ingest.ports import Recogniser
from kaijuan.models.recognisers.onboard import OnboardRecogniser
from kaijuan.testing.contracts.recogniser import WORDS, RecogniserContract, picture, squeezed


@pytest.fixture(scope="module")
def onboard() -> Recogniser:
    made: Recogniser = registry.load("recogniser", "onboard")(2)
    return made


class TestOnboard(RecogniserContract):
    @pytest.fixture
    def recogniser(self, onboard: Recogniser) -> Recogniser:
        return onboard

    @pytest.mark.parametrize("turn", [1, 2, 3])
    def test_reads_turned_pages(self, recogniser: Recogniser, turn: int) -> None:
        found = recogniser.recognise(np.ascontiguousarray(np.rot90(picture(*WORDS), -turn)))
        assert squeezed(found) == {"".join(words.split()) for words in WORDS}

    def test_a_line_alone_and_in_company_say_the_same(self, recogniser: Recogniser) -> None:
        alone = [recogniser.recognise(picture(words))[0].text for words in WORDS]
        assert [line.text for line in recogniser.recognise(picture(*WORDS))] == alone

    @pytest.mark.slow
    def test_a_long_strip_is_read_to_its_end(self, recogniser: Recogniser) -> None:
        words = [f"message {number} of a long conversation" for number in range(40)]
        found = recogniser.recognise(picture(*words, height=40 * 80 + 100))
        assert squeezed(found) == {"".join(line.split()) for line in words}

    def test_threads_change_nothing(self, recogniser: Recogniser) -> None:
        image = picture(*WORDS)
        assert [line.text for line in OnboardRecogniser(1).recognise(image)] == [
            line.text for line in recogniser.recognise(image)
        ]
