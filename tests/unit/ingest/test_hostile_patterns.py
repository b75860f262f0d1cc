"""No regular expression of the rooms that read files may take for ever over a small hostile one."""

import importlib
import pkgutil
import re
import signal
import string
from collections.abc import Iterator
from types import FrameType
from typing import Any

import pytest

import kaijuan.core.text
import kaijuan.ingest
from kaijuan.ingest.detect import kind_of

SIZE = 1_500
SECONDS = 10
"""Long beyond doubt for what takes milliseconds; what backtracks without bound would take years."""
BEFORE = ["", "字", "---\n", "|", "<meta ", "第", "1"]
REPEATED = [
    *string.punctuation,
    *"，。、；：？！“”（）…—·　•字第a1",
    *(" ", "\n", " \n", "\u3000\n", "字\n", "字\u3000", "字.", "a ", "a-", "a.", "1.", "1,", "1-", "1, ", "- ", "a: "),
    *(
        "<!-- a -->\n",
        "<?xml ?>",
        "<!--",
        "<a ",
        "</a",
        "---|",
        "| - |",
        ". ",
        "**a",
        "第一章 ",
        "1.1 ",
        "(1)",
        "page 1 ",
    ),
    *("of ", "charset", "2024-1-", "jan ", "nav ", "filename=", "\u0301", "é", "\x00"),
]
AFTER = ["", "x", "字", "\x01", ">"]


def patterns() -> dict[str, re.Pattern[Any]]:
    found: dict[str, re.Pattern[Any]] = {}
    for package in (kaijuan.ingest, kaijuan.core.text):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            for name, value in vars(importlib.import_module(module.name)).items():
                for at, pattern in enumerate(within(value)):
                    found[f"{module.name}.{name}" + (f"[{at}]" if at else "")] = pattern
    return found


def within(value: object) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, tuple | list):
        for item in value:
            yield from within(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from within(item)


class TooSlowError(Exception):
    pass


@pytest.fixture
def guarded() -> Iterator[None]:
    """End a search that hangs; the regular expression engine looks for signals as it goes."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise TooSlowError

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(SECONDS)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


PATTERNS = patterns()


def test_patterns_are_found() -> None:
    assert "kaijuan.ingest.detect._HTML_START" in PATTERNS
    assert "kaijuan.core.text.sentences._END" in PATTERNS
    assert len(PATTERNS) > 50


@pytest.mark.usefixtures("guarded")
@pytest.mark.parametrize("name", sorted(PATTERNS))
def test_no_pattern_hangs(name: str) -> None:
    pattern = PATTERNS[name]
    for before in BEFORE:
        for repeated in REPEATED:
            for after in AFTER:
                text: Any = before + repeated * (SIZE // len(repeated)) + after
                text = text.encode() if isinstance(pattern.pattern, bytes) else text
                pattern.match(text)
                pattern.fullmatch(text)


@pytest.mark.usefixtures("guarded")
@pytest.mark.parametrize("name", ["a.md", "a.txt", "a.html"])
def test_many_comments_before_no_page(name: str) -> None:
    kind = kind_of(b"<!-- a -->\n" * 300 + b"hello <b>x</b> world\n", name)
    assert kind == {"a.md": "markdown", "a.txt": "text", "a.html": "html"}[name]
    assert kind_of(b"<?xml version='1.0'?>\n" + b"<!-- a -->\n\n" * 300 + b"<html>x", name) == "html"
