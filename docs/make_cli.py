"""Write docs/cli.md from the command itself. With --check, only say whether it is fresh."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from kaijuan.cli.app import app

PAGE = Path(__file__).parent / "cli.md"

HEAD = """# The command `kaijuan`

Generated from the command by `make docs`.

## Output and exit codes

Without `--json`, results are laid out for people, in colour on a terminal (not with `NO_COLOR`). Times are local.
With `--json`, before or after the command's name, standard output holds exactly one JSON document in UTF-8, on one
line; progress, notes and logs go to standard error. Fields may be added to a document, never renamed or removed.
Help is always text: `--help` wins over `--json`.
Spans are `[start, end)` in characters of the version's text, pages count from 1, boxes are in points from the top left
corner of the page, times are seconds since 1970 (UTC). `source` is the address by which a document is known,
percent-encoded; `path` is the same as a path that can be opened, or null where the source is no file.

| exit code | meaning |
|---|---|
| 0 | good; also when `ask` refuses because the documents do not say |
| 1 | an error, or `doctor` found something wrong |
| 2 | wrong use: the command line, a filter, a time or a setting cannot be read |
| 3 | a run finished and published, but some items failed or are held for review; also when a file or text of `chunks` \
cannot be read, or the judge of `eval answers` failed on some |
| 4 | `eval gate` found that sets score worse than before |
| 130 | stopped with Ctrl-C; what the run had staged is undone |
| 141 | the reader of the output went away |

Every failure with exit code 1 or 2 is, with `--json`, this document (codes: [errors](errors.md)):

```json
{"error": {"code": "busy", "message": "...", "hint": "...", "retry": true}}
```
"""

RUN = """{"run_id", "snapshot", "added", "updated", "unchanged", "removed",
 "failed": [{"source", "path", "code", "message"}], "held": [{"source", "path", "review", "reasons"}], "rejected",
 "documents", "chunks", "seconds"}"""
REVIEW = """{"id", "source", "path", "title", "state": "pending" | "approved" | "rejected" | "superseded",
 "content_hash", "created_at", "reasons": [{"detector", "said", "excerpt", "place", "page", "count"}],
 "history": [{"state", "at", "by", "note"}]}"""
STATUS = """{"kb", "head", "documents", "chunks", "points", "space", "model", "dimensions", "published_at",
 "unfinished_runs": [{"id", "kb_id", "kind", "target", "state", "started_at", "finished_at", "reason"}],
 "recent_runs": [...]}"""
TERM = """{"id", "term", "synonyms", "state": "live" | "removed",
 "history": [{"state", "at", "synonyms", "by", "note"}]}"""
VERSION = """{"document_id", "version_id", "number", "source", "path", "title", "kind", "language", "pages",
   "metadata", "warnings", "content_hash", "created_at", "valid_from", "valid_to"}"""

WORK = """{"work": [{"id", "document_id", "kind": "split" | "merge" | "edit" | "exclude" | "alias" | "strategy",
 "span", "quote", "cuts": [characters into the quote], "said": the text, question or strategy, "by", "note", "at",
 "valid_from", "valid_to", "ended_by", "ended_at", "state": "applied" | "stale" | "gone" | "ended", "why", "source",
 "path", "title"}]}"""
WORKED = """{"snapshot", "version": as in `list`, "work": [put in force], "ended": [undone],
 "chunks": [those that stand there now, each as in `chunks list`]}

work and ended are as in `chunks history`, without state, why, source, path and title."""
WORK_COMMANDS = ("split", "merge", "edit", "exclude", "alias", "restore", "strategy")

SHAPES = {
    "add": RUN,
    "sync": f"""{{"runs": [{{"name", ...}}]}}, each run as

