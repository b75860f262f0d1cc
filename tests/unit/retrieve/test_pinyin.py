"""How characters sound: every reading of each, whatever stands beside it in a list."""

from __future__ import annotations

import subprocess
import sys

import pytest

from kaijuan.retrieve.understanding.pinyin import alike, readings, sounds_like, syllables_of


@pytest.mark.parametrize(
    ("character", "sounds"),
    [
        ("圈", {"quan", "juan"}),
        ("种", {"zhong", "chong"}),
        ("澄", {"cheng", "deng"}),
        ("将", {"jiang", "qiang"}),
        ("女", {"nv"}),
        ("绿", {"lv", "lu"}),
        ("行", {"xing", "hang"}),
        ("龘", set()),
        ("a", set()),
    ],
)
def test_a_character_has_all_its_sounds(character: str, sounds: set[str]) -> None:
    assert sounds <= set(readings(character))
    assert bool(readings(character)) is bool(sounds)


def test_what_sounds_the_same_could_have_been_typed() -> None:
    assert "消" in alike("销")
    assert "销" not in alike("销")
    assert sounds_like("报销", syllables_of("baoxiao"))
    assert syllables_of("nvxing") == ("nv", "xing")
    assert syllables_of("reimbursement") == ()


def test_the_dictionary_of_phrases_is_not_read_for_it() -> None:
    said = "import sys; from kaijuan.retrieve.understanding.pinyin import readings; assert readings('种'); "
    said += "print('pypinyin.phrases_dict' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", said], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "False"
