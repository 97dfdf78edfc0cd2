"""How wide words are, and how they break into lines."""

from __future__ import annotations

import unicodedata

# Advance widths of DejaVu Sans (Verdana's are the same or less), thousandths of the size, from
# the space to the tilde. Narrower fonts leave room; none that is usual is wider.
_WIDTHS = (
    *(318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337),
    *(636, 636, 636, 636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531),
    *(1000, 684, 686, 698, 770, 632, 575, 775, 752, 295, 295, 656, 557, 863, 748, 787),
    *(603, 787, 695, 635, 611, 732, 684, 989, 685, 611, 685, 390, 337, 390, 838, 500),
    *(500, 613, 635, 550, 635, 615, 352, 635, 634, 278, 278, 579, 278, 974, 634, 612),
    *(635, 635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636, 337, 636, 838),
)
_FIRST, _LAST = " ", "~"
_OTHER, _WIDE = 800, 1000  # other letters; those of East Asia
_BOLD = 1.15
LINE = 1.25  # the height of a line, in sizes


def width_of(words: str, size: float, *, bold: bool = False) -> float:
    """The width of one line in pixels: an upper bound for usual fonts."""
    return sum(map(_width, words)) * size / 1000 * (_BOLD if bold else 1)


def broken(words: str, size: float, width: float) -> list[str]:
    """The words in lines no wider than ``width``; a word that is wider breaks within."""
    lines: list[str] = []
    line = ""
    for word in words.split() or [""]:
        longer = f"{line} {word}" if line else word
        if line and width_of(longer, size) > width:
            lines.append(line)
            longer = word
        while width_of(longer, size) > width and len(longer) > 1:
            fits = max(1, len(_fitting(longer, size, width)))
            lines.append(longer[:fits])
            longer = longer[fits:]
        line = longer
    return [*lines, line]


def shortened(words: str, size: float, width: float) -> str:
    """The words, or as many letters of them as fit with an ellipsis."""
    if width_of(words, size) <= width:
        return words
    dots = "\N{HORIZONTAL ELLIPSIS}"
    return _fitting(words, size, width - width_of(dots, size)) + dots


def _fitting(words: str, size: float, width: float) -> str:
    end = len(words)
    while end and width_of(words[:end], size) > width:
        end -= 1
    return words[:end]


def _width(letter: str) -> int:
    if _FIRST <= letter <= _LAST:
        return _WIDTHS[ord(letter) - ord(_FIRST)]
    if unicodedata.combining(letter):
        return 0
    return _WIDE if unicodedata.east_asian_width(letter) in "WF" else _OTHER
