"""How a relation is asked of one topic: in the script of its text, and of people by who."""

from __future__ import annotations

from kaijuan.evals.making.chinese.words import in_script_of
from kaijuan.evals.making.facts import Fact, Sort

_OF_PEOPLE = {"What is {x}?": "Who is {x}?", "{x}是什么？": "{x}是谁？"}


def worded(template: str, fact: Fact) -> str:
    """Return the words of a question as the text of a fact would write them; `{x}` and the like stay."""
    if fact.topic.sort is Sort.PERSON:
        template = _OF_PEOPLE.get(template, template)
    if fact.statement.evidence.document.language == "zh":
        return in_script_of(template, fact.statement.text)
    return template
