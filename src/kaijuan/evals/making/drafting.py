"""From what one document offers to draft questions, by rules, in Chinese and English."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from types import ModuleType

from kaijuan.evals.making.chinese import facts as chinese_facts
from kaijuan.evals.making.chinese import moments as chinese_moments
from kaijuan.evals.making.chinese import statements as chinese_statements
from kaijuan.evals.making.combined import Article
from kaijuan.evals.making.english import facts as english_facts
from kaijuan.evals.making.english import moments as english_moments
from kaijuan.evals.making.english import statements as english_statements
from kaijuan.evals.making.facts import Asked, Topic
from kaijuan.evals.making.headings import exchange_drafts, heading_drafts
from kaijuan.evals.making.items import Draft, Kind
from kaijuan.evals.making.material import Material, Statement
from kaijuan.evals.making.tables import cell_drafts
from kaijuan.evals.making.wording import worded

_YEAR = re.compile(r"(?<!\d)(?:1\d{3}|20\d{2})(?!\d)")


def article_of(material: Material) -> Article | None:
    """Return the article with its facts, where the document is one."""
    rules = _facts_module(material.head.language)
    topic = rules.topic_of(material) if rules else None
    if rules is None or topic is None:
        return None
    return Article(head=material.head, topic=topic, facts=tuple(rules.facts_of(material, topic)))


def _facts_module(language: str) -> ModuleType | None:
    return {"zh": chinese_facts, "en": english_facts}.get(language)


def drafts_of(material: Material, article: Article | None) -> Iterator[Draft]:
    """Yield the drafts that one document gives by itself."""
    yield from exchange_drafts(material)
    yield from heading_drafts(material)
    yield from cell_drafts(material)
    if article is not None:
        yield from _fact_drafts(article)
    language = material.head.language
    for statement in material.statements:
        yield from _timed(statement, article.topic if article else None, language)
        for asked in _statement_questions(statement, article.topic if article else None, material):
            yield _dated(_single(statement, asked, language, article))


def _fact_drafts(article: Article) -> Iterator[Draft]:
    for fact in article.facts:
        yield Draft(
            kind=Kind.SINGLE,
            how=f"{article.head.language}/{fact.relation.name}",
            language=article.head.language,
            question=worded(fact.relation.question, fact).format(x=fact.topic.name),
            answers=(fact.value,),
            evidence=(fact.statement.evidence,),
            about=fact.topic.name,
        )


def _timed(statement: Statement, topic: Topic | None, language: str) -> Iterator[Draft]:
    rules = {"zh": chinese_moments, "en": english_moments}.get(language)
    for asked, when in rules.timed_questions(statement, topic) if rules else ():
        yield Draft(
            kind=Kind.TIME,
            how=asked.how,
            language=language,
            question=asked.question,
            answers=(asked.answer,),
            evidence=(statement.evidence,),
            about=topic.name if topic else asked.question,
            as_of=" ".join(when.split()),
        )


def _statement_questions(statement: Statement, topic: Topic | None, material: Material) -> Iterator[Asked]:
    if material.head.language == "zh":
        yield from chinese_statements.questions_of(statement, topic, material.head.title)
    elif material.head.language == "en" and topic is None:
        yield from english_statements.questions_of(statement, material.head.title, material.lower_words)


def _single(statement: Statement, asked: Asked, language: str, article: Article | None) -> Draft:
    return Draft(
        kind=Kind.SINGLE,
        how=asked.how,
        language=language,
        question=asked.question,
        answers=(asked.answer,),
        evidence=(statement.evidence,),
        about=article.topic.name if article else asked.question,
    )


def _dated(draft: Draft) -> Draft:
    """Turn a question that names a year into one about that time."""
    found = _YEAR.search(draft.question.replace(draft.about, "") if draft.about != draft.question else draft.question)
    return replace(draft, kind=Kind.TIME, as_of=found.group()) if found else draft
