"""Tacit measures whether a language model's conceptual knowledge is coherent.

The main functions are ``run`` (run one probe), ``suite`` (run several probes) and ``compare``
(compare models). ``check`` and ``repair`` accept beliefs that come from a model or from any other
source. Public names are imported on first use, so that ``import tacit`` is fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tacit.api import build_kb, check, compare, gate, load_model, load_run, repair, run, suite
    from tacit.charts.shown import Shown
    from tacit.coherence.check import Check
    from tacit.coherence.enrich import enrich
    from tacit.coherence.ontology import Ontology
    from tacit.coherence.relation import Relation
    from tacit.coherence.repair import Repaired
    from tacit.engine.ask import Engine
    from tacit.engine.store import Store
    from tacit.errors import TacitError
    from tacit.findings.block import Block
    from tacit.findings.display import Details, FigureSpec, Headline, figure
    from tacit.findings.findings import Findings
    from tacit.findings.spec import Column, Layout, TableSpec
    from tacit.models.base import LanguageModel
    from tacit.models.fake import FakeModel
    from tacit.models.openai.options import ServerOptions
    from tacit.models.options import LoadOptions
    from tacit.options import option, template
    from tacit.probes.base import Answers, Probe, Requests
    from tacit.probes.shares import ShareProbe, share
    from tacit.requests import (
        AnswerScore,
        Prompt,
        Ranking,
        RankingPrompt,
        Sample,
        Samples,
        SamplingPrompt,
        Scores,
        Standing,
        Vocabulary,
        Votes,
    )
    from tacit.runs.gate.gate import Gate
    from tacit.runs.run import Run, Runs
    from tacit.sources.demo import demo_data
    from tacit.sources.drawings import Drawing, read_drawings
    from tacit.tables import read_table
    from tacit.training import TrainerCallback
    from tacit.version import __version__

_MODULES = {
    "tacit.api": (
        *("build_kb", "check", "compare", "gate", "load_model", "load_run"),
        *("repair", "run", "suite"),
    ),
    "tacit.coherence.check": ("Check",),
    "tacit.coherence.enrich": ("enrich",),
    "tacit.coherence.ontology": ("Ontology",),
    "tacit.coherence.relation": ("Relation",),
    "tacit.coherence.repair": ("Repaired",),
    "tacit.engine.ask": ("Engine",),
    "tacit.engine.store": ("Store",),
    "tacit.errors": ("TacitError",),
    "tacit.findings.block": ("Block",),
    "tacit.findings.display": ("Details", "FigureSpec", "Headline", "figure"),
    "tacit.findings.findings": ("Findings",),
    "tacit.findings.spec": ("Column", "Layout", "TableSpec"),
    "tacit.models.base": ("LanguageModel",),
    "tacit.models.fake": ("FakeModel",),
    "tacit.models.openai.options": ("ServerOptions",),
    "tacit.models.options": ("LoadOptions",),
    "tacit.options": ("option", "template"),
    "tacit.probes.base": ("Answers", "Probe", "Requests"),
    "tacit.probes.shares": ("ShareProbe", "share"),
    "tacit.tables": ("read_table",),
    "tacit.charts.figures": ("marks_by",),
    "tacit.charts.shown": ("Shown",),
    "tacit.requests": (
        *("AnswerScore", "Prompt", "Ranking", "RankingPrompt", "Sample", "Samples"),
        *("SamplingPrompt", "Scores", "Standing", "Vocabulary", "Votes"),
    ),
    "tacit.runs.gate.gate": ("Gate",),
    "tacit.runs.run": ("Run", "Runs"),
    "tacit.sources.demo": ("demo_data",),
    "tacit.sources.drawings": ("Drawing", "read_drawings"),
    "tacit.training": ("TrainerCallback",),
    "tacit.version": ("__version__",),
}
_WHERE = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "AnswerScore",
    "Answers",
    "Block",
    "Check",
    "Column",
    "Details",
    "Drawing",
    "Engine",
    "FakeModel",
    "FigureSpec",
    "Findings",
    "Gate",
    "Headline",
    "LanguageModel",
    "Layout",
    "LoadOptions",
    "Ontology",
    "Probe",
    "Prompt",
    "Ranking",
    "RankingPrompt",
    "Relation",
    "Repaired",
    "Requests",
    "Run",
    "Runs",
    "Sample",
    "Samples",
    "SamplingPrompt",
    "Scores",
    "ServerOptions",
    "ShareProbe",
    "Shown",
    "Standing",
    "Store",
    "TableSpec",
    "TacitError",
    "TrainerCallback",
    "Vocabulary",
    "Votes",
    "__version__",
    "build_kb",
    "check",
    "compare",
    "demo_data",
    "enrich",
    "figure",
    "gate",
    "load_model",
    "load_run",
    "marks_by",
    "option",
    "read_drawings",
    "read_table",
    "repair",
    "run",
    "share",
    "suite",
    "template",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - any public object
    if name not in _WHERE:
        raise AttributeError(f"module 'tacit' has no attribute {name!r}")
    return getattr(import_module(_WHERE[name]), name)


def __dir__() -> list[str]:
    return [*__all__]