{RUN}""",
    "remove": RUN,
    "search": """{"query", "snapshot",
 "passages": [
  {"rank", "score", "document_id", "version_id", "chunk_id", "source", "path", "title",
   "title_path", "text", "span": [start, end], "pages", "boxes": [{"page", "x0", "y0", "x1", "y1"}],
   "routes": {"dense": {"rank", "score"}, "lexical": {"rank", "score"}}, "also": [source]}],
 "understanding": {"kinds", "standalone", "anchors", "expansions": [{"span", "words", "by", "source"}],
  "filters": [{"field", "text", "said"}], "relaxed", "variants": [{"kind", "text"}],
  "clarification": {"question", "choices", "about"} or null, "steps": [{"name", "state"}]},
 "timings_ms"}""",
    "ask": """{"question", "status", "answer",
 "sentences": [{"text", "citations": [id]}],
 "citations": [
  {"id", "document_id", "version_id", "chunk_id", "source", "path", "title", "title_path", "pages", "boxes",
   "span", "quote"}],
 "notes", "snapshot", "model", "trace_id", "timings_ms"}

status is answered, partial (notes say what is missing), refused (the documents do not say) or clarify (answer asks);
quote is exactly text[start:end] of that version.""",
    "explain": """{"question", "snapshot",
 "targets": [
  {"chunk_id", "version_id", "document_id", "source", "title", "title_path", "span", "text",
   "stages": [{"stage", "passed", "detail"}], "verdict", "path"}],
 "routes": [{"name", "state", "found", "milliseconds"}], "timings_ms"}""",
    "suggest": """{"suggestions": [{"text", "kind": "question" | "title" | "heading", "source"}]}""",
    "list": f"""{{"documents": [
  {VERSION}]}}""",
    "show": """{"version": as in `list`, "text",
 "blocks": [{"id", "kind", "level", "span", "title_path", "pages", "place", "syntax"}],
 "chunks": [{"id", "level": "child" | "parent", "span", "parent_id", "title_path", "tokens", "mark"}],
 "history": [as in `list`]}""",
    "parse": """{"status": "ok" | "partial" | "failed", "kind", "title", "pages", "page_sizes", "unread_pages",
 "language", "metadata", "blocks": [{"id", "kind", "level", "text", "span", "title_path", "place", "pages", "boxes",
  "syntax", "confidence", "table" (of tables): {"rows", "columns", "hidden_rows", "hidden_columns",
   "cells": [{"row", "column", "rows", "columns", "header", "span", "text"}]}}], "warnings", "seconds", "peak_mb"}
failed: {"status", "kind", "error": {"code", "message", "hint", "retry"}, "seconds", "peak_mb"}
a file with several documents: {"status", "source", "members": [{"source", as above}]}""",
    "status": STATUS,
    "rebuild": STATUS,
    "snapshots": """{"snapshots": [{"number", "created_at", "run_id", "documents", "chunks"}]}""",
    "doctor": """{"ok", "checks": [{"name", "ok", "detail", "hint"}]}""",
    "demo": """{"run": as of `add`, "answers": [as of `ask`]}""",
    "version": """{"version", "python"}""",
    "chunks list": f"""{{"version": as in `list`,
 "chunks": [{{"id", "level": "child" | "parent" | "document" | "excluded", "span", "parent_id", "title_path", "tokens",
  "strategy", "origin", "search_text", "context", "text"}}]}}
