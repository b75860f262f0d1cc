"""What a cell shows for a number and a format code, by the standard (ECMA-376 part 1, 18.8.31) and by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kaijuan.ingest.parsers.han_numbers import han_number
from kaijuan.ingest.parsers.number_formats import general, shown_number, shown_text


@pytest.mark.parametrize(
    ("value", "code", "shown"),
    [
        (1234.5, "General", "1234.5"),
        (0.1 + 0.2, "General", "0.3"),
        (320102199001011234, "General", "3.20102199001011e+17"),
        (13800138000, "General", "13800138000"),
        (1599.99, "#,##0.00", "1,599.99"),
        (-1599.99, "#,##0.00", "-1,599.99"),
        (-1599.99, "$#,##0.00;[Red]($#,##0.00)", "($1,599.99)"),
        (1234567.891, "¥#,##0.00", "¥1,234,567.89"),
        (1234567.891, "_ [$￥-804]* #,##0.00_ ", "￥1,234,567.89"),
        (0.025, "0%", "3%"),
        (0.025, "0.00%", "2.50%"),
        (0.5, "#.##", ".5"),
        (0, "#.##", ""),
        (5, "000", "005"),
        (198356388, "0.00E+00", "1.98E+08"),
        (0.00012, "0.00E+00", "1.20E-04"),
        (12345, "##0.0E+0", "12.3E+3"),
        (2.5, "# ?/?", "2 1/2"),
        (0.3333, "# ?/?", "1/3"),
        (2.0, "# ?/?", "2"),
        (1234567, '0.0,," 百万"', "1.2 百万"),
        (12345678, '0,"千"', "12346千"),
        (13800138000, "000-0000-0000", "138-0013-8000"),
        (0, '#,##0;-#,##0;"-"', "-"),
        (75, '[>=60]"及格";"不及格"', "及格"),
        (45, '[>=60]"及格";"不及格"', "不及格"),
        (3, '0"个"', "3个"),
        (3, "0\\ kg", "3 kg"),
        (-0.001, "0.00", "0.00"),
        (1, '"是";"否"', "是"),
        (12, "[DBNum1]General", "十二"),
        (10203, "[DBNum2]General", "壹万零贰佰零叁"),
        (float("nan"), "0.00", "nan"),
    ],
)
def test_numbers(value: float, code: str, shown: str) -> None:
    assert shown_number(value, code).strip() == shown


@pytest.mark.parametrize(
    ("value", "code", "shown"),
    [
        (45292, "yyyy-mm-dd", "2024-01-01"),
        (45292, 'yyyy"年"m"月"d"日"', "2024年1月1日"),
        (45292, '[$-804]yyyy"年"m"月"d"日"dddd', "2024年1月1日星期一"),
        (45292, '[DBNum1][$-804]yyyy"年"m"月"d"日"', "二〇二四年一月一日"),
        (45646, '[DBNum1]m"月"d"日"', "十二月二十日"),
        (39219, "d-mmm-yy", "17-May-07"),
        (39219.1805555556, '"At" h:mm AM/PM "on" dddd mmmm d, yyyy', "At 4:20 AM on Thursday May 17, 2007"),
        (0.760416667, "h:mm AM/PM", "6:15 PM"),
        (0.760416667, "h:mm", "18:15"),
        (0.760416667, '上午/下午h"时"mm"分"', "下午6时15分"),
        (1.5, "[h]:mm:ss", "36:00:00"),
        (0.0104166667, "mm:ss", "15:00"),
        (0.00001, "ss.000", "00.864"),
        (45292, "aaaa", "星期一"),
        (45292, "aaa", "周一"),
        (1, "yyyy-m-d", "1900-1-1"),
        (61, "yyyy-m-d", "1900-3-1"),
        (45292.999994, "yyyy-mm-dd hh:mm:ss", "2024-01-01 23:59:59"),
        (-1, "yyyy-mm-dd", "-1"),
        (99999999, "yyyy-mm-dd", "99999999"),
    ],
)
def test_dates(value: float, code: str, shown: str) -> None:
    assert shown_number(value, code) == shown


def test_days_may_be_counted_from_1904() -> None:
    assert shown_number(43830, "yyyy-mm-dd", since_1904=True) == "2024-01-01"


def test_texts_may_be_framed() -> None:
    assert shown_text("甲", "@") == "甲"
    assert shown_text("甲", '0;0;0;"《"@"》"') == "《甲》"
    assert shown_text("甲", "0.00") == "甲"


@pytest.mark.parametrize(
    ("number", "read"),
    [
        (10, "十"),
        (110, "一百一十"),
        (1001, "一千〇一"),
        (100_000, "十万"),
        (1_000_010, "一百万〇一十"),
        (20_0000_0005, "二十亿〇五"),
        (-3, "负三"),
        (0, "〇"),
    ],
)
def test_han_numbers(number: int, read: str) -> None:
    assert han_number(number, "1") == read


CODES = st.text(alphabet='0#?.,%E+-/;[]"\\_*@yYmdhsaegGenralAMP/ :$年月日<>=1', max_size=20)


@given(value=st.floats() | st.integers(-(10**20), 10**20), code=CODES)
def test_any_code_shows_something_and_ends(value: float, code: str) -> None:
    assert isinstance(shown_number(value, code), str)
    assert isinstance(shown_text("x", code), str)


@given(value=st.integers(-(10**14), 10**14))
def test_whole_numbers_are_shown_whole(value: int) -> None:
    assert general(value) == str(value)
    assert shown_number(value, "#,##0").replace(",", "") == str(value)
