"""How likely a chunk speaks to the question, by the raw scores of the routes, those too that did not list it."""

from __future__ import annotations

from kaijuan.core.ids import ChunkId
from kaijuan.index.ports import Hit
from kaijuan.retrieve.ports import Query
from kaijuan.retrieve.relevance import FITS, UNKNOWN, floors, relevance
from kaijuan.retrieve.results import RouteScore

FIT = FITS["multilingual-e5-small"]
QUERY = Query(text="q", normalised="q", terms=("q",), weights={1: 1.0})
A, B = ChunkId("a" * 32), ChunkId("b" * 32)
WORDS = {"lexical": RouteScore(1, 4.0)}


def test_what_only_words_found_has_the_floor_of_the_other_languages_where_its_own_is_empty() -> None:
    lowest = floors({"dense": [], "dense_zh": [Hit(A, 0.84), Hit(B, 0.8)], "lexical": [Hit(A, 4.0)]})
    found = relevance(QUERY, WORDS, lowest, FIT)
    assert found == relevance(QUERY, {**WORDS, "dense_zh": RouteScore(9, 0.8)}, lowest, FIT)
    assert found > 0.1


def test_the_floor_of_the_own_language_counts_where_there_is_one() -> None:
    lowest = floors({"dense": [Hit(A, 0.75)], "dense_zh": [Hit(B, 0.8)]})
    assert relevance(QUERY, WORDS, lowest, FIT) == relevance(QUERY, WORDS, {"dense": 0.75}, FIT)


def test_without_any_list_of_vectors_the_words_alone_do_not_make_it_likely() -> None:
    assert relevance(QUERY, WORDS, {}, FIT) < 0.01


def test_nothing_is_said_for_a_model_without_a_fit() -> None:
    assert relevance(QUERY, WORDS, {}, None) == UNKNOWN
