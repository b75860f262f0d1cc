"""The true code comes first among five hundred that nearly are it, however one asks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import product

import pytest

from kaijuan.core.text.bm25 import document_weights, idf, query_weights


class Bm25:
    """What every engine computes, over postings in memory."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.postings: dict[int, list[tuple[int, float]]] = defaultdict(list)
        self.size = len(texts)
        for number, text in enumerate(texts):
            for term, weight in document_weights([(text, 1.0)]).items():
                self.postings[term].append((number, weight))

    def scores(self, query: str) -> Mapping[int, float]:
        scores: dict[int, float] = defaultdict(float)
        for term, asked in query_weights(query).items():
            found = self.postings.get(term, [])
            for number, weight in found:
                scores[number] += asked * weight * idf(self.size, len(found))
        return scores

    def first(self, query: str) -> int | None:
        """The best document, or None where two share the first place: a tie is no hit."""
        ranked = sorted(self.scores(query).items(), key=lambda item: -item[1])
        if not ranked or (len(ranked) > 1 and ranked[1][1] > ranked[0][1] - 1e-9):
            return None
        return ranked[0][0]


def errors() -> Iterator[str]:
    yield from (f"ERR-{number}" for number in range(9900, 10_000))
    yield from ("ERR-9988-A", "ERR-99880", "ERR-998", "WRN-9988", "ERR-9988-B")


def modules() -> Iterator[str]:
    for left, right in product(
        ["XXL", "XLL", "XXS", "YXL", "XML", "XXI"], ["JOB", "JOBS", "MQ", "RPC", "TASK", "JOB-ADMIN"]
    ):
        yield f"{left}-{right}"


def threads() -> Iterator[str]:
    for size, pitch in product([5, 6, 8, 10, 12, 14, 18, 80], ["0.75", "1", "1.25", "1.5", "1.75", "2.5"]):
        yield f"M{size}×{pitch}"


def versions() -> Iterator[str]:
    for major, minor, patch in product([1, 2, 3, 12], [1, 3, 13, 31], [0, 1, 2, 11]):
        yield f"v{major}.{minor}.{patch}"
    yield from ("v2.3", "v2.3.1-rc1", "v2.3.1.4", "v23.1")


def standards() -> Iterator[str]:
    for body, number, year in product(["GB/T", "GB", "ISO"], [7714, 7715, 7741, 17714, 771], [1987, 2005, 2015]):
        yield f"{body} {number}-{year}"


def products() -> Iterator[str]:
    editions = ["", " Pro", " Pro Max", " Plus", " mini"]
    for name, number, edition in product(["iPhone", "iPad", "Pixel"], [12, 13, 14, 15, 16], editions):
        yield f"{name} {number}{edition}"


def decrees() -> Iterator[str]:
    for body, year, number in product(["国发", "国办发", "财税", "银发"], [2013, 2022, 2023], [5, 15, 50, 51, 105]):
        yield f"{body}〔{year}〕{number}号"


def articles() -> Iterator[str]:
    yield from (
        f"第{numeral}条" for numeral in ["一", "二", "三", "十", "十二", "十三", "二十", "二十三", "三十二", "一百零三"]
    )


def measures() -> Iterator[str]:
    yield from (
        f"{value}{unit}" for value, unit in product(["3.5", "35", "3.55", "5", "0.35"], ["mm", "cm", "kg", "kW", "V"])
    )


def files() -> Iterator[str]:
    for stem, kind in product(["report_2023_01", "report_2023_10", "report-2032-01", "report"], ["pdf", "docx", "py"]):
        yield f"{stem}.{kind}"
    yield from (f"{name}@{host}" for name, host in product(["zhang.san", "zhang.shan", "li.si"], ["a.com", "b.com"]))
    yield from (f"api{number}.example.{end}" for number, end in product([1, 2, 12], ["com", "cn", "org"]))
    yield from (f"https://example.com/docs/{page}?v={number}" for page, number in product(["a", "b"], [1, 2]))


