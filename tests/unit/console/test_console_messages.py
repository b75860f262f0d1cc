"""The console's words: the same keys and places in both languages, and a message for every key that the code names."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import kaijuan.server

CONSOLE = Path(kaijuan.server.__file__).parent / "console"
LINE = re.compile(r'^  "(?P<key>[^"]+)": (?P<text>".*"),$')
LITERAL = re.compile(r'\bt\(\s*"([^"]+)"')
CHOICE = re.compile(r'\bt\([^"()`]*\? "([^"]+)" : "([^"]+)"')


def _messages(language: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in (CONSOLE / "messages" / f"{language}.js").read_text(encoding="utf-8").splitlines():
        if match := LINE.match(line):
            assert match["key"] not in found, f"{match['key']} stands twice in {language}.js"
            found[match["key"]] = match["text"]
        else:
            assert not line.strip().startswith('"'), f"not one message a line: {line}"
    return found


def _places(text: str) -> set[str]:
    return set(re.findall(r"\{(\w+)", text))


def test_both_languages_have_the_same_messages_with_the_same_places() -> None:
    english, chinese = _messages("en"), _messages("zh")
    assert english.keys() == chinese.keys()
    unlike = [key for key in english if _places(english[key]) != _places(chinese[key])]
    assert unlike == []


def test_chinese_messages_are_chinese() -> None:
    latin_only = [key for key, text in _messages("zh").items() if not re.search(r"[\u4e00-\u9fff]", text)]
    # Numbers of things done; the comma between what changed.
    assert latin_only == ["run.of", "snapshots.joined"]


@pytest.mark.parametrize("path", sorted((CONSOLE / "js").rglob("*.js")), ids=lambda path: path.stem)
def test_every_key_that_the_code_names_has_a_message(path: Path) -> None:
    known = _messages("en")
    code = path.read_text(encoding="utf-8")
    named = [*LITERAL.findall(code), *(key for pair in CHOICE.findall(code) for key in pair)]
    assert [key for key in named if key not in known] == []


def test_nothing_in_the_console_reads_a_string_as_markup_or_code() -> None:
    forbidden = re.compile(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|https?://(?!www\.w3\.org/2000/svg)"
    )
    found = [
        f"{path.name}: {line.strip()[:80]}"
        for path in sorted((CONSOLE / "js").rglob("*.js"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if forbidden.search(line)
    ]
    # Where people may leave the scheme of a web address out.
    assert [line for line in found if not line.startswith("intake.js")] == []
