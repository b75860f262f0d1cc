"""What a model is asked when it writes and checks questions: one file for each request and language."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache
from importlib import resources
from string import Template

from kaijuan.evals.making.items import Kind

LANGUAGES = ("en", "zh")
NAMES = ("write", "answer", "again", *(str(kind) for kind in Kind))
LONGEST = 4000
"""Characters of one passage that are shown."""


def writing(kind: Kind, language: str, title: str, passages: Sequence[str]) -> str:
    """Return the request for one question of a kind about passages of a document."""
    shown = "\n".join(f'<passage id="{at}">\n{_shown(text)}\n</passage>' for at, text in enumerate(passages, start=1))
    task = _template(str(kind), language).template.strip()
    return _template("write", language).substitute(task=task, title=_shown(title), passages=shown)


def answering(language: str, question: str, passages: Sequence[str]) -> str:
    """Return the request to answer a question from passages alone, or to say that they do not."""
    shown = "\n".join(f'<passage id="{at}">\n{_shown(text)}\n</passage>' for at, text in enumerate(passages, start=1))
    return _template("answer", language).substitute(question=_shown(question), passages=shown)


def again(language: str, fault: str) -> str:
    """Return the request to reply once more, in the form asked for."""
    return _template("again", language).substitute(fault=fault)


def fingerprint() -> str:
    """Return a hash of all prompts: another one may give other questions."""
    texts = [_template(name, language).template for name in NAMES for language in LANGUAGES]
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]


@cache
def _template(name: str, language: str) -> Template:
    file = resources.files(__name__).joinpath(f"{name}.{language if language in LANGUAGES else 'en'}.md")
    return Template(file.read_text(encoding="utf-8"))


def _shown(text: str) -> str:
    """Return material that cannot end its own tags, cut to a length that every model reads."""
    cut = text if len(text) <= LONGEST else f"{text[:LONGEST]} [...]"
    return cut.replace("<", "&lt;")