with --manual: {WORK}""",
    "chunks show": """{"version": as in `list`, "chunk", "parent": each as in `chunks list`, "neighbours",
 "children": [id], "pages", "references": [article or section that the text refers to]}""",
    "chunks report": """{"snapshot", "documents", "children", "parents", "strategies": {name: children},
 "lengths": {lower edge of 32 tokens: children}, "median_tokens", "shortest", "longest", "tiny", "cut_count",
 "cut": [{"source", "kind", "span", "pieces", "excerpt"}], "parted_sentences", "duplicate_count",
 "duplicates": [{"excerpt", "count", "chunks", "sources"}],
 "outliers": [{"source", "children", "mean_tokens", "why"}], "coverage", "lost": [[source, text]], "unreadable",
 "manual": {origin: chunks}, "stale": [{"id", "source", "kind", "by", "why", "excerpt"}]}""",
    "chunks preview": """{"documents": [{"source", "kind", "shape", "chosen",
 "trials": [{"strategy", "quality": {"children", "parents", "tokens": [number], "cut": [{"kind", "span", "pieces"}],
   "parted_sentences", "repeated_characters", "coverage"},
  "chunks": [{"level", "span", "parent": place in this list, "title_path", "tokens", "text"}]}]}
 or {"source", "error"}]}""",
    **dict.fromkeys([f"chunks {word}" for word in WORK_COMMANDS], WORKED),
    "chunks history": WORK,
    "review list": f"""{{"reviews": [
{REVIEW}]}}""",
    "review show": REVIEW,
    "review approve": RUN,
    "review reject": """{"rejected", "removed": [source]}""",
    "duplicates list": """{"duplicates": [{"id", "source", "path", "other", "other_path",
 "kind": "exact" | "near" | "revision", "state": "merged" | "kept", "similarity", "reason", "document_id", "version_id",
 "other_document_id", "other_version_id", "created_at", "history": [{"state", "at", "by", "note"}]}]}""",
    "duplicates keep": """{"kept"}""",
    "duplicates merge": """{"merged"}""",
    "glossary list": f"""{{"terms": [
{TERM}]}}""",
    "glossary add": TERM,
    "glossary remove": """{"left": as in `glossary list`, or null}""",
    "glossary import": """{"imported"}""",
    "glossary export": """{"csv"}""",
    "eval retrieval": """{"set", "documents", "chunks", "queries",
 "metrics": {"ndcg@10", "recall@5", "recall@10", "recall@50", "mrr@10", "hit@1", "hit@5", "precision@5", "map"},
 "stages": {"dense", "lexical", "fused", "final": each as `metrics`}, "by_kind": {kind: {"queries", ...metrics}},
 "latency_ms": {"p50", "p95", "p99"}, "config": {"k", "limit", "seed", "embedder", ...settings},
 "ingest": {"reused", "seconds"}, "resumed", "fingerprint", "problems": [sentence]}

metrics and by_kind are of the stage final, what a reader is given. With several --data: {"sets": [these]}.""",
    "eval answers": """{"set", "documents", "chunks", "questions", "failed": {error code: count},
 "metrics": {"questions", "compared", "short", "judged",
  "answered", "exact", "f1", "recall", "hit", "given", "hit_answered", "telling", "right",
  "citation_recall", "citation_precision", "cited_relevant", "relevant_cited", "faithful", "verbatim",
  "quotes_exact", "statements", "quotes"},
 "by_kind": {kind: {"label", ...metrics}},
 "refusal": {"table": {expected: {status: count}}, "answerable_answered", "unanswerable_refused",
  "balanced_accuracy", "right_all_the_same", "unjudged", "confidence_auroc", "risk_area",
  "curve": [{"threshold", "coverage", "risk", "answerable_kept", "unanswerable_refused"}]},
 "conflicts": {kind: {"questions", "right", "incomplete", "named", "blended", "misled", "other", "refused", "notes"}},
 "judge": {"name", "answers": {grade: count}, "citations": {grade: count}, "failed", "failures": {word: count},
  "failure_examples", "beside_rules": {"both", "same", "kinder", "stricter"}},
 "latency_ms": {"p50", "p95", "p99"}, "config", "ingest": {"reused", "seconds"}, "resumed", "fingerprint",
 "problems": [sentence]}

Shares lie between 0 and 1 and are null where nothing was measured. With several --data: {"sets": [these]}.""",
    "eval experiment": """{"experiment", "metric", "stage", "seed", "sets",
 "variants": [{"name", "changes": {setting: value},
   "sets": {set: {"questions", "baseline", "variant", "effect", "low", "high", "p", "wins", "losses", "ties", "p_holm",
    "verdict"}}, "pooled": the same}],
 "results"}

effect is variant less baseline, low and high its 95 % interval, p of the paired randomisation test, p_holm corrected
for the number of variants; verdict is better, worse or no significant difference, at 0.05.""",
    "eval ablate": "As of `eval experiment`; a variant is the search without a stage, or with it done another way.",
    "eval tune": """{"name", "metric", "method", "trials": [{"number", "values": {setting: value}, "score", "reason"}],
 "baseline_dev", "best": as in `trials`, or null, "held_out": as one of `variants` of `eval experiment`, or null,
 "gained", "dev_questions", "test_questions", "results"}

