"""Things asked for by their name that look like nothing else: phone numbers, sites, addresses for mail, codes.

A sentence without one does not answer, however near it is: 公司股票代码是多少 is not answered by a sum of money.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

_ENDS_HAN = r"(?:是|为|為|系|係|：|:)?\s*(?:多少|什么|什麼|甚麼|几|幾|哪)"
_OPENS = r"\b(?:what(?:'s| is| are| was)|which(?: is)?|under what|at what|on what) (?:[\w'-]+ ){0,4}?"
_YEAR = r"(?!(?:1[5-9]|20)\d\d(?!\d))"


@dataclass(frozen=True, slots=True)
class _Mark:
    asked: re.Pattern[str]
    looks: re.Pattern[str]


def _mark(han: str, latin: str, looks: str) -> _Mark:
    asked = re.compile(rf"(?:{han}){_ENDS_HAN}|{_OPENS}(?:{latin})\b", re.IGNORECASE)
    return _Mark(asked, re.compile(looks))


_MARKS: Mapping[str, _Mark] = {
    "phone": _mark(
        r"(?:电话|電話|传真|傳真|分机|分機|手机号|手機號|热线|熱線)(?:号码|號碼|号|號)?",
        r"(?:phone|telephone|mobile|fax|extension|hotline) numbers?|hotline",
        rf"(?<![\d.a-z-]){_YEAR}\+?\d[\d ()-]{{1,}}\d(?!\.?\d|\s*(?:[元%个個天年月日号號人條条次]|yuan|days))",
    ),
    "site": _mark(
        r"网址|網址|域名|官网|官網|网站地址|網站地址",
        r"url|web(?:site)? address|(?:official|company) website|domain name|home ?page",
        r"https?://|\bwww\.|(?<![\w@.])[a-z][\w-]*(?:\.[a-z][\w-]*)+",
    ),
    "mail": _mark(
        r"(?:邮箱|郵箱|电子邮件|電子郵件|邮件地址|郵件地址)(?:地址)?",
        r"e-?mail(?: address)?",
        r"[\w.+-]+@[\w-]+\.",
    ),
    "code": _mark(
        r"代码|代碼|编号|編號|编码|編碼|邮编|郵編|邮政编码|郵政編碼|证号|證號|账号|帳號|工号|工號|税号|稅號",
        r"(?:stock|ticker|area|zip|postal|country|dialling|product|item|tax) (?:code|symbol)"
        r"|(?:serial|account|document|registration|tax|part) number|postcode",
        rf"(?=[a-z0-9/-]*[a-z])[a-z0-9]+(?:[-/][a-z0-9]+)*-?\d[a-z0-9-]*|(?<![\d.]){_YEAR}\d{{4,}}(?!\.?\d)",
    ),
}


def mark_asked(question: str) -> str:
    """Return the name of the mark that a question asks for, "" for none."""
    return next((name for name, mark in _MARKS.items() if mark.asked.search(question)), "")


def has_mark(name: str, text: str) -> bool:
    """Say whether a normalised text has a mark of this name."""
    return _MARKS[name].looks.search(text) is not None
