"""Shapes of Chinese: dates, amounts, pointing words, and the few characters of questions in both scripts.

Patterns are written in simplified characters and matched on text made simplified character by character, so that
places hold in the original.
"""

from __future__ import annotations

import re

from kaijuan.core.text.simplified import SIMPLIFIED

_TO_SIMPLIFIED = {ord(old): new for old, new in SIMPLIFIED.items() if len(new) == 1}
_TO_TRADITIONAL = str.maketrans(
    (
        "么时谁里规关对个说应当处类别组这称为国级师总长员别业门则据单后间数问题发体种条样"
        "会届并为办项习于产亲价册写几创制剧务卖启夺学实宠导开执担旧权毕点烟现监码积签简给"
        "编职荣获补装计认训设证评词读购贴费资赢车转迁运选邮钟颁"
    ),
    (
        "麼時誰裡規關對個說應當處類別組這稱為國級師總長員別業門則據單後間數問題發體種條樣"
        "會屆並為辦項習於產親價冊寫幾創製劇務賣啟奪學實寵導開執擔舊權畢點煙現監碼積簽簡給"
        "編職榮獲補裝計認訓設證評詞讀購貼費資贏車轉遷運選郵鐘頒"
    ),
)
"""Of the characters that questions are put together from; each has one traditional form where it stands there."""
_TRADITIONAL_FROM = 2

HAN = r"[\u4e00-\u9fff\u3400-\u4dbf]"
YEAR = r"(?:1[0-9]{3}|20[0-9]{2})\s?年"
FULL_DATE = rf"{YEAR}\s?\d{{1,2}}\s?月\s?\d{{1,2}}\s?[日号]"
MONTH_DATE = rf"{YEAR}\s?\d{{1,2}}\s?月(?!\s?\d{{1,2}}\s?[日号])"
DATE = rf"(?:{FULL_DATE}|{MONTH_DATE}|{YEAR}(?!\s?\d{{1,2}}\s?月))"
RANGE = r"(?!\s*[至到~～—–\-]|以来|以后|以前|之后|之前|前后|后|前|代|间|初|底|末|中期|起|度)"
"""Not followed by what makes a date a stretch of time."""

NUMBER = r"(?:\d{1,3}(?:[,，]\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)(?:\s?(?:余|多))?(?:\s?[万亿千百])*"
UNITS = (
    "平方公里|平方千米|平方米|立方米|个工作日|个百分点|个月|个小时|小时|分钟|公里|千米|厘米|毫米|英里"
    "|英尺|公尺|公顷|公斤|公分|"
    "万元|亿元|美元|欧元|港元|日元|人民币|元|平方哩|摄氏度|兆瓦|千瓦|"
    "个|位|名|人|家|所|座|条|项|次|天|日|周|岁|米|吨|克|层|本|部|集|张|场|秒|只|头|棵|种|亩|度|股|户|台"
    "|辆|艘|架|件|套|间|首|枚|颗|支|站|节|册|卷|匹|门|款|年(?![代底初末度级前后以])|%|％"
)

POINTING = re.compile(
    r"[他她它牠祂][们們]?|[该此这那][些个种类年月日时里样次场座部本片剧]?|该|此[外后前时]?|这|那|其(?!他"
    r"|它|中|实)|其[中他它]|本[人身]|"
    r"自己|前者|后者|上述|下述|以下|如下|上文|下文|前述|同[年月日时样]|当[时年日月地]|次[年月日]|翌[年日]"
    r"|今[年天日]|去年|明年|昨[天日]|目前|现在|现时|日前|近日|我[们國国校司]?|你|您"
)
"""Words that point at something outside the sentence."""
OWN = re.compile(
    r"本[作片剧书站校县市区镇乡村线路桥车专辑曲节属种科鱼山湖河岛寺庙楼馆院社团队会条目机型号]"
    r"|[全][县市镇区乡村州省国书片剧线长岛校]"
)
"""本作, 全县: what an article calls the thing that it is about."""


def simplified(text: str) -> str:
    """Return text of the same length in simplified characters."""
    return text.translate(_TO_SIMPLIFIED)


def is_traditional(text: str) -> bool:
    """Say whether text is written in traditional characters: a few are in both scripts."""
    return sum(character in SIMPLIFIED for character in text) >= _TRADITIONAL_FROM


def in_script_of(phrase: str, text: str) -> str:
    """Return the words of a question in the script of the text it is about."""
    return phrase.translate(_TO_TRADITIONAL) if is_traditional(text) else phrase


def first_word_kind(text: str) -> str:
    """Return the part of speech of the first word, by the word segmenter's dictionary (n, v, ns, ...)."""
    tagged = _tagged(text[:16].lstrip("《「“ "))
    return tagged[0][1] if tagged else ""


def is_noun_first(text: str) -> bool:
    """Say whether a sentence begins with what may be its subject: a noun, or a verb with one (交接班记录)."""
    kinds = [kind for _, kind in _tagged(text[:16].lstrip("《「“ "))[:2]]
    return bool(kinds) and (kinds[0] in _NOUNS or (kinds[0] == "v" and len(kinds) > 1 and kinds[1][0] == "n"))


_NOUNS = frozenset({"n", "nr", "ns", "nt", "nz", "nrt", "nrfg", "eng", "l", "vn", "x", "j", "b", "an"})


def last_word_kind(text: str) -> str:
    """Return the part of speech of the last word."""
    tagged = _tagged(text[-12:])
    return tagged[-1][1] if tagged else ""


def _tagged(text: str) -> list[tuple[str, str]]:
    import rjieba  # late: loading the dictionary takes a tenth of a second

    tagged: list[tuple[str, str]] = rjieba.tag(text)
    return tagged
