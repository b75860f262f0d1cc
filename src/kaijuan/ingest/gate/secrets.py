"""Keys, tokens and passwords. Only forms that say by themselves what they are, and no placeholders of manuals."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kaijuan.core.reviews import Finding
from kaijuan.ingest.gate.matter import Matter

_SHOWN = 8
_TOKENS: tuple[tuple[str, str, re.Pattern[str]], ...] = (
    ("AWS access key", "A", re.compile(r"\b(?:AKIA|ASIA)[A-Z2-7]{16}\b")),
    ("GitHub token", "gh", re.compile(r"\bgh[pousr]_[A-Za-z0-9]{36}\b")),
    ("GitHub token", "github_pat_", re.compile(r"\bgithub_pat_[A-Za-z0-9_]{50,}")),
    ("GitLab token", "glpat-", re.compile(r"\bglpat-[A-Za-z0-9_-]{20,}")),
    (
        "OpenAI or like key",
        "sk-",
        re.compile(r"\bsk-(?:proj-|svcacct-|admin-|ant-(?:api\d\d-)?|or-v1-)?[A-Za-z0-9_-]{20,200}"),
    ),
    ("Slack token", "xox", re.compile(r"\bxox[abeprs]-[A-Za-z0-9-]{10,}")),
    (
        "Slack webhook",
        "hooks.slack.com",
        re.compile(r"hooks\.slack\.com/services/T[A-Z0-9]{6,}/B[A-Z0-9]{6,}/[A-Za-z0-9]{16,}"),
    ),
    ("Google API key", "AIza", re.compile(r"\bAIza[A-Za-z0-9_-]{35}\b")),
    ("Stripe key", "_live_", re.compile(r"\b[sr]k_live_[A-Za-z0-9]{16,}")),
    ("Hugging Face token", "hf_", re.compile(r"\bhf_[A-Za-z]{34}\b")),
    ("npm token", "npm_", re.compile(r"\bnpm_[A-Za-z0-9]{36}\b")),
    ("Alibaba Cloud key", "LTAI", re.compile(r"\bLTAI[A-Za-z0-9]{12,20}\b")),
    ("Tencent Cloud key", "AKID", re.compile(r"\bAKID[A-Za-z0-9]{32}\b")),
)
_PRIVATE_KEY = re.compile(
    r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,2}PRIVATE KEY(?: BLOCK)?-----\s{0,4}(?:[A-Z][\w-]*: ?[^\n]*\s+){0,4}"
    r"[A-Za-z0-9+/=\s]{64}"
)
_ADDRESS = re.compile(r"\b([a-z][a-z0-9+.-]{1,30})://([^\s:/@'\"<>]{1,64}):([^\s/@'\"<>]{4,128})@[\w.-]+")
_SETTING = re.compile(
    r"(?:\b(?:pwd|passwd|password|secret[_-]?(?:access[_-]?)?key|client[_-]?secret|access[_-]?token|api[_-]?key)"
    r"|密码|口令|密钥)\s{0,2}[=:：]\s{0,2}[\"']?([A-Za-z0-9!#$%&*+./=?@^_~-]{10,128})(?![A-Za-z0-9!#$%&*+/=?@^_~(-])",
    re.I,
)
_PLACEHOLDER = re.compile(
    r"example|sample|dummy|placeholder|redact|change[-_]?me|your[-_]|my[-_]|test|todo|pass(?:word|wd)?$|^secret|xxxx|\*\*\*|\.\.\.|"
    r"\.{3}|<|\{\{|\$[{(]|^\$|%s|0{6}|1234567|abcdef|env|process|config|getenv|(.)\1{5}",
    re.I,
)
_LEAST_KINDS = 3
"""Kinds of character (small, capital, digit, sign) from which a value is a password and not a word."""


def secrets(matter: Matter) -> Iterator[Finding]:
    """Find them; each kind once, with its number."""
    text = matter.text
    found: dict[str, list[tuple[int, int]]] = {}
    for said, start, end in _all(text):
        found.setdefault(said, []).append((start, end))
    for said, places in found.items():
        start, end = places[0]
        yield matter.finding("secrets", said, start, end, count=len(places), shown=masked(text[start:end]))


def _all(text: str) -> Iterator[tuple[str, int, int]]:
    for said, mark, pattern in _TOKENS:
        for match in pattern.finditer(text) if mark in text else ():
            if _looks_real(match.group(), 12) and any(letter.isdigit() for letter in match.group()):
                yield said, match.start(), match.end()
    for match in _PRIVATE_KEY.finditer(text) if "PRIVATE KEY" in text else ():
        yield "private key", match.start(), match.end()
    yield from _passwords(text)


def _passwords(text: str) -> Iterator[tuple[str, int, int]]:
    for match in _ADDRESS.finditer(text) if "://" in text else ():
        if _looks_real(match[3], 6) and not _is_word(match[3]):
            yield "password in an address", match.start(3), match.end(3)
    for match in _SETTING.finditer(text) if _may_set(text) else ():
        if _looks_real(match[1], 10) and _kinds(match[1]) >= _LEAST_KINDS:
            yield "password or key", match.start(1), match.end(1)


def _may_set(text: str) -> bool:
    lower = text.lower()
    return any(word in lower for word in ("pwd", "passw", "secret", "token", "api", "密码", "口令", "密钥"))


def _looks_real(value: str, least: int) -> bool:
    return len(value) >= least and not _PLACEHOLDER.search(value) and len(set(value)) >= 5


def _is_word(value: str) -> bool:
    return value.isalpha() and (value.islower() or value.isupper())


def _kinds(value: str) -> int:
    return sum(
        (
            any(letter.islower() for letter in value),
            any(letter.isupper() for letter in value),
            any(letter.isdigit() for letter in value),
            not value.isalnum(),
        )
    )


def masked(value: str) -> str:
    """Return enough of a secret to find it again, and no more."""
    first = value.split("\n", 1)[0]
    shown = first[: min(_SHOWN, len(first) // 3)] if "PRIVATE KEY" not in first else first
    return f"{shown}…"
