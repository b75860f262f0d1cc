"""Numbers in Han characters, as spreadsheets ([DBNum1], [DBNum2]) and Word's lists write them."""

from __future__ import annotations

_SMALL = ("〇一二三四五六七八九", "十百千", "万亿")
_CAPITAL = ("零壹贰叁肆伍陆柒捌玖", "拾佰仟", "万亿")
_WIDE = "０１２３４５６７８９"
_MOST = 10**16


def han_number(number: int, style: str) -> str:
    """Return a number read out: style "1" as 一百二十, "2" as 壹佰贰拾, "3" in wide digits; others in digits."""
    if style == "3":
        return "".join(_WIDE[int(digit)] if digit.isdigit() else digit for digit in str(number))
    if style not in {"1", "2"} or abs(number) >= _MOST:
        return str(number)
    digits, units, groups = _SMALL if style == "1" else _CAPITAL
    if number < 0:
        return "负" + han_number(-number, style)
    if number == 0:
        return digits[0]
    text = _grouped(number, digits, units, groups)
    # 十二, not 一十二; capitals keep the one (壹拾贰), so that nothing can be added before it.
    return text[1:] if style == "1" and text.startswith("一十") else text


def han_digits(number: int, style: str) -> str:
    """Return a number digit by digit, as years are written: 二〇二四."""
    if style not in {"1", "2"}:
        return han_number(number, style)
    digits = _SMALL[0] if style == "1" else _CAPITAL[0]
    return "".join(digits[int(digit)] for digit in str(number))


def _grouped(number: int, digits: str, units: str, groups: str) -> str:
    for size, name in ((10**8, groups[1]), (10**4, groups[0])):
        if number >= size:
            high, low = divmod(number, size)
            gap = digits[0] if low and low < size // 10 else ""
            return _grouped(high, digits, units, groups) + name + gap + _grouped(low, digits, units, groups)
    return _four(number, digits, units)


def _four(number: int, digits: str, units: str) -> str:
    out = ""
    gap = False
    for power in (3, 2, 1, 0):
        digit = number // 10**power % 10
        if digit:
            out += (digits[0] if gap and out else "") + digits[digit] + (units[power - 1] if power else "")
            gap = False
        else:
            gap = True
    return out
