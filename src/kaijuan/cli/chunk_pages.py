"""The pages that `chunks report` and `chunks preview` write. Documents are untrusted: nothing in a page runs."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence

from kaijuan.cli import screen
from kaijuan.ingest.chunkers.preview import Comparison, Row, Trial
from kaijuan.ingest.ports import ChunkDraft
from kaijuan.ingest.reading import Reading
from kaijuan.jobs.chunk_report import BUCKET, TINY, ChunkReport

_HEAD = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width"><title>{title}</title><style>
body {{ font: 15px/1.5 system-ui, "Noto Sans CJK SC", sans-serif; margin: 1rem; color: #222; background: #fafafa }}
table {{ border-collapse: collapse; width: 100%; table-layout: fixed; background: #fff }}
table.facts {{ width: auto; table-layout: auto }}
td, th {{ border: 1px solid #ddd; padding: .3rem .5rem; vertical-align: top; text-align: left }}
td, th {{ overflow-wrap: anywhere }}
th {{ background: #f0f0f0 }} .sides th {{ position: sticky; top: 0 }} .note {{ color: #777; font-size: 12px }}
.chunk {{ white-space: pre-wrap; border-left: 4px solid #69c; padding-left: .6rem; margin: .2rem 0 .6rem }}
.chunk:nth-child(even) {{ border-color: #c85 }} .failed {{ color: #b00 }}
.bar {{ background: #69c; height: 1em; display: inline-block; vertical-align: middle }}
</style></head><body>
"""


def report(found: ChunkReport) -> str:
    """Return the page of a report."""
    return "".join([_HEAD.format(title="Chunks"), *_report(found), "</body></html>\n"])


def _report(found: ChunkReport) -> Iterator[str]:
    yield f"<h1>{found.children} chunks of {found.documents} documents, snapshot {found.snapshot}</h1>\n"
    facts = [
        ("parents", str(found.parents)),
        ("strategies", ", ".join(f"{name} {number}" for name, number in found.strategies.items())),
        ("tokens", f"{found.shortest} to {found.longest}, median {found.median_tokens:g}"),
        (f"below {TINY} tokens", str(found.tiny)),
        ("cut structures", str(found.cut_count)),
        ("chunks that end within a sentence", str(found.parted_sentences)),
        ("duplicates", str(found.duplicate_count)),
        ("coverage", f"{found.coverage:.4%}"),
        *(("by hand", f"{word.removeprefix('manual_')} {number}") for word, number in found.manual.items()),
    ]
    yield _table([], facts, kind="facts")
    yield "<h2>Lengths in tokens</h2>\n<table class=facts>"
    most = max(found.lengths.values(), default=1)
    first, last = min(found.lengths, default=0), max(found.lengths, default=-1)
    for low in range(first, last + 1, BUCKET):
        number = found.lengths.get(low, 0)
        bar = f'<span class=bar style="width:{30 * number / most:.2f}em"></span>'
        yield f"<tr><td>{low} – {low + BUCKET - 1}</td><td>{bar} {number}</td></tr>"
    yield "</table>\n"
    yield from _lists(found)


def _lists(found: ChunkReport) -> Iterator[str]:
    cut = [(each.kind.value, str(each.pieces), _place(each.source), each.excerpt) for each in found.cut]
    twins = [
        (str(each.count), each.excerpt, ", ".join(map(_place, each.sources)), ", ".join(each.chunks))
        for each in found.duplicates
    ]
    outliers = [(_place(each.source), str(each.children), each.why) for each in found.outliers]
    lost = [(_place(source), said) for source, said in found.lost]
    stale = [
        (f"{each.kind} {each.id[:8]}", each.by, _place(each.source), each.why, each.excerpt) for each in found.stale
    ]
    lists: list[tuple[str, list[str], Sequence[Sequence[str]]]] = [
        ("Cut structures", ["kind", "chunks", "document", "beginning"], cut),
        ("Duplicates", ["times", "beginning", "documents", "chunks"], twins),
        ("Outliers", ["document", "chunks", "why"], outliers),
        ("Work by hand that has to be looked at", ["work", "by", "document", "why", "passage"], stale),
        ("In no chunk", ["document", "text"], lost),
        ("Cannot be read", ["document"], [(_place(source),) for source in found.unreadable]),
    ]
    for title, heads, rows in lists:
        if rows:
            yield f"<h2>{title}</h2>\n{_table(heads, rows)}"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]], *, kind: str = "") -> str:
    head = f"<tr>{''.join(f'<th>{_safe(each)}</th>' for each in heads)}</tr>" if heads else ""
    body = "".join(f"<tr>{''.join(f'<td>{_safe(cell)}</td>' for cell in row)}</tr>\n" for row in rows)
    return f'<table class="{kind}">{head}{body}</table>\n'


def preview(readings: Sequence[Reading], compared: Sequence[Comparison | None]) -> str:
    """Return the page that shows documents under several strategies, side by side."""
    title = _safe(_place(readings[0].source)) if readings else ""
    parts = [_HEAD.format(title=title)]
    for reading, one in zip(readings, compared, strict=True):
        parts.append(f"<h1>{_safe(_place(reading.source))}</h1>\n")
        if one is None or reading.document is None:
            parts.append(f'<p class="failed">{_safe(f"{reading.code}: {reading.message} {reading.hint}")}</p>\n')
        else:
            parts.extend(_sides(one, reading.document.text))
    return "".join([*parts, "</body></html>\n"])


def _sides(one: Comparison, text: str) -> Iterator[str]:
    yield f"<p>Looks like {_safe(one.shape)}; the settings choose {_safe(one.chosen)}.</p>\n"
    yield f"<table class=sides><tr>{''.join(f'<th>{_head(trial)}</th>' for trial in one.trials)}</tr>\n"
    for row in one.rows():
        yield f"<tr>{''.join(_cell(row, at, text) for at in range(len(one.trials)))}</tr>\n"
    yield "</table>\n"


def _head(trial: Trial) -> str:
    found = trial.quality
    said = (
        f"{screen.count(len(found.tokens), 'chunk')}, {screen.count(found.parents, 'parent')}, "
        f"{min(found.tokens, default=0)} to {max(found.tokens, default=0)} tokens, {len(found.cut)} cut structures, "
        f"{found.parted_sentences} cut sentences, coverage {found.coverage:.2%}"
    )
    return f'{_safe(trial.strategy)}<div class="note">{_safe(said)}</div>'


def _cell(row: Row, at: int, text: str) -> str:
    return f"<td>{''.join(_chunk(draft, text) for draft in row.children[at])}</td>"


def _chunk(draft: ChunkDraft, text: str) -> str:
    note = " · ".join((f"{draft.tokens} tokens", *draft.title_path))
    return f'<div class="chunk"><div class="note">{_safe(note)}</div>{_safe(draft.span.of(text))}</div>'


def _place(source: str) -> str:
    return screen.place(source)


def _safe(text: str) -> str:
    """Return text that can stand anywhere in the page: no tag, no end of an attribute, no control character."""
    shown = "".join(char if char in "\n\t" or char >= " " else "\ufffd" for char in text)
    return html.escape(shown.encode("utf-8", "replace").decode(), quote=True)