score is null, with a reason, where the settings do not go together; best is null where no trial beat the settings as
they are.""",
    "eval gate": """{"passed", "failed": [set], "metric", "drop", "alpha",
 "sets": {set: as in `eval experiment`}, "pooled": the same, "changes": {setting: [then, now]},
 "baseline": {"date", "commit"}}

With --write: {"written", "stage", "sets": {set: {metric: mean}}}.""",
    "eval report": """{"report", "experiment", "runs"}""",
    "eval make": """{"folder", "unchanged", "format", "version", "made_at", "base": {"kb", "snapshot", "documents"},
 "made_with": {"kaijuan", "rules", "embedder", "model"},
 "asked_for": {"kinds", "count", "languages", "seed", "shares": {"train", "dev", "test"}},
 "questions", "splits": {split: {kind: count}}, "kept", "added", "retired", "left_out": {kind: {check: drafts}},
 "model_use": {"calls", "prompt_tokens", "completion_tokens", "failures": {word: count}, "turned_down"}}

model and model_use with --model only. With --estimate: {"model", "questions", "calls", "prompt_tokens",
"completion_tokens"}.""",
    "eval review": """{"questions": [{"id", "kind", "split", "language", "question", "answers",
  "evidence": [{"document", "source", "version_id", "version", "start", "end", "quote"}],
  "how", "since", "as_of", "also", "extra", "status",
  "reviews": [{"at", "by", "item", "action", "note", "question", "answers"}]}],
 "found", "hidden"}

list has found (how many fit) and hidden (of the test split); the others have the reviews of each question.""",
    "eval export": """{"written", "format", "questions"}""",
    "eval bases": """{"bases": [{"name", "path", "bytes", "corpus", "documents", "chunks", "finished"}],
 "deleted", "bytes_freed"}""",
}
"""What `--json` prints, in brief. A test compares the outermost names with real output."""


def page() -> str:
    """Return the whole page."""
    command = typer.main.get_command(app)
    parts = [HEAD, "## Global options\n\nBefore the command's name.\n", _options(command.params)]
    for name, each in commands(command):
        parts.extend(_command(name, each))
    return "\n".join(parts)


def commands(group: Any, before: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every command with its whole name, those of groups within too ("eval retrieval")."""
    for name, each in group.commands.items():
        if hasattr(each, "commands"):
            yield from commands(each, f"{before}{name} ")
        else:
            yield f"{before}{name}", each


def _command(name: str, command: Any) -> Iterator[str]:
    arguments = [parameter for parameter in command.params if parameter.param_type_name == "argument"]
    options = [parameter for parameter in command.params if parameter.param_type_name == "option"]
    words = " ".join(["kaijuan", name, *(_metavar(argument) for argument in arguments), "[OPTIONS]"])
    yield f"## `{name}`\n\n{command.help}\n\n```text\n{words}\n```\n"
    if arguments:
        yield "\n".join(f"- `{_metavar(argument)}`: {argument.help}" for argument in arguments) + "\n"
    yield _options(options)
    yield f"With `--json`:\n\n```text\n{SHAPES[name]}\n```\n"


def _options(parameters: list[Any]) -> str:
    rows = ["| option | meaning |", "|---|---|"]
    for option in parameters:
        names = ", ".join(f"`{name}`" for name in option.opts)
        value = f" `{option.metavar}`" if option.metavar else ""
        more = [option.help]
        if option.envvar:
            more.append(f"Environment: `{option.envvar}`.")
        if option.metavar and option.show_default and option.default is not None:
            more.append(f"Default: `{option.default}`.")
        rows.append(f"| {names}{value} | {' '.join(more)} |".replace("SNAPSHOT|TIME", "SNAPSHOT\\|TIME"))
    return "\n".join(rows) + "\n"


def _metavar(argument: Any) -> str:
    return str(argument.metavar or argument.name.upper()) + ("..." if argument.nargs == -1 else "")


def main() -> int:
    """Write or check the page; 1 when it is stale."""
    text = page()
    if "--check" not in sys.argv:
        PAGE.write_text(text, encoding="utf-8")
        return 0
    if PAGE.exists() and PAGE.read_text(encoding="utf-8") == text:
        return 0
    print("stale: cli.md; run `make docs`", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
