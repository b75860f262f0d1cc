"""What a language model is asked when it ranks passages, one file for each way and language."""

from __future__ import annotations

from functools import cache
from importlib import resources
from string import Template

from kaijuan.core.text.language import language_of

LANGUAGES = ("en", "zh")
NAMES = ("listwise", "pointwise")


def prompt(name: str, asked: str, /, **material: str) -> str:
    """Return a prompt in the language of the question `asked`, with the material put in as data."""
    language = "zh" if language_of(asked) == "zh" else "en"
    return _template(name, language).substitute({key: text.replace("<", "&lt;") for key, text in material.items()})


@cache
def _template(name: str, language: str) -> Template:
    file = resources.files(__name__).joinpath(f"{name}.{language}.md")
    return Template(file.read_text(encoding="utf-8"))
