"""Bytes to characters: byte order marks, UTF-8, UTF-16/32, and the legacy encodings of East Asia and Europe.

Does not know formats; HTML asks here after it has looked for its own declaration.
"""

from __future__ import annotations

import codecs
import re
from collections import Counter
from dataclasses import dataclass
from functools import cache

from kaijuan.errors import UnsupportedDocumentError

_MARKS: tuple[tuple[bytes, str], ...] = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark is its beginning
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
    (b"\x84\x31\x95\x33", "gb18030"),
)
_SAMPLE = 1 << 16
"""Bytes that are scored; a guess does not get better with more, and 50 MB files stay fast."""
_SURE = 0.35
_CLEAR_LEAD = 0.08
_HOME_BONUS = 0.1
"""GB18030 is the likeliest legacy encoding of these users' files; decides only between near equals."""
_LEAST_WIDE = 12
_SURE_WIDE = 1.5
_ENOUGH_BYTES = 16
"""Fewer non-ASCII bytes than this prove nothing, however well they read."""
_MAX_NUL_SHARE = 0.001
_MAX_DAMAGE = 0.002

# The most frequent characters of running text cover about half of it; through a wrong decoder they hardly occur.
_FREQUENT = frozenset(
    "的一是不了在人有我他这中大来上国个到说们为子和你地出道也时年得就那要下以生会自着去之过家学对可里后小么心多天而能好"
    "都然没日于起还发成事只作当想看文无开手十用主行方又如前所本见经头面公同三已老从动两长知民样现分将外但身些与高意进把法"
    "此实回二理美点月明其种声全工己话儿者向情部正名定女问力机给等几很业最间新什打便位因重被走电四第门相次东政海口使教西再"
    "平真听世气信北少关并内加化由却代军产入先山五太水万市眼体别处总才场师书比住员九笑性通目华报立马命张活难神数件安表原车"
    "白应路期叫死常提感金何更反合放做系计或司利受光王果亲界及今京务制解各任至清物台象记边共风战干接它许八特觉望直服毛林题"
    "建南度统色字请交爱让认算论百吃义科怎元社术结六功指思非流每青管夫连远资队跟带花快条院变联权往展该领传近留红治决周保达"
    "條規應當國務會員請個為這時後來發說們對開關產業經電機與實現問題過學長無進動種書報車東見門間點體數據處總關係應該資訊軟"
    "的我你他她們說話時候來去過還沒有很會從給讓對這那樣裡後點開關見聽買賣寫讀語車馬鳥魚電腦網頁檔案內容標題圖書館繁體中文"
    "のはをにがでとてもたしいるなれらさこすまかりくあけそうよきっせつちやわえみ人日本年大月中出上者事会社行見時分生方自後的"
    "アイウエオカキクケコサシスセソタチツテトナニハバフマミムメモラリルレロンー"
    "이다는을의에가고를도한로지기사서리인하자어대나시전부정그아수일과해있것라보주스은들"
)
_STRANGE = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f\ue000-\uf8ff\ufffd-\uffff\U000e0000-\U0010ffff]")
_FLANKED = re.compile(r"(?<=[A-Za-z])[\u2e80-\uffef](?=[A-Za-z])")
# Weight of a character by what it is; "*" for encodings not named. Kana in Chinese bytes are mostly chance.
_WEIGHTS: tuple[tuple[re.Pattern[str], dict[str, float]], ...] = (
    (_STRANGE, {"*": -8.0}),
    (re.compile(r"[\uff61-\uff9f]"), {"*": -3.0}),
    (
        re.compile(
            r"[のはをにがでとてもたしいるなれらさこすまかりくあけそうよきっアイウエオカキクケコサシスセソタチツテトナニハ"
            r"バフマミムメモラリルレロンー]"
        ),
        {"*": 2.6},
    ),
    (re.compile(r"[\u3040-\u30ff]"), {"*": 0.6, "cp932": 2.0, "euc_jp": 2.0, "utf-16-le": 2.0, "utf-16-be": 2.0}),
    (re.compile(r"[，。、；：？！“”‘’（）《》〈〉【】「」『』…—·　．－％～]"), {"*": 2.6}),
    (re.compile(r"[\u00a0-\u024f\u2010-\u2044€™]"), {"*": -1.0, "cp1252": 0.7}),
    (re.compile(r"[\uff01-\uff5e]"), {"*": 1.0}),
)
_LONE_ACCENTS = re.compile(r"[\u00a0-\u024f]{3,}")
_NO_CHARSETS = frozenset({"idna", "punycode", "raw-unicode-escape", "unicode-escape"})
"""Codecs of Python for other ends than the text of a file."""
_CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_NEWLINES = re.compile(r"\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    """Characters, the encoding they were read with, and what a reader should know about it."""

    text: str
    encoding: str
    warnings: tuple[str, ...] = ()


def decode(data: bytes, *, declared: str = "") -> Decoded:
    """Return the characters of `data` with newlines as `\\n`, without byte order mark and NULs.

    `declared` is what the format itself says about its encoding; it is believed only where it fits. A guess that
    is not clear, or bytes that no encoding explains, give a warning. Raises UnsupportedDocumentError for binary data.
    """
    mark, encoding = _mark(data)
    if encoding:
        return _strict_or_damaged(data[len(mark) :], encoding, ())
    # Short UTF-16 is often valid UTF-8 by chance, but then full of control characters.
    if _fits(data, "utf-8") and not (_CONTROLS.search(data[:_SAMPLE]) and _wide(data)):
        return _tidy(data.decode("utf-8"), "utf-8", ())
    if wide := _wide(data):
        return _strict_or_damaged(data, wide, ())
    if data.count(0) > len(data) * _MAX_NUL_SHARE:
        raise UnsupportedDocumentError("The content is binary, not text.")
    if _nearly_utf8(data):
        return _strict_or_damaged(data, "utf-8", ())
    encoding, warnings = _guess(data, declared)
    return _strict_or_damaged(data, encoding, warnings)


def peek(data: bytes, size: int = 4096) -> str:
    """Return roughly the first `size` bytes as text for looking at; "" where they are binary."""
    try:
        return decode(data[: size - size % 4]).text
    except UnsupportedDocumentError:
        return ""


def _mark(data: bytes) -> tuple[bytes, str]:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return mark, encoding
    return b"", ""


def _fits(data: bytes, encoding: str) -> bool:
    try:
        data.decode(encoding)
    except UnicodeError:
        return False
    return True


def _nearly_utf8(data: bytes) -> bool:
    """Say whether a few damaged bytes (a cut at the end, a bad paste) are all that keeps it from being UTF-8."""
    sample = data[:_SAMPLE]
    text = sample.decode("utf-8", "replace")
    good = sum(1 for char in text if char > "\x7f" and char != "\ufffd")
    return good >= 3 and text.count("\ufffd") * 4 <= good


def _wide(data: bytes) -> str:
    """Name the UTF-16 or UTF-32 flavour without a byte order mark, or return "".

    Line ends, digits and blanks put NULs at one parity only; text without any of them is told by its characters.
    """
    sample = data[: _SAMPLE - _SAMPLE % 4]
    if len(data) % 2 or len(data) < 4:
        return ""
    if len(data) % 4 == 0:
        for encoding, zeros in (("utf-32-le", sample[3::4]), ("utf-32-be", sample[0::4])):
            if zeros.count(0) == len(zeros) and _score(sample, encoding) > 0:
                return encoding
    best, best_score = "", 0.0
    for encoding in ("utf-16-le", "utf-16-be"):
        score = _score(sample, encoding)
        if score > best_score:
            best, best_score = encoding, score
    if not best or 0 in sample:
        return best
    # Without a single NUL only the characters speak: they must be many, common, and better than any other reading.
    rivals = max(_score(sample, name) for name in ("gb18030", "big5hkscs", "cp932", "euc_kr"))
    return best if len(sample) >= _LEAST_WIDE and best_score >= max(_SURE_WIDE, rivals) else ""


def _guess(data: bytes, declared: str) -> tuple[str, tuple[str, ...]]:
    sample = _telling_sample(data)
    scores = {name: _score(sample, name) for name in ("gb18030", "big5hkscs", "cp932", "euc_jp", "euc_kr", "cp1252")}
    if declared and (known := codec_named(declared)):
        # A declaration decides between close readings, but does not make nonsense right.
        scores[known] = max(scores.get(known, -9.0), _score(sample, known)) + 0.25
    scores["gb18030"] += _HOME_BONUS
    best = max(scores, key=lambda name: scores[name])
    if scores[best] < _SURE and (proposal := _proposal(sample)):
        return proposal, (f"The text encoding was guessed ({proposal}); check that it reads well.",)
    others = [score for name, score in scores.items() if name != best]
    enough = len(re.findall(rb"[\x80-\xff]", sample)) >= _ENOUGH_BYTES
    if enough and scores[best] >= _SURE and scores[best] - max(others) >= _CLEAR_LEAD:
        return best, ()
    return best, (f"The text encoding was guessed ({best}); check that it reads well.",)


def codec_named(name: str) -> str:
    """Return the superset that browsers use for a declared encoding name, or "" when Python knows none."""
    wider = {"gb2312": "gb18030", "gbk": "gb18030", "iso8859-1": "cp1252", "ascii": "cp1252", "shift_jis": "cp932"}
    wider |= {"big5": "big5hkscs", "euc_kr": "cp949"}
    try:
        found = codecs.lookup(name.strip()).name
        "a".encode(found)
    except (LookupError, ValueError):  # also what turns no text into bytes (hex), and names that are no text
        return ""
    return "" if found in _NO_CHARSETS else wider.get(found, found)


def _proposal(sample: bytes) -> str:
    """Ask charset-normalizer, which knows many single-byte alphabets that are not scored here."""
    from charset_normalizer import from_bytes

    best = from_bytes(sample, steps=5, chunk_size=1024).best()
    return best.encoding if best is not None else ""


def _telling_sample(data: bytes) -> bytes:
    """Return a piece that holds non-ASCII bytes; in source code the first Chinese comment may come late."""
    found = re.search(rb"[\x80-\xff]", data)
    if found is None:
        return data[:_SAMPLE]
    start = max(data.rfind(b"\n", 0, found.start()) + 1, found.start() - 256)
    return data[start : start + _SAMPLE]


def _score(sample: bytes, encoding: str) -> float:
    """Return how much `sample` reads like text in `encoding`: about 1 for real text, below 0 for nonsense.

    Method: weight per character by whether it is frequent in running Chinese, Japanese or Korean, merely common
    (level 1 of the national standards, which the codecs order by use), rare, or impossible; divided by the bytes
    that are not ASCII, so that encodings which make more characters of the same bytes gain nothing.
    """
    text = _lenient(sample, encoding)
    if text is None:
        return -9.0
    wide = encoding.startswith("utf-")
    total = 0.0
    counted = 0
    for char, count in Counter(text).items():
        if char <= "\x7f" and not _STRANGE.match(char):
            if wide:
                total += count
                counted += count
            continue
        total += count * _weight(char, encoding)
        counted += count * (1 if wide or char < "\u0250" else 2)
    total -= 4.0 * len(_FLANKED.findall(text))
    if encoding == "cp1252":
        total -= 2.0 * sum(map(len, _LONE_ACCENTS.findall(text)))
    if encoding in {"cp932", "euc_jp"} and not re.search(r"[\u3040-\u30ff]", text):
        total -= 0.5 * counted  # Japanese without any kana is rarer than Chinese
    return total / max(counted, 1)


def _lenient(sample: bytes, encoding: str) -> str | None:
    """Decode a sample whose last character may be cut; None when anything else is wrong."""
    try:
        return codecs.getincrementaldecoder(encoding)("strict").decode(sample)
    except (UnicodeError, LookupError):
        return None


def _weight(char: str, encoding: str) -> float:
    for pattern, weights in _WEIGHTS:
        if pattern.match(char):
            return weights.get(encoding, weights["*"])
    if char in _FREQUENT:
        return 2.6
    return 1.2 if char in _common(encoding) else -1.6


@cache
def _common(encoding: str) -> frozenset[str]:
    """Return the characters of level 1 of the standard behind `encoding` (all levels 1 for Unicode)."""
    rows = {
        "gb18030": ("gb2312", 0xB0, 0xD8),
        "big5hkscs": ("big5", 0xA4, 0xC7),
        "big5": ("big5", 0xA4, 0xC7),
        "euc_jp": ("euc_jp", 0xB0, 0xD0),
        "cp932": ("euc_jp", 0xB0, 0xD0),
        "euc_kr": ("euc_kr", 0xB0, 0xC9),
    }
    if encoding not in rows:
        return frozenset().union(*(_common(name) for name in rows)) if encoding.startswith("utf-") else frozenset()
    codec, first, last = rows[encoding]
    found = set()
    for lead in range(first, last):
        for trail in (*range(0x40, 0x7F), *range(0xA1, 0xFF)):
            char = bytes((lead, trail)).decode(codec, "ignore")
            if len(char) == 1 and char > "\x7f":
                found.add(char)
    return frozenset(found)


def _strict_or_damaged(data: bytes, encoding: str, warnings: tuple[str, ...]) -> Decoded:
    try:
        return _tidy(data.decode(encoding), encoding, warnings)
    except UnicodeError:
        text = data.decode(encoding, "replace")
    damaged = text.count("\ufffd")
    if damaged > max(3, len(text) * _MAX_DAMAGE):
        warnings = (*warnings, f"{damaged} characters could not be read as {encoding}; the text may be garbled.")
    else:
        warnings = (*warnings, f"{damaged} damaged characters were replaced.")
    return _tidy(text, encoding, warnings)


def _tidy(text: str, encoding: str, warnings: tuple[str, ...]) -> Decoded:
    if "\x00" in text:
        if text.count("\x00") > max(8, len(text) * _MAX_NUL_SHARE):
            raise UnsupportedDocumentError("The content is binary, not text.")
        text = text.replace("\x00", "")
    sample = text[:_SAMPLE]
    strange = sum(1 for char in sample if char < "\x20" and char not in "\t\n\r\f\x0b\x1b\x1c\x1d\x1e")
    if strange > max(4, len(sample) * 0.02):
        raise UnsupportedDocumentError("The content is binary, not text.")
    if strange:
        warnings = (*warnings, f"The text holds {strange} control characters; check that it reads well.")
    return Decoded(text=normal_newlines(text.lstrip("\ufeff")), encoding=encoding, warnings=warnings)


def normal_newlines(text: str) -> str:
    """Return `text` with every kind of line end as `\\n`."""
    return _NEWLINES.sub("\n", text)
