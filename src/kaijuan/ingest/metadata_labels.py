"""The labels under which documents tell their number, dates, version and makers, and what may stand behind each."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from kaijuan.ingest.metadata_dates import only_date

LONGEST: Final = 120
"""Characters of a value; what is longer is a sentence."""
_LABELS: Final[Mapping[str, tuple[str, ...]]] = {
    "document_number": (
        *(
            "文号",
            "发文字号",
            "发文文号",
            "文件编号",
            "文件号",
            "文档编号",
            "合同编号",
            "编号",
            "文號",
            "發文字號",
            "文件編號",
        ),
        *("document number", "document no", "document id", "doc number", "doc no", "document reference"),
        *("reference number", "reference no"),
    ),
    "published": (
        *("发布日期", "发布时间", "发文日期", "成文日期", "印发日期", "颁布日期", "公布日期", "出版日期"),
        *("發布日期", "發佈日期", "發文日期", "頒布日期", "出版日期"),
        *("published", "published on", "date published", "publication date", "date of publication"),
        *("issued", "issued on", "issue date", "date issued", "date of issue", "release date"),
    ),
    "updated": (
        *("更新日期", "更新时间", "最后更新", "最近更新", "修订日期", "最後更新", "更新時間", "修訂日期"),
        *("updated", "updated on", "last updated", "last modified", "last revised", "revision date", "date revised"),
    ),
    "effective_from": (
        *("生效日期", "生效时间", "实施日期", "施行日期", "执行日期", "生效時間", "實施日期", "執行日期"),
        *("effective", "effective date", "effective from", "date effective", "valid from", "in force from"),
    ),
    "effective_to": (
        *("失效日期", "废止日期", "有效期至", "有效期截止日期", "廢止日期"),
        *("valid until", "valid to", "valid through", "expires", "expires on", "expiry date", "expiration date"),
    ),
    "version": (
        *("版本", "版本号", "版次", "文件版本", "文档版本", "当前版本", "版本號", "版號", "文件版次"),
        *("version", "version number", "version no", "document version"),
        *("rev", "revision", "revision number", "revision no"),
    ),
    "issuer": (
        *("发布单位", "发布机构", "发布机关", "发布部门", "发文机关", "发文单位", "制定机关", "制定单位", "颁布单位"),
        *("印发单位", "出版单位", "出版社", "發布機關", "發文機關", "發布單位"),
        *("issued by", "issuer", "issuing authority", "issuing body", "published by", "publisher"),
    ),
    "author": (
        *("作者", "编者", "编写人", "撰写人", "编制人", "拟制人", "起草人", "主编", "編者", "撰寫人", "編寫人"),
        *("author", "authors", "author(s)", "written by", "prepared by"),
    ),
    "department": (
        *("部门", "所属部门", "归口部门", "责任部门", "主管部门", "編制部門", "編寫部門", "部門", "编制部门"),
        *("department", "responsible department"),
    ),
    "owner": (
        *("负责人", "文件负责人", "文档负责人", "責任人", "負責人", "责任人"),
        *("owner", "document owner", "policy owner"),
    ),
    "keywords": (
        *("关键词", "关键字", "主题词", "關鍵詞", "關鍵字"),
        *("keywords", "key words", "keyword", "index terms"),
    ),
}
_FIELD: Final = {label: field for field, labels in _LABELS.items() for label in labels}
_ONE = "|".join(re.escape(label).replace(r"\ ", r"\s") for label in sorted(_FIELD, key=len, reverse=True))
_LABEL = re.compile(
    rf"(?:(?<!\S)|(?<=[|　]))(?:[【\[](?P<boxed>{_ONE})[】\]]\s?[:：]?|(?P<bare>{_ONE})\.?\s?[:：])", re.I
)
_ALONE = re.compile(rf"(?:{_ONE})\.?\s?[:：]?", re.I)
_MARKS = "-*•·>#|· \t　"
_BETWEEN = re.compile(r"[;；,，、]|\s·\s")
_PEOPLE = re.compile(r"[;；,，、]|\s(?:and|&)\s")
_SENTENCE = re.compile(r"[。！？!?]|\.\s")
_VERSION = re.compile(r"(?=.*\d).{1,40}|[A-Z](?:/\d+)?")


def labelled(line: str) -> Iterator[tuple[str, str]]:
    """Yield fields and values of a line that begins with a label; none for any other line."""
    line = line.strip(_MARKS)
    found = list(_LABEL.finditer(line))
    if not found or found[0].start() > 0:
        return
    ends = [*(match.start() for match in found[1:]), len(line)]
    for match, end in zip(found, ends, strict=True):
        field = field_of(match["boxed"] or match["bare"])
        if value := value_of(field, line[match.end() : end].strip(_MARKS)):
            yield field, value


def field_of(label: str) -> str:
    """Return the field that a text of nothing but a label names, "" for any other text."""
    if not _ALONE.fullmatch(label.strip()):
        return ""
    return _FIELD.get(" ".join(label.lower().rstrip(".:： \t　").split()), "")


def value_of(field: str, text: str) -> str:
    """Return a text as the value of a field, "" where it cannot be one."""
    text = " ".join(text.split())
    if not text or (len(text) > LONGEST and field != "keywords") or field_of(text):
        return ""
    return _READ.get(field, _name)(text)


def names_in(field: str, value: str) -> tuple[str, ...]:
    """Return the entries of a value that lists several: authors, keywords. "Li, Wei" may be one name and stays one."""
    parts = (_BETWEEN if field == "keywords" else _PEOPLE).split(value)
    entries = tuple(dict.fromkeys(part.strip(" \t.。") for part in parts if part.strip(" \t.。")))
    whole = field == "keywords" or all(" " in entry or not entry.isascii() for entry in entries)
    return entries if whole else (value,)


def _name(text: str) -> str:
    return "" if _SENTENCE.search(text.rstrip(".。") + " ") else text


def _number(text: str) -> str:
    return text if any(mark.isdigit() for mark in text) and not _SENTENCE.search(text) else ""


def _version(text: str) -> str:
    return text if _VERSION.fullmatch(text) and not _SENTENCE.search(text) else ""


def _keywords(text: str) -> str:
    # A list of keywords has no full stop but the last, and no keyword is a sentence.
    text = text.rstrip(".。")
    return text if "。" not in text and all(len(part) <= LONGEST for part in _BETWEEN.split(text)) else ""


_READ: Final[Mapping[str, Callable[[str], str]]] = {
    "document_number": _number,
    "version": _version,
    "keywords": _keywords,
    **dict.fromkeys(("published", "updated", "effective_from", "effective_to"), only_date),
}
