"""What the service says in English (codes, reasons, warnings, findings) has Chinese words in the console, all of it."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.unit.console.test_console_messages import CONSOLE, _messages

import kaijuan
from kaijuan import errors
from kaijuan.answer.notes import NoteKind
from kaijuan.index.catalog import ItemState
from kaijuan.ingest.gate import secrets
from kaijuan.ingest.gate.chinese import HIDDEN as CHINESE_HIDDEN
from kaijuan.ingest.gate.chinese import RULES as CHINESE
from kaijuan.ingest.gate.english import HIDDEN as ENGLISH_HIDDEN
from kaijuan.ingest.gate.english import RULES as ENGLISH
from kaijuan.ingest.gate.pipeline import DETECTORS
from kaijuan.jobs.doctor import CHECKS
from kaijuan.jobs.report import Stage
from kaijuan.server import problems
from kaijuan.server.tickets import TicketState

PACKAGE = Path(kaijuan.__file__).parent
LINE = re.compile(r'^  (?P<english>"(?:[^"\\]|\\.)+"): (?P<chinese>"(?:[^"\\]|\\.)+"),$', re.M)
PLACE = re.compile(r"\{(\w+)\}")
VALUE = "7"
"""What stands in a place of a sentence that is looked up."""


def _said() -> dict[str, str]:
    text = (CONSOLE / "messages" / "said_zh.js").read_text(encoding="utf-8")
    found = [(json.loads(match["english"]), json.loads(match["chinese"])) for match in LINE.finditer(text)]
    assert len(found) == text.count('": "'), "not one sentence a line"
    assert len(dict(found)) == len(found), "a sentence stands twice"
    return dict(found)


SAID = _said()
SHAPES = [re.compile("(.+?)".join(re.escape(part) for part in PLACE.split(english)[::2]), re.S) for english in SAID]


def _known(text: str) -> bool:
    return any(shape.fullmatch(text) for shape in SHAPES)


def _codes() -> set[str]:
    """Every code that a response or a report may hold."""
    codes = set(problems._CODES.values())
    kinds: list[type[errors.KaijuanError]] = [errors.KaijuanError]
    while kinds:
        kind = kinds.pop()
        codes.add(kind.code)
        kinds += kind.__subclasses__()
    for path in [*(PACKAGE / "server").rglob("*.py"), *(PACKAGE / "ingest").rglob("*.py")]:
        codes |= set(re.findall(r'\bcode="([a-z_]+)"', path.read_text(encoding="utf-8")))
    return {code for code in codes if code.isidentifier()}


def _sentences(node: ast.expr) -> list[str]:
    """The texts that an expression may be, with a value in every place; none where it is no literal."""
    match node:
        case ast.Constant(value=str(text)):
            found = [text]
        case ast.JoinedStr(values=parts):
            found = ["".join(str(part.value) if isinstance(part, ast.Constant) else VALUE for part in parts)]
        case ast.IfExp(body=body, orelse=orelse):
            found = _sentences(body) + _sentences(orelse)
        case ast.BoolOp(values=parts) | ast.Tuple(elts=parts) | ast.List(elts=parts):
            found = [text for part in parts for text in _sentences(part)]
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            found = [one + other for one in _sentences(left) for other in _sentences(right)]
        case _:
            found = []
    return [text for text in found if text]


def _tree(path: str) -> ast.Module:
    return ast.parse((PACKAGE / path).read_text(encoding="utf-8"))


def _keyword(paths: list[str], call: str, *names: str) -> Iterator[str]:
    for path in paths:
        for node in ast.walk(_tree(path)):
            if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] == call:
                for keyword in node.keywords:
                    if keyword.arg in names:
                        yield from _sentences(keyword.value)


def _warnings() -> Iterator[str]:
    """What parsers warn of: appended to or made as `warnings`, or yielded and returned by functions of that name."""
    for path in sorted((PACKAGE / "ingest").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Call(func=ast.Attribute(attr="append", value=holder), args=[said]):
                    if "warnings" in ast.unparse(holder):
                        yield from _sentences(said)
                case ast.Assign(targets=[target], value=value) if ast.unparse(target).endswith("warnings"):
                    yield from _sentences(value)
                    if isinstance(value, ast.ListComp):
                        yield from _sentences(value.elt)
                case ast.FunctionDef(name=name) if name.strip("_") in ("warnings", "guess"):
                    for inner in ast.walk(node):
                        if isinstance(inner, ast.Yield | ast.Return) and inner.value is not None:
                            parts = inner.value.elts[1:] if isinstance(inner.value, ast.Tuple) else [inner.value]
                            yield from (text for part in parts for text in _sentences(part) if " " in text)


def _first_of_tuples(path: str) -> Iterator[str]:
    """What stands first in the tuples that a module yields."""
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.Yield) and isinstance(node.value, ast.Tuple):
            yield from _sentences(node.value.elts[0])


def _findings() -> Iterator[str]:
    gate = [f"ingest/gate/{name}.py" for name in ("hidden", "instructions", "pipeline")]
    yield from _keyword(gate, "Finding", "said", "place")
    yield from _first_of_tuples("ingest/gate/invisible.py")
    yield from _first_of_tuples("ingest/gate/secrets.py")
    yield from (said for said, _, _ in secrets._TOKENS)
    for node in ast.walk(_tree("ingest/gate/personal.py")):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "_told":
            yield from _sentences(node.args[1])


def _fates() -> Iterator[str]:
    for node in ast.walk(_tree("retrieve/cut.py")):
        if isinstance(node, ast.Return) and isinstance(node.value, ast.JoinedStr):
            yield from _sentences(node.value)


TOLD = {
    "warning": list(_warnings()),
    "rule of the gate": [rule.said for rule in (*ENGLISH, *ENGLISH_HIDDEN, *CHINESE, *CHINESE_HIDDEN)],
    "finding of the gate": list(_findings()),
    "check of the doctor": list(_keyword(["jobs/doctor.py", "jobs/deep.py"], "Check", "detail", "hint")),
    "reason of a duplicate": list(_keyword(["ingest/dedupe/rules.py"], "Alike", "reason")),
    "stage of the search": list(_keyword(["retrieve/explain.py"], "StageVerdict", "detail")),
    "fate of a candidate": list(_fates()),
}


@pytest.mark.parametrize("kind", TOLD)
def test_every_sentence_of_the_service_has_chinese_words(kind: str) -> None:
    sentences = TOLD[kind]
    assert len(sentences) > 1, f"no {kind} was found: what this test looks at has moved"
    unknown = []
    for text in sentences:
        parts = re.split(r"; |, ", text)
        # A sentence may be several, each with words of its own, and what is only values needs none.
        if not _known(text) and not all(_known(part) or part == VALUE for part in parts):
            unknown.append(text)
    assert unknown == []


def test_every_code_has_words() -> None:
    codes = _codes()
    assert {"document_broken", "request_timeout", "timeout", "internal"} <= codes
    assert sorted(code for code in codes if f"error.{code}" not in _messages("zh")) == []


def test_every_note_state_and_stage_has_words() -> None:
    wanted = [
        *(f"note.{kind}" for kind in NoteKind if kind is not NoteKind.OTHER),
        *(f"itemState.{state}" for state in ItemState),
        *(f"runState.{state}" for state in TicketState),
        *(f"run.{stage}" for stage in Stage),
        *(f"detector.{name}" for name in DETECTORS),
        *(f"check.{name}" for name in CHECKS),
    ]
    assert [key for key in wanted if key not in _messages("zh")] == []


def test_sentences_keep_what_stands_in_them() -> None:
    # A part that only names a kind ("a {what}") may be left out in Chinese; nothing may come from nowhere.
    invented = {
        english: chinese
        for english, chinese in SAID.items()
        if not set(PLACE.findall(chinese)) <= set(PLACE.findall(english))
    }
    assert invented == {}
    lost = [
        english
        for english, chinese in SAID.items()
        if set(PLACE.findall(english)) - set(PLACE.findall(chinese)) - {"what", "role"}
    ]
    assert lost == []
    assert [chinese for chinese in SAID.values() if not re.search(r"[\u4e00-\u9fff]", chinese)] == []


def test_no_sentence_is_left_that_nobody_says() -> None:
    """A sentence that was changed at its source would stay English; here the fixed words of each are looked for."""
    code = "\n".join(path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py"))
    squeezed = re.sub(r'"\s*\n\s*f?r?"', "", code)
    gone = []
    for english in SAID:
        # A sentence may be put together from parts, as commas tell.
        pieces = [part.strip(" .:()`") for piece in PLACE.split(english)[::2] for part in re.split("[,;]", piece)]
        if not all(piece in squeezed for piece in pieces if len(piece) > 3):
            gone.append(english)
    assert gone == []
