"""What the judging model is asked, one file for each question and language."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib import resources
from string import Template

from kaijuan.core.text.language import language_of

LANGUAGES = ("en", "zh")
NAMES = ("correct", "carried", "again")
LONGEST = 6000
"""Characters of one piece of material that are shown; the cut is told in the material itself."""


def prompt(name: str, asked: str, /, **material: str) -> str:
    """Return a prompt in the language of the question `asked`, with the material put in as data."""
    language = "zh" if language_of(asked) == "zh" else "en"
    return _template(name, language).substitute({key: _shown(text) for key, text in material.items()})


def fingerprint() -> str:
    """Return a hash of all prompts."""
    texts = [_template(name, language).template for name in NAMES for language in LANGUAGES]
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]


@cache
def _template(name: str, language: str) -> Template:
    file = resources.files(__name__).joinpath(f"{name}.{language}.md")
    return Template(file.read_text(encoding="utf-8"))


def _shown(text: str) -> str:
    """Return material that cannot end its own tags, cut to a length that every model reads."""
    cut = text if len(text) <= LONGEST else f"{text[:LONGEST]} [...]"
    return cut.replace("<", "&lt;")
