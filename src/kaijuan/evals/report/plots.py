"""Plots as inline SVG whose text stays text and whose colours are the page's, light or dark."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle
from typing import TYPE_CHECKING, Any, Protocol

from lxml import etree

from kaijuan.errors import MissingExtraError
from kaijuan.evals.report.excerpts import clean

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK, FAINT, RULE = "#0a0b01", "#0a0b02", "#0a0b03"
SERIES = tuple(f"#0a0c{number:02x}" for number in range(1, 9))
"""Stand-ins for colours, which the page's own take the place of."""
BLUE, ORANGE, GREEN, RED, VIOLET, TEAL, PINK, GREY = SERIES
STAGE_COLOURS = (BLUE, ORANGE, VIOLET, GREEN)
VARIANT_COLOURS = (GREY, BLUE, ORANGE, VIOLET, TEAL, PINK, GREEN, RED)
"""The baseline first."""
VARIABLES = {INK: "--ink", FAINT: "--muted", RULE: "--line"} | {
    colour: f"--s{number}" for number, colour in enumerate(SERIES, start=1)
}
VERDICT_COLOURS = {"better": GREEN, "worse": RED, "no significant difference": GREY}
STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    # Names come from users: a "$" in one is a "$", not the beginning of a formula.
    "text.parse_math": False,
    "font.size": 11,
    "text.color": INK,
    "axes.edgecolor": RULE,
    "axes.labelcolor": FAINT,
    "axes.labelsize": 10.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": RULE,
    "grid.linewidth": 0.7,
    "xtick.color": RULE,
    "ytick.color": RULE,
    "xtick.labelcolor": FAINT,
    "ytick.labelcolor": FAINT,
    "lines.linewidth": 2.0,
    "lines.solid_capstyle": "round",
}
WIDTH = 5.0
MOST_LETTERS = 50
"""Of a name in bold that fit beside each other into the width of a plot."""
"""Inches. Narrow, so that the words can still be read when a phone shrinks the plot."""
SVG = "{http://www.w3.org/2000/svg}"
HREF = "{http://www.w3.org/1999/xlink}href"


@dataclass(frozen=True, kw_only=True)
class Mark:
    """One line of an effect plot."""

    name: str
    effect: float
    low: float
    high: float
    verdict: str
    strong: bool
    """Whether it stands for a whole variant; the others belong to the one before."""


def effects(marks: Sequence[Mark], *, id: str, title: str, label: str) -> str:
    """Draw differences to the baseline with their intervals, each named above its line."""
    height = 0.7 + sum(0.52 if mark.strong else 0.38 for mark in marks)
    with _axes(height) as (axes, finished):
        axes.axvline(0, color=FAINT, linewidth=1.2)
        at = 0.0
        for mark in marks:
            at -= 1.3 if mark.strong else 1.0
            colour = VERDICT_COLOURS[mark.verdict]
            axes.plot([mark.low, mark.high], [at, at], color=colour, linewidth=3.2 if mark.strong else 1.6)
            axes.plot([mark.effect], [at], marker="o", markersize=6.5 if mark.strong else 4.5, color=colour)
            axes.annotate(
                shortened(clean(mark.name), MOST_LETTERS if mark.strong else MOST_LETTERS + 6),
                (0, at),
                xycoords=axes.get_yaxis_transform(),
                xytext=(2 if mark.strong else 10, 8),
                textcoords="offset points",
                color=INK if mark.strong else FAINT,
                fontsize=11 if mark.strong else 10,
                fontweight="bold" if mark.strong else "normal",
            )
        axes.set_ylim(at - 0.6, 0.1)
        axes.set_yticks([])
        axes.spines["left"].set_visible(False)
        reach = max([abs(end) for mark in marks for end in (mark.low, mark.high)] + [0.001]) * 1.12
        axes.set_xlim(-reach, reach)
        axes.xaxis.set_major_formatter(lambda value, _: signed(value, 3) if abs(value) > 1e-12 else "0")
        axes.set_xlabel(label)
        return finished(id, title, left=0.04)


def bars(values: Mapping[str, float], *, id: str, title: str, label: str) -> str:
    """Draw one bar a name, its value written at its end."""
    with _axes(0.55 + 0.34 * len(values)) as (axes, finished):
        places = range(len(values), 0, -1)
        axes.barh(
            list(places),
            list(values.values()),
            height=0.62,
            color=[colour for colour, _ in zip(cycle(STAGE_COLOURS), values, strict=False)],
        )
        for place, value in zip(places, values.values(), strict=True):
            axes.text(value + 0.012, place, f"{value:.3f}", va="center", fontsize=10.5)
        axes.set_yticks(list(places), [clean(name) for name in values], color=INK)
        axes.tick_params(length=0)
        axes.set_xlim(0, 1.12)
        axes.set_xticks([0, 0.25, 0.5, 0.75, 1])
        axes.grid(visible=False, axis="y")
        axes.set_xlabel(label)
        return finished(id, title, left=0.03 + 0.026 * max(_width(name) for name in values))


