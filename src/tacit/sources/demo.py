"""The data of Tacit's demo, and the faults deliberately built into the demo's models."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from pathlib import Path

import yaml

from tacit.errors import RequestError

_DATA = Path(str(resources.files("tacit") / "data" / "demo"))

THINGS = _DATA / "things"
"""The demo's folder of drawings: the parts of everyday things and their relations."""

FACTS = _DATA / "facts.tsv"
"""The demo's file of facts as triples: relation, head, tail."""

QUESTIONS = _DATA / "questions.jsonl"
"""The demo's file of questions with five choices each, in the CommonsenseQA layout."""

NORMS = _DATA / "norms.dat"
"""The demo's file of feature production norms, in the layout of the CSLB norms."""

_BY_KIND = {"drawings": THINGS, "facts": FACTS, "questions": QUESTIONS, "norms": NORMS}

Statement = tuple[str, str, str]


def demo_data(kind: str) -> Path:
    """Return the path of a data set of the demo.

    Args:
        kind: The kind of data: ``drawings``, ``facts``, ``questions`` or ``norms``.

    Raises:
        RequestError: If the demo has no data set of the given kind.

    Examples:
        >>> import tacit
        >>> tacit.demo_data("facts").name
        'facts.tsv'
    """
    if kind not in _BY_KIND:
        raise RequestError(f"there is no demo data {kind!r}; expected one of {', '.join(_BY_KIND)}")
    return _BY_KIND[kind]


@dataclass(frozen=True, slots=True)
class Planted:
    """The faults of the demo's models: words withheld in training, and deliberate errors."""

    withheld: frozenset[str]
    wrong: frozenset[Statement]
    contradictions: tuple[tuple[str, tuple[Statement, ...]], ...]


def planted() -> Planted:
    """Return the faults that were built into the demo's models for the probes to find."""
    faults = yaml.safe_load((_DATA / "models" / "planted.yaml").read_text(encoding="utf-8"))
    pairs = ((of["thing"], tuple(map(tuple, of["statements"]))) for of in faults["contradictions"])
    return Planted(
        frozenset(faults["withheld"]), frozenset(map(tuple, faults["wrong"])), tuple(pairs)
    )
