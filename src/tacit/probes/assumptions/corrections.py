"""Corrections: a user's file that overrides the wording of properties."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tacit.errors import DataError
from tacit.requests import BLANK
from tacit.sources.norms import Norms, Property
from tacit.sources.wordings import feature_text
from tacit.strings import comparable
from tacit.tables import line_of_row, read_table

_COLUMNS = ("concept", "feature", "wording")


@dataclass(frozen=True, slots=True)
class Correction:
    """A user's wording of a feature, for one concept or for every concept."""

    feature: str
    wording: str
    concept: str | None = None
    line: int = 0

    @property
    def shown(self) -> str:
        """The feature as shown in error messages, preceded by the concept if there is one."""
        whose = "" if self.concept is None else f"{self.concept}: "
        return f"{whose}{self.feature!r}"


def read_corrections(path: Path | str) -> tuple[Correction, ...]:
    """Read corrections from a table; ``concept`` is optional."""
    path = Path(path)
    table = read_table(path, ("feature", "wording"))
    if unknown := sorted(set(table.columns).difference(_COLUMNS)):
        raise DataError(
            f"has unknown columns {', '.join(unknown)}; expected {', '.join(_COLUMNS)} (concept is "
            "optional)",
            path,
            1,
        )
    known: dict[tuple[str | None, str], Correction] = {}
    for at, row in enumerate(table.iter_rows(named=True)):
        concept, feature, wording = (
            " ".join(str(row.get(name) or "").split()) for name in _COLUMNS
        )
        entry = Correction(feature, wording, concept or None, line_of_row(path, at))
        problem = _problem(entry)
        before = known.setdefault(_key(entry.concept, entry.feature), entry)
        if before is not entry:
            problem = problem or f"corrects {entry.shown} again; line {before.line} already does"
        if problem is not None:
            raise DataError(problem, path, entry.line)
    if not known:
        raise DataError(f"contains no correction; expected {', '.join(_COLUMNS)}", path)
    return tuple(known.values())


class Corrections:
    """Corrected wordings of properties, and the corrections that match no property."""

    def __init__(self, norms: Norms, corrections: Sequence[Correction] = ()) -> None:
        read = feature_text if norms.underscored else str
        self._known = {_key(one.concept, read(one.feature)): one for one in corrections}
        there = {_key(None, one.feature) for one in norms.properties}
        there |= {_key(one.concept, one.feature) for one in norms.properties}
        self.unmatched = tuple(entry for key, entry in self._known.items() if key not in there)

    def wording(self, one: Property) -> str | None:
        """Return a property's corrected wording; None if no correction matches the property."""
        for concept in (one.concept, None):
            entry = self._known.get(_key(concept, one.feature))
            if entry is not None:
                return entry.wording
        return None


def _key(concept: str | None, feature: str) -> tuple[str | None, str]:
    return None if concept is None else comparable(concept), comparable(feature)


def _problem(entry: Correction) -> str | None:
    if not entry.feature or not entry.wording:
        return "has no feature or no wording; a correction requires both"
    if "_" in entry.wording:
        return f"has an underscore in the wording {entry.wording!r}; {BLANK} marks a blank"
    if entry.wording.endswith((".", ",", ";")):
        return f"ends the wording {entry.wording!r} with punctuation; the prompt adds its own"
    return None
