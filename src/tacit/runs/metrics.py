"""The main results of a run as a flat mapping, for tools that read numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tacit.findings.block import Entry, measured
from tacit.findings.display import Headline
from tacit.findings.findings import Findings
from tacit.probes.base import Probe, declared_tables


@dataclass(frozen=True)
class Metric:
    """A value that a headline shows, and its name, such as ``parts/accuracy``."""

    name: str
    headline: Headline
    entry: Entry

    @property
    def n(self) -> int | None:
        """The sample size; None if it is not declared."""
        return self.headline.size(self.entry.row)


def main_metrics(kind: type[Probe], findings: Findings) -> Iterator[Metric]:
    """Yield each value of the headlines, those that are not defined included."""
    for headline in kind.headlines:
        label = re.sub(r" \(.*?\)", "", headline.label)
        for entry in measured(headline, findings, declared_tables(kind)):
            words = " ".join([label, *(str(entry.row[name]) for name in headline.by)])
            yield Metric(metric_name(kind, words), headline, entry)


def metrics_of(kind: type[Probe], findings: Findings) -> dict[str, Any]:
    """Return the verdict, and each headline's value, interval, sample size and chance level."""
    metrics: dict[str, Any] = {}
    if verdict := findings.summary.get("verdict"):
        metrics[f"{kind.name}/verdict"] = verdict["verdict"]
    for one in main_metrics(kind, findings):
        low, high = one.entry.ends
        beside = {"low": low, "high": high, "n": one.n, "chance": one.entry.chance}
        metrics[one.name] = one.entry.value
        metrics |= {f"{one.name}_{end}": each for end, each in beside.items() if each is not None}
    return metrics


def metric_name(kind: type[Probe], label: str) -> str:
    """Return the name of a measure of a probe, such as ``parts/says_true``."""
    return f"{kind.name}/{re.sub(r'[^0-9a-z]+', '_', label.lower()).strip('_')}"


def numbers_in(metrics: Mapping[str, Any]) -> dict[str, float]:
    """Return the values that are numbers, for programs that accept no others."""
    return {name: value for name, value in metrics.items() if isinstance(value, int | float)}