FAMILIES = [errors, modules, threads, versions, standards, products, decrees, articles, measures, files]
CODES = [code for family in FAMILIES for code in family()]
DOCUMENTS = [
    (
        f"运行维护手册：涉及{code}时，请先查看日志，再按说明处理，并记录原因和负责人。"
        if number % 2
        else f"Operations handbook. When you meet {code}, look at the log, then follow the steps and note the cause."
    )
    for number, code in enumerate(CODES)
]
PHRASINGS = [
    "{}",
    "请问遇到{}应该如何处理，需要查看什么日志？",
    "{}是什么意思",
    "What does {} mean and how do I look at the log when I meet it?",
    "how to fix {}",
]


@pytest.fixture(scope="module")
def engine() -> Bm25:
    return Bm25(DOCUMENTS)


def test_there_are_five_hundred_different_codes() -> None:
    assert len(CODES) == len(set(CODES)) >= 500


@pytest.mark.parametrize("phrasing", PHRASINGS)
def test_the_true_code_is_first_in_every_phrasing(engine: Bm25, phrasing: str) -> None:
    missed = [code for number, code in enumerate(CODES) if engine.first(phrasing.format(code)) != number]
    assert missed == []


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("err 9988", "ERR-9988"),
        ("err9988", "ERR-9988"),
        ("ＥＲＲ－９９８８", "ERR-9988"),
        ("ERR_9988", "ERR-9988"),
        ("xxljob", "XXL-JOB"),
        ("xxl job", "XXL-JOB"),
        ("M8x1.25", "M8×1.25"),
        ("M8*1.25", "M8×1.25"),
        ("m8 × 1.25", "M8×1.25"),
        ("2.3.1", "v2.3.1"),
        ("V2.3.1", "v2.3.1"),
        ("version 2.3.1", "v2.3.1"),
        ("GB/T7714-2015", "GB/T 7714-2015"),
        ("gb/t 7714—2015", "GB/T 7714-2015"),
        ("GBT 7714-2015", "GB/T 7714-2015"),
        ("iphone15 pro max", "iPhone 15 Pro Max"),
        ("iPhone15ProMax", "iPhone 15 Pro Max"),
        ("苹果iPhone 15 Pro的电池", "iPhone 15 Pro"),
        ("国发[2023]5号", "国发〔2023〕5号"),
        ("国发（2023）5号文件", "国发〔2023〕5号"),
        ("國發〔2023〕5號", "国发〔2023〕5号"),
        ("第12条", "第十二条"),
        ("第 103 条", "第一百零三条"),
        ("3.5 mm", "3.5mm"),
        ("３．５ｍｍ", "3.5mm"),
        ("report-2023-01.pdf", "report_2023_01.pdf"),
        ("ZHANG.SAN@A.COM", "zhang.san@a.com"),
    ],
)
def test_other_spellings_mean_the_same_code(engine: Bm25, typed: str, meant: str) -> None:
    assert engine.first(typed) == CODES.index(meant)


def test_a_leading_part_finds_every_longer_code(engine: Bm25) -> None:
    scores = engine.scores("GB/T 7714")
    best = sorted(scores, key=lambda number: -scores[number])[:3]
    assert {CODES[number] for number in best} == {f"GB/T 7714-{year}" for year in (1987, 2005, 2015)}


def test_the_true_code_beats_a_near_miss_that_has_all_the_other_words() -> None:
    engine = Bm25(
        [
            "ERR-9988 表示打印机缺纸。",
            "ERR-9981 怎么处理：打印机停止工作时，先重启打印机，再查看日志，然后处理错误。",
            "打印机停止工作怎么处理？打印机的错误怎么处理？",
            *(f"打印机说明第{number}页，其他内容。" for number in range(50)),
        ]
    )
    assert engine.first("打印机停止工作，显示 ERR-9988，怎么处理？") == 0
