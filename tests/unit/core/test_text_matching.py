"""Terms: Chinese words are found by their parts, English by their stems, and each stands where it was read."""

from __future__ import annotations

import subprocess
import sys
from collections import defaultdict
from collections.abc import Sequence

import pytest

from kaijuan.core.text.analyse import TermKind, analyse, keys_of
from kaijuan.core.text.bm25 import document_weights, idf, query_terms, query_weights, term_id


def ranking(texts: Sequence[str], query: str) -> list[tuple[int, float]]:
    """BM25 as an engine computes it: documents with a score above zero, best first."""
    documents = [document_weights([(text, 1.0)]) for text in texts]
    scores: dict[int, float] = defaultdict(float)
    for term, asked in query_weights(query).items():
        holding = [number for number, weights in enumerate(documents) if term in weights]
        for number in holding:
            scores[number] += asked * documents[number][term] * idf(len(documents), len(holding))
    return sorted(((number, score) for number, score in scores.items() if score > 0), key=lambda item: -item[1])


def keys(text: str) -> set[str]:
    return {term.text for term in analyse(text)}


def test_a_word_of_the_last_line_of_a_poem_ranks_that_line_first() -> None:
    poem = ["白日依山尽", "黄河入海流", "欲穷千里目", "更上一层楼"]
    for word in ("层楼", "一层"):
        (best, score), *_ = ranking(poem, word)
        assert poem[best] == "更上一层楼"
        assert score > 0


@pytest.mark.parametrize("word", ["充电", "续航"])
def test_words_beside_a_full_width_comma_are_both_found(word: str) -> None:
    texts = ["充电，续航\n怎么充电？", "屏幕，声音\n怎么调亮？"]
    assert [number for number, _ in ranking(texts, word)] == [0]


@pytest.mark.parametrize(
    "part",
    ["设备", "备资", "资产", "盘点", "管理", "设备资产", "资产盘点", "盘点管理", "固定资产", "Kafka集群", "Kafka",
     "集群", "deploy_guide.md", "deploy", "kb.example.com", "example", "设备资产盘点管理"],
)  # fmt: skip
def test_every_part_of_an_unspaced_term_is_found(part: str) -> None:
    texts = [
        "固定设备资产盘点管理办法。固定资产按季度盘点。Kafka集群监控，见 deploy_guide.md 与 kb.example.com 的说明。",
        "员工考勤和请假的一般规定，适用于全体人员。",
        "差旅报销流程与标准。",
    ]
    assert [number for number, _ in ranking(texts, part)] == [0]


def test_a_word_broken_by_layout_is_found_whole() -> None:
    assert {"合同", "编号", "~同编"} <= keys("合\n同编 号")


@pytest.mark.parametrize(
    ("asked", "written"), [("軟體工程師", "软体工程师"), ("ＡＢＣ公司", "abc公司"), ("Café", "café")]
)
def test_script_width_and_case_do_not_matter(asked: str, written: str) -> None:
    assert keys(asked) == keys(written)


@pytest.mark.parametrize(("asked", "written"), [("running", "runs"), ("policies", "policy"), ("e-mail", "email")])
def test_english_forms_share_a_stem(asked: str, written: str) -> None:
    assert keys(asked) & keys(written)


def test_the_form_that_was_asked_ranks_before_its_relatives() -> None:
    texts = ["the operating costs", "the operation costs", "the operator costs"]
    assert texts[ranking(texts, "operation")[0][0]] == "the operation costs"


@pytest.mark.parametrize(
    "written",
    [
        "2024年3月5日",
        "2024-03-05",
        "2024/3/5",
        "2024.03.05",
        "二〇二四年三月五日",
        "March 5, 2024",
        "5 Mar 2024",
        "５th March 2024",
    ],
)
def test_a_day_has_one_term_however_it_is_written(written: str) -> None:
    assert {"@2024-03-05", "@2024-03"} <= keys(f"签订于{written}，生效。")


@pytest.mark.parametrize("written", ["2024-13-05", "2024-03-32", "10.2024.03.05.1", "192.168.1.1"])
def test_what_only_looks_like_a_day_is_none(written: str) -> None:
    assert not {key for key in keys(written) if key.startswith("@") and len(key) > 8}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("十八岁", "18岁"),
        ("第三十二条", "第32条"),
        ("第一百零五条", "第105条"),
        ("三万五千元", "35000元"),
        ("第二〇章", "第20章"),
    ],
)
def test_chinese_and_arabic_numerals_meet(one: str, other: str) -> None:
    assert {key for key in keys(one) & keys(other) if key.startswith("+")}


