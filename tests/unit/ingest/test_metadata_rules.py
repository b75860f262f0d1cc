"""What documents say about themselves is found where it is sure, in Chinese and English, and nowhere else."""

from __future__ import annotations

from io import BytesIO

import docx
import openpyxl
import pytest

from kaijuan.core.documents import Metadata
from kaijuan.ingest.metadata_dates import only_date
from kaijuan.ingest.metadata_rules import with_said
from kaijuan.ingest.parsers.docx import DocxParser
from kaijuan.ingest.parsers.markdown import MarkdownParser
from kaijuan.ingest.parsers.text import TextParser
from kaijuan.ingest.parsers.xlsx import XlsxParser


def said(text: str, name: str = "x.md") -> Metadata:
    """Return the metadata of a Markdown text."""
    return with_said(MarkdownParser().parse(text.encode(), name)).metadata


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("2023年12月29日", "2023-12-29"),
        ("2023 年 1 月 5 日", "2023-01-05"),
        ("二〇二三年十二月二十九日", "2023-12-29"),
        ("二○二四年七月一日", "2024-07-01"),
        ("中華民國112年12月9日", "2023-12-09"),
        ("2023-12-29", "2023-12-29"),
        ("2023/1/5", "2023-01-05"),
        ("2021.05.06", "2021-05-06"),
        ("December 29, 2023", "2023-12-29"),
        ("1st Jan. 2024", "2024-01-01"),
        ("4 July 2024", "2024-07-04"),
        ("Sept 9 2022", "2022-09-09"),
        ("03/04/2024", ""),
        ("2023年2月30日", ""),
        ("12年3月4日", ""),
        ("2023-12-29 and 2024-01-01", ""),
        ("1.2021.05.06.7", ""),
        ("May 2024", ""),
        ("none", ""),
    ],
)
def test_dates_are_read_where_they_can_be_read_one_way(text: str, date: str) -> None:
    assert only_date(text) == date


@pytest.mark.parametrize(
    ("line", "number"),
    [
        ("国发〔2023〕12号", "国发〔2023〕12号"),
        ("京政办发[2022] 5 号", "京政办发〔2022〕5号"),
        ("中国人民银行令〔2023〕第1号", "中国人民银行令〔2023〕第1号"),
        ("中华人民共和国国务院令 第306号", "中华人民共和国国务院令第306号"),
        ("（2023）京01民终1234号", "（2023）京01民终1234号"),
        ("GB/T 1.1—2020", "GB/T 1.1—2020"),
        ("ISO/IEC 27001:2022", "ISO/IEC 27001:2022"),
        ("arXiv:2103.15348v2 [cs.CV] 21 Jun 2021", "arXiv:2103.15348v2"),
        ("Document No.: QMS-001", "QMS-001"),
        ("文件编号：HR-2024-07", "HR-2024-07"),
        ("【发文字号】国发〔2023〕12号", "国发〔2023〕12号"),
    ],
)
def test_the_number_of_a_document(line: str, number: str) -> None:
    assert said(f"# A title\n\n{line}\n\nMore words.")["document_number"] == number


@pytest.mark.parametrize(
    "line",
    [
        "根据国发〔2023〕12号文件的要求，各单位应当执行。",
        "代替 GB/T 1.1—2009",
        "This follows ISO/IEC 27001:2022 closely.",
        "文件编号：待定",
        "The document number: QMS-001 is old.",
    ],
)
def test_numbers_of_other_documents_are_left_alone(line: str) -> None:
    assert "document_number" not in said(f"# A title\n\n{line}")


def test_labels_of_a_chinese_policy() -> None:
    found = said(
        "# 差旅费管理办法\n\n文件编号：CW-2024-03　版本：A/1\n\n发布日期：2024年1月5日　生效日期：2024年2月1日\n\n"
        "发布单位：财务部\n\n作者：张三、李四\n\n关键词：差旅；报销;审批\n\n负责人：王五\n\n"
        "有效期至：2026-12-31\n\n第一条 正文。"
    )
    assert dict(found) == {
        "document_number": "CW-2024-03",
        "version": "A/1",
        "published": "2024-01-05",
        "effective_from": "2024-02-01",
        "effective_to": "2026-12-31",
        "issuer": "财务部",
        "author": ("张三", "李四"),
        "owner": "王五",
        "keywords": ("差旅", "报销", "审批"),
    }


def test_labels_of_an_english_policy() -> None:
    found = said(
        "# Travel Policy\n\nDocument ID: FIN-7\n\nVersion: 2.1\n\nEffective date: February 1, 2024\n\n"
        "Last updated: 5 January 2024\n\nExpires: 2026-12-31\n\nIssued by: Finance Board\n\n"
        "Authors: Ann Lee, Bob Roe and Cy Poe\n\nKeywords: travel, refunds"
    )
    assert dict(found) == {
        "document_number": "FIN-7",
        "version": "2.1",
        "effective_from": "2024-02-01",
        "updated": "2024-01-05",
        "effective_to": "2026-12-31",
        "issuer": "Finance Board",
        "author": ("Ann Lee", "Bob Roe", "Cy Poe"),
        "keywords": ("travel", "refunds"),
    }


def test_a_name_with_a_comma_stays_one() -> None:
    assert said("# T\n\nAuthor: Li, Wei")["author"] == "Li, Wei"


def test_traditional_chinese_labels() -> None:
    found = said("# 作業要點\n\n發布日期：中華民國113年2月1日\n\n版本號：2.0\n\n關鍵詞：通報、流程")
    assert dict(found) == {"published": "2024-02-01", "version": "2.0", "keywords": ("通報", "流程")}


