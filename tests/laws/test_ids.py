"""Laws of ids: the same content gives the same id everywhere, and different content another one."""

from __future__ import annotations

import subprocess
import sys

from hypothesis import given, settings
from hypothesis import strategies as st

from kaijuan.core.ids import (
    ID_LENGTH,
    DocumentId,
    KbId,
    block_id,
    chunk_id,
    content_hash,
    document_id,
    piece_id,
    piece_of,
    stable_id,
    version_id,
)

parts = st.lists(st.text(max_size=6) | st.integers(), max_size=4)


@given(st.sampled_from(["document", "chunk"]), parts)
@settings(deadline=None)
def test_an_id_is_made_of_its_parts_alone(kind: str, given_parts: list[str | int]) -> None:
    made = stable_id(kind, *given_parts)
    assert made == stable_id(kind, *given_parts)
    assert len(made) == ID_LENGTH
    assert set(made) <= set("0123456789abcdef")


@given(parts, parts)
@settings(deadline=None)
def test_other_parts_give_another_id(left: list[str | int], right: list[str | int]) -> None:
    same = [str(part) for part in left] == [str(part) for part in right]
    assert (stable_id("chunk", *left) == stable_id("chunk", *right)) is same


@given(st.text(max_size=8), st.integers(0, 8))
@settings(deadline=None)
def test_where_parts_are_cut_matters(text: str, at: int) -> None:
    left, right = text[:at], text[at:]
    if right:
        assert stable_id("chunk", left, right) != stable_id("chunk", text, "")


def test_kinds_do_not_share_ids() -> None:
    assert stable_id("chunk", "a", 1) != stable_id("block", "a", 1)


def test_ids_are_the_same_in_every_process_and_version() -> None:
    # Written down once: a change here would orphan every stored document.
    document = document_id(KbId("default"), "file:///手册.md")
    version = version_id(document, 1, content_hash(b"text"), "fingerprint")
    piece = piece_id(document, "child", "请假流程")
    made = [document, version, block_id(version, 0, 0, 5), piece, chunk_id(piece, 31)]
    assert made == WRITTEN
    program = "from kaijuan.core.ids import KbId, document_id; print(document_id(KbId('default'), 'file:///\\u624b\\u518c.md'))"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == document


def test_coming_back_to_an_earlier_content_is_a_new_version() -> None:
    document = DocumentId("d")
    first, third = (version_id(document, number, "same", "f") for number in (1, 3))
    assert first != third


@given(st.text(max_size=20), st.text(max_size=20), st.integers(1, 2**32 - 1), st.integers(1, 2**32 - 1))
@settings(deadline=None)
def test_a_piece_has_its_id_by_its_words_and_a_chunk_by_piece_and_version(
    words: str, others: str, number: int, later: int
) -> None:
    document = DocumentId("d")
    piece, other = piece_id(document, "child", words), piece_id(document, "child", others)
    assert (piece == other) is (words == others)
    assert piece_of(chunk_id(piece, number)) == piece
    assert (chunk_id(piece, number) == chunk_id(piece, later)) is (number == later)
    assert len(chunk_id(piece, number)) == ID_LENGTH


def test_equal_text_in_two_places_is_two_pieces() -> None:
    document = DocumentId("d")
    made = [piece_id(document, level, "x", nth) for level in ("child", "parent") for nth in (0, 1)]
    assert len({*made, piece_id(DocumentId("e"), "child", "x"), piece_id(document, "child", "x", said="?")}) == 6


WRITTEN = [
    "901cb188996737a1cd77e7830f53e32e",
    "f020d66462792aaf4f6a3553c89f4ee1",
    "0891bb4a01967a941cac68031fcbeb2d",
    "4c0191a24daad16a2ec00f9d",
    "4c0191a24daad16a2ec00f9d0000001f",
]