def test_a_thousands_comma_is_not_part_of_a_number() -> None:
    assert "1250.5" in keys("1,250.5 元") & keys("1250.5元")


def test_each_term_stands_where_it_was_read() -> None:
    text = "見《國\n發〔2023〕5號》，M8×1.25 與 Running。"
    places = {term.text: term.span.of(text) for term in analyse(text)}
    assert places["#国发2023#5号"] == "國\n發〔2023〕5號"
    assert places["#m8x1.25"] == "M8×1.25"
    assert places["=running"] == "Running"
    assert places["run"] == "Running"


def test_function_words_are_kept_but_count_little() -> None:
    terms = analyse("什么是区块链的共识 and the ledger")
    weights = {term.text: term.weight for term in terms}
    assert {term.text for term in terms if term.weak} >= {"什么", "的", "the", "~的共"}
    assert not {term.text for term in terms if term.weak} & {"区块", "ledger", "~共识"}
    assert weights["什么"] < 0.3 * weights["区块"]
    assert weights["the"] < 0.3 * weights["ledger"]
    assert weights["~的共"] < 0.3 * weights["~共识"]


def test_bigrams_do_not_cross_the_end_of_a_phrase() -> None:
    assert {term.text for term in analyse("合同，编号\n\n日期\t金额") if term.kind is TermKind.BIGRAM} == {
        "~合同", "~编号", "~日期", "~金额",
    }  # fmt: skip


def test_another_segmenter_can_be_handed_in() -> None:
    def whole(run: str) -> list[tuple[str, int, int]]:
        return [(run, 0, len(run))]

    assert "开卷知识库" in {term.text for term in analyse("开卷知识库。", cut=whole)}
    assert term_id("开卷知识库") in document_weights([("开卷知识库", 1.0)], cut=whole)
    assert "开卷知识库" in query_terms("开卷知识库", cut=whole)
    assert "开卷知识库" not in query_terms("开卷知识库")


def test_a_field_counts_with_its_weight() -> None:
    body, title = "库存盘点的规定", "盘点"
    plain = document_weights([(body, 1.0)])
    titled = document_weights([(title, 2.0), (body, 1.0)])
    assert titled[term_id("盘点")] > plain[term_id("盘点")]
    assert document_weights([("", 2.0), (body, 1.0)]) == plain
    assert document_weights([]) == {} == document_weights([("，。 \n", 1.0)])


def test_a_term_asked_twice_counts_twice() -> None:
    once, twice = query_weights("盘点"), query_weights("盘点，盘点")
    assert twice == {term: 2 * weight for term, weight in once.items()}


def test_term_ids_are_fixed_for_ever() -> None:
    # They are stored in indexes: another hash would silently find nothing.
    assert [term_id(term) for term in ("盘点", "~盘点", "run", "#err9988")] == IDS


def test_ids_of_terms_fit_32_bits_and_do_not_collide_on_a_large_vocabulary() -> None:
    terms = [f"{letter}{number}" for letter in ("", "#err", "~中", "+第") for number in range(50_000)]
    ids = {term_id(term) for term in terms}
    assert max(ids) < 2**32
    assert len(terms) - len(ids) <= 20  # chance alone gives 4.7 pairs


def test_rarer_terms_tell_more_and_none_tells_less_than_nothing() -> None:
    told = [idf(1000, frequency) for frequency in (1, 10, 500, 1000)]
    assert told == sorted(told, reverse=True)
    assert told[-1] > 0


@pytest.mark.parametrize(
    "text",
    ["甲" * 100_000, "a" * 100_000, "a." * 50_000, "1-" * 50_000, "甲 " * 50_000, "e\u0301" * 50_000,
     "\u0301" * 100_000, "第" * 50_000, "一" * 50_000, "x@" * 50_000, "' " * 50_000,
     "第" + "9" * 5000 + "条", "国发〔2023〕" + "9" * 5000 + "号", "一" + "亿" * 50_000 + "元"],
    ids=lambda text: text[:2],
)  # fmt: skip
def test_unbroken_text_is_analysed_whole(text: str) -> None:
    found, pairs = keys_of(text)
    assert document_weights([(text, 1.0)]).keys() == {term_id(key) for key in (*found, *("~" + pair for pair in pairs))}


def test_importing_the_analyser_loads_no_dictionary() -> None:
    program = "import sys, kaijuan.core.text.bm25; print({'rjieba', 'snowballstemmer'} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "set()"


IDS = [1929667095, 3825055676, 1349952704, 2544479146]
