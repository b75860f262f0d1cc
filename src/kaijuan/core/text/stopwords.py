"""Function words: kept in every index, because spans need them, but nearly silent in a query."""

from __future__ import annotations


def _words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


ENGLISH = _words("""
    a about after again against all also am an and any are as at be because been before being below between both but
    by can could did do does doing don't down during each few for from further get had has have having he her here
    hers him his how i i'm if in into is isn't it it's its just may me might more most must my no nor not of off on
    once only or other our out over own please same shall she should so some such tell than that the their them then
    there these they this those through to too under until up upon us very was we were what when where whether which
    while who whom whose why will with would you your
    s t d ll re ve don doesn didn isn wasn dont doesnt cant
""")

CHINESE = _words("""
    的 了 在 是 我 有 和 就 不 人 都 一 个 上 也 很 到 说 要 去 你 会 着 没有 看 好 自己 这 那 它 他 她 们 我们 你们
    他们 她们 它们 与 及 以及 或 或者 而 而且 但 但是 并 并且 因为 所以 因此 如果 由 于 由于 对 对于 关于 从 向 把 被
    将 为 为了 以 之 其 等 等等 该 此 这个 那个 这些 那些 这样 那样 这里 那里 吗 呢 吧 啊 呀 嘛 么 什么 怎么 怎样
    怎么样 如何 为什么 为何 哪 哪个 哪些 哪里 哪儿 谁 几 多少 是否 是不是 有没有 能否 可否 能不能 可以 可不可以 能
    应该 需要 请 请问 想 问 一下 一个 一些 一种 还 还是 还有 又 再 才 只 只是 每 各 所 给 让 使 用 做 当 时 时候 中 里
    下 后 前 来 过 地 得 有关 进行 什么样 多 大 些 某 则 即 若 且 啦
""")

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH_NAMES = _words("january february march april may june july august september october november december sept")
ENGLISH_MONTHS = {name: _MONTHS.index(name[:3]) + 1 for name in sorted(_MONTH_NAMES | frozenset(_MONTHS))}
"""English month names, long and short, and their numbers."""

ABBREVIATIONS = _words("""
    mr mrs ms dr prof sr jr st vs etc e.g i.e eg ie cf al dept inc ltd co corp approx est a.m p.m u.s u.k u.n ph.d gen
    col sgt capt rev hon gov sen rep mt ave blvd ed eds resp
""")
"""English words after which a full stop does not end a sentence, without that full stop."""
NUMBERED = _words("""
    fig figs no nos vol pp p ch sec eq art op jan feb mar apr jun jul aug sep sept oct nov dec
""")
"""English words after which a full stop does not end a sentence when a number follows."""
