"""What a language model is asked about a question, one file for each step and language."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib import resources
from string import Template

from kaijuan.core.text.language import language_of

LANGUAGES = ("en", "zh")
NAMES = ("standalone", "rewrite", "hyde", "step_back", "parts", "fill")


def prompt(name: str, asked: str, /, **material: str) -> str:
    """Return a prompt in the language of the question `asked`, with the material put in as data."""
    language = "zh" if language_of(asked) == "zh" else "en"
    return _template(name, language).substitute({key: text.replace("<", "&lt;") for key, text in material.items()})


@cache
def fingerprint() -> str:
    """Return a hash of all prompts: what was found with others is another result."""
    texts = [_template(name, language).template for name in NAMES for language in LANGUAGES]
    return hashlib.blake2b("\0".join(texts).encode(), digest_size=8).hexdigest()


@cache
def _template(name: str, language: str) -> Template:
    file = resources.files(__name__).joinpath(f"{name}.{language}.md")
    return Template(file.read_text(encoding="utf-8").strip())
