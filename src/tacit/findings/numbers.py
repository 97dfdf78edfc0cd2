"""Format numbers as text, such as shares in per cent, intervals and undefined values."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from tacit.findings.spec import ColumnKind

UNDEFINED = "undefined"
_MINUS = "\N{MINUS SIGN}"
_SPACE = "\N{NO-BREAK SPACE}"
_ROUNDING = 1e-14  # the largest score that may be 0 but for rounding
_NEGLIGIBLE = 1e-9  # the largest difference of scores that may be due to rounding
_MOST_DECIMALS = 6  # a smaller number is written with an exponent
_SMALLEST = 0.0005  # the smallest share that rounds to a nonzero percentage


def percent(value: float | None) -> str:
    """Return a share (from 0 to 1) as text in per cent, such as ``86.8 %``."""
    if value is None:
        return UNDEFINED
    # A nonzero share must not be shown as 0.0 %.
    small = 0 < value < _SMALLEST
    return f"<{_SPACE}0.1{_SPACE}%" if small else f"{100 * value:.1f}{_SPACE}%"


def size(parameters: int) -> str:
    """Return a parameter count as text with at most three digits, such as 350M or 1.3B.

    Examples:
        >>> size(124_439_808), size(1_300_000_000), size(512)
        ('124M', '1.3B', '512')
    """
    digits = float(f"{parameters:.3g}")
    for unit, letter in ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "K")):
        if digits >= unit:
            return f"{digits / unit:g}{letter}"
    return str(parameters)


def score(value: float | None) -> str:
    """Return a score as text with three decimals; a smaller score with two significant digits.

    Examples:
        >>> score(0.0123), score(0.000264), score(0.0)
        ('0.012', '0.00026', '0.000')
    """
    if value is None:
        return UNDEFINED
    return _decimals(value).replace("-", _MINUS)


def number(value: float | None) -> str:
    """Return a whole number without decimals, and any other number as a score."""
    if value is None or not float(value).is_integer():
        return score(value)
    return f"{value:,.0f}".replace("-", _MINUS)


def _decimals(value: float, negligible: float = _ROUNDING) -> str:
    """Return a number with three decimals; with two significant digits if it rounds to 0.000."""
    text = f"{value:.3f}"
    if float(text) != 0:
        return text
    return "0.000" if abs(value) < negligible else _two_digits(value)


def _two_digits(value: float) -> str:
    """Return a number other than 0 with two significant digits."""
    digits = 1 - math.floor(math.log10(abs(value)))
    if digits <= _MOST_DECIMALS:
        return f"{value:.{max(0, digits)}f}"
    mantissa, exponent = f"{value:.1e}".split("e")
    return f"{mantissa}e{int(exponent)}"


def points(value: float | None) -> str:
    """Return the difference between two shares in percentage points, as text with a sign."""
    if value is None:
        return UNDEFINED
    text = f"{100 * value:+.1f}".replace("-", _MINUS)
    return f"{'0.0' if text[1:] == '0.0' else text} points"


def signed(value: float | None) -> str:
    """Return the difference between two scores, as text with a sign.

    Examples:
        >>> signed(0.0123), signed(0.000052), signed(0.0)
        ('+0.012', '+0.000052', '0.000')
    """
    if value is None:
        return UNDEFINED
    text = _decimals(value, _NEGLIGIBLE)
    plus = "+" if value > 0 and float(text) != 0 else ""
    return f"{plus}{text}".replace("-", _MINUS)


def estimate(
    value: float | None, low: float | None, high: float | None, kind: ColumnKind = "percent"
) -> str:
    """Return a value as text, with its 95 % CI, if there is one, in parentheses."""
    text = formatted(value, kind)
    if value is None or low is None or high is None:
        return text
    return f"{text} (95{_SPACE}% CI {bounds(low, high, kind)})"


def bracketed(
    value: float | None, low: float | None, high: float | None, kind: ColumnKind = "percent"
) -> str:
    """Return a value as text, with the ends of its 95 % CI, if there is one, in brackets."""
    text = formatted(value, kind)
    if value is None or low is None or high is None:
        return text
    return f"{text} [{_bare(low, kind)}, {_bare(high, kind)}]"


def p_value(value: float | None) -> str:
    """Return a p-value as text; a value below 0.001 is returned as "< 0.001"."""
    if value is None:
        return UNDEFINED
    return "< 0.001" if value < _SMALLEST_P else f"{value:.3f}"


def formatted(value: Any, kind: ColumnKind) -> str:  # noqa: ANN401 - a cell of any type
    """Return a table cell as text, in the format for the kind of values in its column."""
    if kind in _WRITTEN:
        return _WRITTEN[kind](value)
    if value is None:
        return "" if kind in {"text", "truth"} else UNDEFINED
    if kind == "truth":
        return "yes" if value else "no"
    return f"{value:,}" if kind == "count" else str(value)


def bounds(low: float, high: float, kind: ColumnKind) -> str:
    """Return both ends of an interval as text; only the upper end is followed by a unit."""
    return f"{_bare(low, kind)} to {formatted(high, kind)}"


def _bare(value: float, kind: ColumnKind) -> str:
    """Return a value as text without its unit."""
    return formatted(value, kind).removesuffix(f"{_SPACE}%").removesuffix(" points")


def evenly_spaced(size: int, kept: int) -> list[int]:
    """Return the indices of a sample of ``kept`` of ``size`` rows, from the first to the last.

    Examples:
        >>> evenly_spaced(9, 3)
        [0, 4, 8]
    """
    return sorted({round(i * (size - 1) / max(1, kept - 1)) for i in range(kept)})


_SMALLEST_P = 0.001
_WRITTEN: Mapping[ColumnKind, Callable[[float | None], str]] = {
    "percent": percent,
    "points": points,
    "score": score,
    "signed": signed,
    "nats": score,
    "number": number,
    "p": p_value,
}
