"""Numbers as people read them: shares in per cent, intervals, counts; words where undefined."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tacit.findings.spec import Kind

UNDEFINED = "undefined"
_MINUS = "\N{MINUS SIGN}"
_SPACE = "\N{NO-BREAK SPACE}"
_SMALLEST = 0.0005  # of a share that shows in per cent


def percent(value: float | None) -> str:
    """A share in per cent."""
    if value is None:
        return UNDEFINED
    # What is not nought is not written as nought.
    small = 0 < value < _SMALLEST
    return f"<{_SPACE}0.1{_SPACE}%" if small else f"{100 * value:.1f}{_SPACE}%"


def level(value: float) -> str:
    """The level of an interval, in whole per cent."""
    return f"{100 * value:.0f}{_SPACE}%"


def score(value: float | None) -> str:
    """A score, as a decimal."""
    if value is None:
        return UNDEFINED
    text = f"{value:.3f}"
    return "0.000" if text == "-0.000" else text.replace("-", _MINUS)


def points(value: float | None) -> str:
    """A difference of shares, in percentage points with its sign."""
    if value is None:
        return UNDEFINED
    text = f"{100 * value:+.1f}".replace("-", _MINUS)
    return f"{'0.0' if text[1:] == '0.0' else text} points"


def signed(value: float | None) -> str:
    """A difference of scores, as a decimal with its sign."""
    if value is None:
        return UNDEFINED
    text = f"{value:+.3f}".replace("-", _MINUS)
    return "0.000" if text[1:] == "0.000" else text


def interval(low: float | None, high: float | None, how: Callable[[float], str] = percent) -> str:
    """Both ends; words where there is no interval."""
    if low is None or high is None:
        return "no interval"
    first = how(low).removesuffix(f"{_SPACE}%").removesuffix(" points")
    return f"95{_SPACE}% CI {first} to {how(high)}"


def estimate(
    row: Mapping[str, Any], name: str = "value", how: Callable[[float | None], str] = percent
) -> str:
    """A figure with its interval in brackets, of a row that holds ``low`` and ``high``."""
    value = row[name]
    if value is None:
        return UNDEFINED
    if row["low"] is None or row["high"] is None:
        return how(value)
    return f"{how(value)} ({interval(row['low'], row['high'], how)})"


def p_value(value: float | None) -> str:
    """A p-value; those below 0.001 are not told apart."""
    if value is None:
        return UNDEFINED
    return "< 0.001" if value < _SMALLEST_P else f"{value:.3f}"


def formatted(value: Any, kind: Kind) -> str:  # noqa: ANN401 - a cell of any type
    """A cell of a column of some kind; a missing text or truth is empty."""
    if kind in _WRITTEN:
        return _WRITTEN[kind](value)
    if value is None:
        return "" if kind in {"text", "truth"} else UNDEFINED
    if kind == "truth":
        return "yes" if value else "no"
    return f"{value:,}" if kind == "count" else str(value)


def bounds(low: float, high: float, kind: Kind) -> str:
    """Both ends of an interval of a column of some kind, the unit once."""
    first = formatted(low, kind).removesuffix(f"{_SPACE}%").removesuffix(" points")
    return f"{first} to {formatted(high, kind)}"


_SMALLEST_P = 0.001
_WRITTEN: Mapping[Kind, Callable[[float | None], str]] = {
    "percent": percent,
    "points": points,
    "score": score,
    "signed": signed,
    "nats": score,
    "number": score,
    "p": p_value,
}
