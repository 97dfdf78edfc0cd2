"""The main results of a run as a flat mapping, for tools that read numbers."""

from __future__ import annotations

import re
from typing import Any

from tacit.findings.block import measured
from tacit.findings.findings import Findings
from tacit.probes.base import Probe, declared_tables


def metrics_of(kind: type[Probe], findings: Findings) -> dict[str, Any]:
    """Return the verdict, and each headline's value, interval, sample size and chance level."""
    found: dict[str, Any] = {}
    if verdict := findings.summary.get("verdict"):
        found[f"{kind.name}/verdict"] = verdict["verdict"]
    for headline in kind.headlines:
        label = re.sub(r" \(.*?\)", "", headline.label)
        for entry in measured(headline, findings, declared_tables(kind)):
            words = " ".join([label, *(str(entry.row[name]) for name in headline.by)])
            name = metric_name(kind, words)
            low, high = entry.ends
            n = headline.size(entry.row)
            beside = {"low": low, "high": high, "n": n, "chance": entry.chance}
            found[name] = entry.value
            found |= {f"{name}_{end}": each for end, each in beside.items() if each is not None}
    return found


def metric_name(kind: type[Probe], label: str) -> str:
    """Return the name of a measure of a probe, such as ``parts/says_true``."""
    return f"{kind.name}/{re.sub(r'[^0-9a-z]+', '_', label.lower()).strip('_')}"