def curves(
    lines: Mapping[str, Sequence[float]],
    *,
    id: str,
    title: str,
    labels: tuple[str, str],
    colours: Sequence[str] = VARIANT_COLOURS,
) -> str:
    """Draw one curve a name over 1, 2, ... on a logarithmic scale; the last is drawn on top."""
    with _axes(3.1) as (axes, finished):
        for colour, values in zip(cycle(colours), lines.values(), strict=False):
            axes.plot(range(1, len(values) + 1), values, color=colour)
        longest = max(len(values) for values in lines.values())
        axes.set_xscale("log")
        axes.set_xticks([tick for tick in (1, 2, 5, 10, 20, 50, 100) if tick <= longest], minor=False)
        axes.set_xticks([], minor=True)
        axes.xaxis.set_major_formatter("{x:.0f}")
        lowest = min(min(values) for values in lines.values())
        axes.set_ylim(max(0.0, lowest - 0.05), 1.02)
        axes.set_xlabel(labels[0])
        axes.set_ylabel(labels[1])
        return finished(id, title, left=0.15)


def shares(samples: Mapping[str, Sequence[float]], *, id: str, title: str, labels: tuple[str, str]) -> str:
    """Draw how large a share of each sample lies below a value; samples are in rising order."""
    with _axes(3.1) as (axes, finished):
        for colour, values in zip(cycle(VARIANT_COLOURS), samples.values(), strict=False):
            heights = [(place + 1) / len(values) for place in range(len(values))]
            axes.step(values, heights, where="post", color=colour)
        # The slowest of a hundred would press all others to the edge.
        last = max(values[min(len(values) - 1, int(len(values) * 0.99))] for values in samples.values())
        axes.set_xlim(0, last * 1.05 or 1)
        axes.set_ylim(0, 1.02)
        axes.set_xlabel(labels[0])
        axes.set_ylabel(labels[1])
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
        return finished(id, title, left=0.15)


class _Finish(Protocol):
    def __call__(self, id: str, title: str, *, left: float) -> str:
        """Return the plot as SVG; `left` is the share of its width that the labels there take."""
        ...


@contextmanager
def _axes(height: float) -> Iterator[tuple[Axes, _Finish]]:
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError(
            "Plots are drawn by matplotlib, which is not installed.", hint="Run: pip install 'kaijuan[eval]'."
        ) from error
    with mpl.rc_context(STYLE), warnings.catch_warnings():
        # Its own fonts lack Chinese; the browser's, which show the text in the end, do not.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure = Figure(figsize=(WIDTH, height))
        axes = figure.add_subplot()

        def finished(id: str, title: str, *, left: float) -> str:
            bottom = 0.5 / height
            figure.subplots_adjust(left=left, right=0.98, top=1 - 0.06 / height, bottom=bottom)
            written = io.BytesIO()
            with mpl.rc_context({"svg.hashsalt": id}):
                figure.savefig(written, format="svg", transparent=True, metadata={"Date": None})
            return _inline(written.getvalue(), id, title)

        yield axes, finished


def _inline(written: bytes, id: str, title: str) -> str:
    """Make what matplotlib wrote fit into a page: no head, no size, names of its own, the page's fonts and colours."""
    root = etree.fromstring(written, etree.XMLParser(resolve_entities=False, no_network=True))
    for element in [*root.iter(f"{SVG}metadata"), *root.iter(f"{SVG}style")]:
        element.getparent().remove(element)
    for name in ("width", "height"):
        del root.attrib[name]
    root.set("role", "img")
    root.set("aria-label", clean(title))
    for element in root.iter():
        if not isinstance(element.tag, str):
            continue
        for name, value in element.attrib.items():
            element.set(name, _renamed(name, value, id))
        if style := element.get("style"):
            element.set("style", _styled(style))
    etree.strip_tags(root, etree.Comment)
    return str(etree.tostring(root, encoding="unicode"))


def _renamed(name: str, value: str, id: str) -> str:
    if name == "id":
        return f"{id}-{value}"
    if name == HREF:
        return f"#{id}-{value.removeprefix('#')}"
    return value.replace("url(#", f"url(#{id}-")


def _styled(style: str) -> str:
    rules = [rule.strip() for rule in style.split(";") if rule.strip()]
    kept = "; ".join(rule for rule in rules if not rule.startswith("font-family"))
    for colour, variable in VARIABLES.items():
        kept = kept.replace(colour, f"var({variable})")
    return kept


def shortened(text: str, most: int) -> str:
    """Return a text at most so many letters wide, without its middle where it is wider: ends tell names apart."""
    if _width(text) <= most:
        return text
    head, tail = len(text), 0
    while _width(text[:head]) > most * 2 // 3:
        head -= 1
    room = most - 1 - _width(text[:head])
    while tail < len(text) - head and _width(text[len(text) - tail - 1 :]) <= room:
        tail += 1
    return f"{text[:head].rstrip()}…{text[len(text) - tail :].lstrip()}"


def signed(value: float, digits: int) -> str:
    """Return a number with its sign, a real minus, and no more digits than it needs."""
    return f"{value:+.{digits}g}".replace("-", "\u2212")


def variable_of(colour: str) -> str:
    """Return the page's variable that a stand-in means."""
    return VARIABLES[colour]


def _width(text: str) -> float:
    """Return about how wide a text is, in letters; Chinese characters are as wide as two."""
    return sum(2 if ord(letter) > 0x2E80 else 1 for letter in text)
