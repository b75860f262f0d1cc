"""What a language model is asked while documents are cut, one file for each task and language."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib import resources
from string import Template

LANGUAGES = ("en", "zh")
NAMES = ("borders", "context")


def prompt(name: str, language: str, /, **material: str) -> str:
    """Return a prompt, with the material put in as data: it cannot close the marks around it."""
    chosen = "zh" if language == "zh" else "en"
    return _template(name, chosen).substitute({key: text.replace("<", "&lt;") for key, text in material.items()})


@cache
def mark(name: str) -> str:
    """Return what names the wording of a task: replies to another wording are asked for anew."""
    texts = "\0".join(_template(name, language).template for language in LANGUAGES)
    return hashlib.sha256(texts.encode()).hexdigest()[:12]


@cache
def _template(name: str, language: str) -> Template:
    file = resources.files(__name__).joinpath(f"{name}.{language}.md")
    return Template(file.read_text(encoding="utf-8"))
