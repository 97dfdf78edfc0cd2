"""Tacit shows whether a language model's knowledge of concepts hangs together.

The public names are imported when they are first used, so that importing Tacit takes no time.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tacit.coherence.check import Check, check
    from tacit.coherence.enrich import enrich
    from tacit.coherence.ontology import Ontology, Relation
    from tacit.coherence.repair import Repaired, repair
    from tacit.engine.ask import Engine
    from tacit.engine.store import Store
    from tacit.errors import TacitError
    from tacit.models.base import LanguageModel
    from tacit.models.fake import FakeModel
    from tacit.models.loading import LoadOptions, load_model
    from tacit.probes.parts.probe import PartsProbe
    from tacit.prompts import AnswerScore, LogProbs, Prompt, Votes
    from tacit.rankings import Ranking, RankingPrompt, Standing, Vocabulary
    from tacit.sources.drawings import Drawing, read_drawings

__version__ = "0.1.0"

_WHERE = {
    "AnswerScore": "tacit.prompts",
    "Check": "tacit.coherence.check",
    "Drawing": "tacit.sources.drawings",
    "Engine": "tacit.engine.ask",
    "FakeModel": "tacit.models.fake",
    "LanguageModel": "tacit.models.base",
    "LoadOptions": "tacit.models.loading",
    "LogProbs": "tacit.prompts",
    "Ontology": "tacit.coherence.ontology",
    "PartsProbe": "tacit.probes.parts.probe",
    "Prompt": "tacit.prompts",
    "Ranking": "tacit.rankings",
    "RankingPrompt": "tacit.rankings",
    "Relation": "tacit.coherence.ontology",
    "Repaired": "tacit.coherence.repair",
    "Standing": "tacit.rankings",
    "Store": "tacit.engine.store",
    "TacitError": "tacit.errors",
    "Vocabulary": "tacit.rankings",
    "Votes": "tacit.prompts",
    "check": "tacit.coherence.check",
    "enrich": "tacit.coherence.enrich",
    "load_model": "tacit.models.loading",
    "read_drawings": "tacit.sources.drawings",
    "repair": "tacit.coherence.repair",
}

__all__ = [
    "AnswerScore",
    "Check",
    "Drawing",
    "Engine",
    "FakeModel",
    "LanguageModel",
    "LoadOptions",
    "LogProbs",
    "Ontology",
    "PartsProbe",
    "Prompt",
    "Ranking",
    "RankingPrompt",
    "Relation",
    "Repaired",
    "Standing",
    "Store",
    "TacitError",
    "Vocabulary",
    "Votes",
    "check",
    "enrich",
    "load_model",
    "read_drawings",
    "repair",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever the name stands for
    if name not in _WHERE:
        raise AttributeError(f"module 'tacit' has no attribute {name!r}")
    return getattr(import_module(_WHERE[name]), name)