def test_the_history_of_a_statute() -> None:
    found = said(
        "# 中华人民共和国公司法\n\n（1993年12月29日第八届全国人民代表大会常务委员会第五次会议通过　根据1999年12月25日"
        "第九届全国人民代表大会常务委员会第十三次会议《关于修改〈中华人民共和国公司法〉的决定》第一次修正　"
        "2023年12月29日第十四届全国人民代表大会常务委员会第七次会议第二次修订）\n\n第一条 为了规范公司。\n\n"
        "第二百六十六条 本法自2024年7月1日起施行。"
    )
    assert dict(found) == {
        "published": "1993-12-29",
        "updated": "2023-12-29",
        "version": "第二次修订",
        "effective_from": "2024-07-01",
    }


def test_promulgation_counts_before_adoption_and_sets_a_clause_that_names_no_day() -> None:
    found = said(
        "# 某某管理条例\n\n2023年3月1日国务院第1次常务会议通过 2023年4月2日国务院令第7号公布\n\n"
        "第九条 本条例自公布之日起施行。"
    )
    assert dict(found) == {"published": "2023-04-02", "effective_from": "2023-04-02"}


def test_the_cover_of_a_standard() -> None:
    found = said("# GB/T 1.1—2020 标准化工作导则\n\n2020-03-31 发布　2020-10-01 实施")
    assert dict(found) == {
        "document_number": "GB/T 1.1—2020",
        "published": "2020-03-31",
        "effective_from": "2020-10-01",
    }


def test_a_notice_that_sends_out_a_regulation() -> None:
    found = said(
        "# 国务院办公厅关于印发《政务公开管理办法（试行）》的通知\n\n国办发〔2024〕8号\n\n"
        "第十条 本办法自2024年3月1日起施行，有效期至2029年2月28日。"
    )
    assert dict(found) == {
        "document_number": "国办发〔2024〕8号",
        "issuer": "国务院办公厅",
        "effective_from": "2024-03-01",
        "effective_to": "2029-02-28",
    }


@pytest.mark.parametrize(
    "text",
    [
        "# 公司法解读\n\n本法自2024年7月1日起施行。",
        "# 某办法\n\n原办法规定，本办法自2020年1月1日起施行，现已废止。",
        "# 某办法\n\n本办法自2020年1月1日起施行。\n\n本办法自2024年1月1日起施行。",
        "# Notes on a policy change\n\nIt says that this policy is effective from January 1, 2024.",
        "# 新闻\n\n2023年3月1日，工信部发布了新的规定。",
        "# News\n\nEffective date: soon",
        "# Two dates\n\nEffective date: 2024-01-01\n\nEffective date: 2025-01-01",
        "# 委员会转发委关于开展工作的通知\n\n正文。",
        "# A list\n\n| 作者 | 书名 | 版本 |\n|---|---|---|\n| 张三 | 开卷 | 2 |",
        "# Code\n\n```\nVersion: 2.1\n```",
        "# 说明\n\n作者：他说，这本书很好。所以我买了。",
    ],
)
def test_what_is_not_sure_is_not_taken(text: str) -> None:
    assert dict(said(text)) == {}


def test_an_english_clause_about_the_document_itself() -> None:
    text = "# Privacy Policy\n\n1.2 This Policy is effective as of January 1, 2024 and replaces all others."
    assert said(text)["effective_from"] == "2024-01-01"


def test_only_the_first_part_speaks_about_the_document() -> None:
    text = "# T\n\n" + "\n\n".join("Words and words. " * 20 for _ in range(12)) + "\n\nVersion: 9.9"
    assert dict(said(text)) == {}


def test_a_form_in_a_table_is_read_cell_by_cell() -> None:
    text = (
        "# 操作规程\n\n| 文件编号 | SOP-12 | 版本 | B/2 |\n|---|---|---|---|\n| 编制部门 | 质量部 | 作者 | 赵六 |\n"
        "| 生效日期 | 2024-05-01 | 备注 | 无 |"
    )
    assert dict(said(text)) == {
        "document_number": "SOP-12",
        "version": "B/2",
        "department": "质量部",
        "author": "赵六",
        "effective_from": "2024-05-01",
    }


def test_a_doi_is_the_documents_own_when_there_is_one() -> None:
    assert said("# Paper\n\nhttps://doi.org/10.1371/Journal.pntd.0008301.")["doi"] == "10.1371/journal.pntd.0008301"
    assert "doi" not in said("# Paper\n\ndoi:10.1000/1 and doi:10.1000/2")


def test_the_authors_account_gives_way_to_the_author_in_the_text() -> None:
    file, out = docx.Document(), BytesIO()
    file.core_properties.author = "Administrator"
    file.add_paragraph("作者：李四")
    file.save(out)
    assert with_said(DocxParser().parse(out.getvalue(), "x.docx")).metadata["author"] == "李四"


def test_front_matter_is_surer_than_a_line() -> None:
    assert said("---\nauthor: Ann\n---\n\n# T\n\nAuthor: Bob")["author"] == "Ann"


def test_data_says_nothing_about_itself() -> None:
    book, out = openpyxl.Workbook(), BytesIO()
    book.active.append(["Version:", "2.1"])
    book.save(out)
    assert "version" not in with_said(XlsxParser().parse(out.getvalue(), "x.xlsx")).metadata


def test_a_page_of_one_endless_line_ends() -> None:
    text = "2023年1月1日" * 40_000 + "\n\n" + "版本：" * 40_000
    assert "published" not in with_said(TextParser().parse(text.encode(), "x.txt")).metadata
