"""What `kaijuan --json` prints, in brief, by command. A test compares the outermost names with real output."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any, get_args, get_type_hints

from kaijuan.engine import Kaijuan


def _fields(kind: Any) -> str:
    """Return the fields of what a verb returns as JSON has them."""
    kind = next((part for part in get_args(kind) if is_dataclass(part)), kind)
    hints = get_type_hints(kind)
    return ", ".join(f'"{each.name}"{_inner(hints[each.name])}' for each in fields(kind))


def _inner(kind: Any) -> str:
    """Return what stands in a field that has fields of its own, "" for a simple one."""
    if is_dataclass(kind):
        return f": {{{_fields(kind)}}}"
    parts = [part for part in get_args(kind) if is_dataclass(part)]
    if not parts:
        return ""
    return f": [{{{_fields(parts[0])}}}]" if type(None) not in get_args(kind) else f": {{{_fields(parts[0])}}} or null"


def _of(verb: str) -> str:
    """Return the shape of what a verb returns: what `--json` prints where nothing is added or left out."""
    return f"{{{_wrapped(_fields(get_type_hints(getattr(Kaijuan, verb))['return']))}}}"


def _list(name: str, verb: str) -> str:
    return f'{{"{name}": [{_of(verb)}]}}'


def _wrapped(text: str) -> str:
    """Break a line between fields where it gets long."""
    lines, line = [], ""
    for piece in text.split(", "):
        if line and len(line) + len(piece) > 108:
            lines.append(line + ",")
            line = " " + piece
        else:
            line = f"{line}, {piece}" if line else piece
    return "\n".join([*lines, line])


ANSWER = """{"question", "status", "answer",
 "sentences": [{"text", "citations": [id], "support": 0 to 1 or null, "faults"}],
 "citations": [
  {"id", "ref", "document_id", "version_id", "chunk_id", "block_id", "source", "path", "title", "title_path", "pages",
   "boxes", "span", "quote", "content_hash"}],
 "notes": [sentence], "remarks": [a note as data], "missing_parts",
 "structured": null or {"status", "data", "fault"}, "clarification", "rounds", "confidence", "cache",
 "snapshot", "model", "fallback", "usage": {"calls", "prompt_tokens", "completion_tokens", "cost", "estimated"},
 "trace_id", "timings_ms"}"""
RUN = """{"run_id", "snapshot", "added", "updated", "unchanged", "removed",
 "failed": [{"source", "path", "code", "message"}], "held": [{"source", "path", "review", "reasons"}], "rejected",
 "removed_sources": [source], "moved": [{"before", "after"}], "snapshots": [numbers published on the way], "salvaged",
 "documents", "chunks", "seconds"}"""
REVIEW = """{"id", "source", "path", "title", "state": "pending" | "approved" | "rejected" | "superseded",
 "content_hash", "created_at", "reasons": [{"detector", "said", "excerpt", "place", "page", "count"}],
 "history": [{"state", "at", "by", "note"}]}"""
STATUS = """{"kb", "head", "documents", "chunks", "points", "space", "model", "dimensions", "published_at",
 "unfinished_runs": [{"id", "kb_id", "kind", "target", "state", "started_at", "finished_at", "reason"}],
 "recent_runs": [...]"""
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

KEY = """{"id", "tenant", "user", "label", "scopes", "created_at", "bases", "expires_at", "revoked_at", "used_at"}"""
EVENTS = """{"events": [{"at", "tenant", "who", "action", "resource", "decision", "key", "snapshot", "request",
 "detail", "sequence", "previous", "hash"}]}"""
REMOVED = """{"run": as of `add`, or null, "proved", "probes": [{"name", "ok", "detail"}],
 "remains": [{"where", "until"}], "dropped": {"snapshots", "versions", "chunks"}, "blobs"}"""

SHAPES = {
    "add": RUN,
    "sync": f"""{{"runs": [{{"name", ...}}]}}, each run as

{RUN}""",
    "remove": f"""{RUN}

With --prove: {REMOVED}""",
    "search": """{"query", "snapshot",
 "passages": [
  {"rank", "score", "document_id", "version_id", "chunk_id", "source", "path", "title",
   "title_path", "text", "span": [start, end], "pages", "boxes": [{"page", "x0", "y0", "x1", "y1"}],
   "routes": {"dense": {"rank", "score"}, "lexical": {"rank", "score"}}, "also": [source],
   "evidence": probability or null, "band": "evidence" | "supporting" | "weak" | "", "validity"}],
 "understanding": {"kinds", "standalone", "anchors", "expansions": [{"span", "words", "by", "source"}],
  "filters": [{"field", "text", "said"}], "relaxed", "variants": [{"kind", "text"}],
  "clarification": {"question", "choices", "about"} or null, "steps": [{"name", "state"}], "routing", "usage"},
 "timings_ms"}""",
    "ask": f"""{ANSWER}

status is answered, partial (missing_parts say what is missing), refused (the documents do not say) or clarify (answer
asks); quote is exactly text[start:end] of that version; ref is a name for `kaijuan cite` that lasts; cache is hit,
similar, joined, miss or empty; fallback says why no model wrote the answer although one is configured.""",
    "chat": """{"session", "asked", all of `ask`}
--list: {"conversations": [{"name", "turns", "created_at", "updated_at"}]}
--show: {"name", "created_at", "updated_at", "summary", "facts",
 "turns": [{"number", "at", "question", "standalone", "status", "answer", "titles", "trace_id", "withheld"}]}""",
    "cite": """{"match": "exact" | ..., "standing", "version", "newest_version", "valid_from", "before", "after",
 "citation": as in `ask`}""",
    "explain": """{"question", "snapshot",
 "targets": [
  {"chunk_id", "version_id", "document_id", "source", "title", "title_path", "span", "text",
   "stages": [{"stage", "passed", "detail"}], "verdict", "path"}],
 "routes": [{"name", "state", "found", "milliseconds"}], "understanding": as in `search`, "timings_ms"}""",
    "suggest": """{"suggestions": [{"text", "kind": "question" | "title" | "heading", "source"}]}""",
    "list": f"""{{"documents": [
  {VERSION}]}}""",
    "editions": """{"chains": [{"current": [document id], "editions": [as in `list`, and {"label", "effective_from",
    "effective_to", "standing": "in force" | "expired" | "not in force yet" | "superseded", "detail",
    "supersedes": [document id], "superseded_by": [document id]}]}]}""",
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
    "status": f'{STATUS},\n "health": {_of("health")}}}',
    "rebuild": f"{STATUS}}}",
    "optimise": f"{STATUS}}}",
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
    "boilerplate list": """{"boilerplate": [{"id", "text", "state": "lowered" | "kept", "documents", "total", "reason",
 "sources", "since": snapshot, "created_at", "history": [{"state", "at", "by", "note"}]}]}""",
    "boilerplate keep": """{"kept"}""",
    "boilerplate lower": """{"lowered"}""",
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
    "watch": 'A line for each time that something was looked at: {"name", "why", "run": as of `add`} or an error.',
    "purge": REMOVED,
    "gc": _of("gc"),
    "export": _of("export"),
    "import": _of("import_archive"),
    "backup": _of("back_up"),
    "restore": _of("restore"),
    "serve": "Nothing: it runs until Ctrl-C and logs to standard error.",
    "mcp": "Standard output speaks the Model Context Protocol (JSON-RPC); there is no --json.",
    "snapshots list": _list("snapshots", "snapshots"),
    "snapshots diff": _of("diff"),
    "snapshots tag": _of("tag"),
    "snapshots untag": """{"untagged"}""",
    "snapshots rollback": RUN,
    "runs list": _list("runs", "run_views"),
    "runs show": f"""all of one line of `runs list`, and
 "items": [{_of("run_items")}]""",
    "runs cancel": "As one line of `runs list`.",
    "runs resume": RUN,
    "runs retry-failed": RUN,
    "queue add": _list("jobs", "enqueue"),
    "queue list": _list("jobs", "jobs"),
    "queue work": """{"job": all of one of `queue list`, "report": all of `add` or null,
 "error", "again_at": time or null}
after each job, on a line of its own.""",
    "queue retry": _list("jobs", "jobs"),
    "queue drop": "As one of `queue list`.",
    "trace list": """{"traces": [{"id", "at", "question", "status", "model", "fallback", "snapshot", "calls": how many,
 "usage", "milliseconds"}]}""",
    "trace show": "As one line of `trace list`, with all that was kept of the request; calls are the prompts as sent.",
    "trace replay": """{"same", "reason", "trace_id", all of `ask`}""",
    "models list": _list("models", "models"),
    "models add": _of("add_model"),
    "models compare": _of("compare_models"),
    "models canary": _of("try_model"),
    "models trials": _list("trials", "model_trials"),
    "models switch": _of("switch_model"),
    "models rollback": _of("roll_back_model"),
    "models retire": """{"retired"}""",
    "chunks contexts": """{"plan": {"model", "documents", "passages", "known", "requests", "prompt_tokens",
 "completion_tokens", "cost", "unpublished": [source]},
 "done": {"written", "failed", "why", "prompt_tokens", "completion_tokens", "cost", "snapshot", "updated"} or null}""",
    "keys create": KEY.replace("}", ', "key": shown this once}'),
    "keys list": f"""{{"keys": [{KEY}]}}""",
    "keys revoke": """{"revoked"}""",
    "access list": """{"bindings": [{"on", "who", "role"}]}""",
    "access grant": """{"documents": [those concerned]}""",
    "access revoke": """{"documents": [those concerned]}""",
    "access inherit": """{"documents": [those concerned]}""",
    "access users": _list("users", "users"),
    "access user": _of("put_user"),
    "access join": _list("users", "users"),
    "access leave": _list("users", "users"),
    "audit list": EVENTS,
    "audit export": f"Without --json a line each: {EVENTS}",
    "audit verify": """{"ok", "lines", "broken_at", "last"}""",
}
"""What `--json` prints, in brief. A test compares the outermost names with real output."""
