"""What the writing model is asked, one file for each request and language."""

from __future__ import annotations

from functools import cache
from importlib import resources
from string import Template

from kaijuan.core.text.language import language_of

LANGUAGES = ("en", "zh")
NAMES = ("system", "ask", "repair", "summary", "digest", "merge", "shape", "fill", "unfit")


def language(text: str) -> str:
    """Return the language of the prompts for a question: Chinese for Chinese, English for all others."""
    return "zh" if language_of(text) == "zh" else "en"


def prompt(name: str, language: str, /, **material: str) -> str:
    """Return a prompt with the material put in. Material is not read for further placeholders."""
    return _template(name, language).substitute(material).strip()


@cache
def _template(name: str, language: str) -> Template:
    file = resources.files(__name__).joinpath(f"{name}.{language}.md")
    return Template(file.read_text(encoding="utf-8"))
