"""What ``tacit run assumptions`` shares with nobody: its options, its models' words, its runs."""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import typer

from tacit.cli.engines import EngineOptions
from tacit.cli.running import about_engine, digest, echo_json
from tacit.errors import RequestError
from tacit.prompts import missing_by_reason

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tacit.engine.ask import Engine
    from tacit.engine.store import Store
    from tacit.models.loading import LoadOptions
    from tacit.probes.assumptions.filters import Articles, ConceptPreset
    from tacit.probes.assumptions.probe import (
        AssumptionsProbe,
        Candidates,
        CausalWording,
        Choices,
    )
    from tacit.probes.assumptions.responses import ResponsePreset
    from tacit.probes.figures.charts import Look
    from tacit.probes.findings import Findings
    from tacit.prompts import Prompt
    from tacit.runs import Run
    from tacit.sources.norms import Norms


_VOCABULARIES = ("shared", "own", "concepts")


@dataclass(frozen=True)
class AssumptionsOptions:
    """What is asked of models, as the command line says it.

    Args:
        norms: The norms' file.
        corrections: A person's own wordings.
        vocabulary: ``shared``, ``own`` or ``concepts``, as for ``Choices``; else a file of words.
        wording: The wording for causal models, as ``Choices.causal``.
        articles: As for ``Choices``.
        orders: As for ``Choices``.
        concepts: As for ``Choices``.
        responses: As for ``Choices``.
        least: As for ``Choices``.
        least_people: The least production frequency of a property.
        most_words: The most words of a property's wording.
        limit: Only the first so many concepts.
        top: How many of the best candidates are kept.
        seed: Where the draws of the random baseline begin.
    """

    norms: Path
    corrections: Path | None = None
    vocabulary: str = "shared"
    wording: str = "blank-last"
    articles: str = "fixed"
    orders: str = "all"
    concepts: str = "paper"
    responses: str = "people"
    least: int = 10
    least_people: int = 0
    most_words: int | None = None
    limit: int | None = None
    top: int = 20
    seed: int = 0

    def choices(self) -> Choices:
        """The probe's choices.

        Raises:
            RequestError: An option is unknown, or two do not go together.
            DataError: The corrections or the vocabulary are missing or malformed.
        """
        from tacit.probes.assumptions.corrections import read_corrections
        from tacit.probes.assumptions.probe import Choices
        from tacit.probes.assumptions.properties import Limits
        from tacit.probes.assumptions.words import read_words

        file = self.vocabulary_file
        return Choices(
            vocabulary="file" if file else cast("Candidates", self.vocabulary),
            words=read_words(file) if file else None,
            causal=cast("CausalWording", self.wording),
            articles=cast("Articles", self.articles),
            orders=self.orders,
            concepts=cast("ConceptPreset", self.concepts),
            responses=cast("ResponsePreset", self.responses),
            least=self.least,
            limits=Limits(self.least_people, self.most_words),
            corrections=read_corrections(self.corrections) if self.corrections else (),
            limit=self.limit,
            top=self.top,
            seed=self.seed,
        )

    @property
    def vocabulary_file(self) -> Path | None:
        """The file of the vocabulary; None where it is no file.

        Raises:
            RequestError: There is neither such a vocabulary nor such a file.
        """
        if self.vocabulary in _VOCABULARIES:
            return None
        if not Path(self.vocabulary).is_file():
            raise RequestError(
                f"the vocabulary {self.vocabulary!r} is none of {', '.join(_VOCABULARIES)}, and "
                "there is no such file"
            )
        return Path(self.vocabulary)

    def request(self) -> dict[str, Any]:
        """What a run's ``run.yaml`` says of them."""
        told = asdict(self)
        paths = {key: str(value) for key, value in told.items() if isinstance(value, Path)}
        return {**told, **paths}

    def digests(self) -> dict[str, str]:
        """SHA-256 of each file that is read."""
        files = (self.norms, self.corrections, self.vocabulary_file)
        return {str(file): digest(file) for file in files if file is not None}


@dataclass(frozen=True)
class AssumptionsJob:
    """The probe, to be run on models that are compared.

    Args:
        probes: Each model's own probe, by the model's name.
        folders: Each model's run.
        about: What the manifest says beside the model.
        loading: How models are loaded.
        store: Where scores are kept.
        engine: Who asks them.
    """

    probes: Mapping[str, AssumptionsProbe]
    folders: Mapping[str, Run]
    about: Mapping[str, Any]
    loading: LoadOptions
    store: Store
    engine: EngineOptions = field(default_factory=EngineOptions)

    def run(self) -> dict[Path, tuple[str, Findings]]:
        """Each model's folder, its name and what it shows."""
        return {
            folder.folder: (name, self._ask(self.probes[name], self._engine(name), folder))
            for name, folder in self.folders.items()
        }

    def estimate(self) -> dict[str, dict[str, Any]]:
        """What would be asked of each model, and about how long it would take."""
        from tacit.cli.asking import estimate, estimate_ranking

        told = {}
        for name, folder in self.folders.items():
            engine, probe = self._engine(name), self.probes[name]
            told[name] = estimate_ranking(engine, probe.rankings, folder.ranking_blocks)
            if probe.prompts:
                told[f"{name}, word by word"] = estimate(engine, probe.prompts, folder.blocks)
        return told

    def _engine(self, name: str) -> Engine:
        return self.engine.start(name, self.loading, self.store)

    def _ask(self, probe: AssumptionsProbe, engine: Engine, folder: Run) -> Findings:
        """As ``running.ask_a_model``, with what is ranked beside what is scored."""
        from tacit.cli import asking

        scored = engine.plan(probe.prompts, folder.blocks)
        ranked = engine.plan_rankings(probe.rankings, folder.ranking_blocks)
        folder.begin(about_engine(engine) | dict(self.about))
        with folder.failing():
            scored.record(folder.blocks)
            ranked.record(folder.ranking_blocks)
            rankings = asking.rank(engine, probe.rankings, ranked)
            scores = asking.ask(engine, probe.prompts, scored) if probe.prompts else []
            findings = probe.measure(scores, rankings).unscored(missing_by_reason(scores))
            findings = findings.skipped([*ranked.skipped.items(), *scored.skipped.items()])
            findings = findings.obtained(engine.model.description.get("obtained"))
            folder.finish(findings)
        return findings


def probes_of(
    models: Sequence[str], norms: Norms, choices: Choices, loading: LoadOptions
) -> dict[str, AssumptionsProbe]:
    """Each model's probe; their words are read first, since they are compared on shared ones.

    Raises:
        ModelError: A model cannot be loaded.
        RequestError: The models share no word, or no concept passes the filters.
    """
    from tacit.cli.asking import hush
    from tacit.models.loading import words_of
    from tacit.probes.assumptions.probe import AssumptionsProbe
    from tacit.probes.assumptions.words import Words

    hush()
    told = {name: words_of(name, loading) for name in models}
    words = Words.of({name: vocabulary for name, (_, vocabulary) in told.items()})
    worded = choices.worded(norms)
    return {
        name: AssumptionsProbe(worded, words, name, kind, choices)
        for name, (kind, _) in told.items()
    }


def first_prompts(probe: AssumptionsProbe, first: int | None) -> list[Prompt]:
    """The first prompts of retrieval and of elicitation, with the words looked for as answers.

    All of them when ``first`` is None.
    """
    retrieval = [one for part in probe.retrievals for one in part.rankings]
    elicited = (probe.eliciting.rankings[:first], probe.prince.rankings[:first])
    asked = [one for part in elicited for one in part]
    return [
        *(one.asking(one.targets[:1]) for one in retrieval[:first]),
        *(one.asking(one.targets) for one in asked if one.targets),
        *probe.prompts[:first],
    ]


def echo_found(
    found: Mapping[Path, tuple[str, Findings]],
    out: Path,
    formats: tuple[str, ...],
    look: Look,
    *,
    as_json: bool,
) -> None:
    """Draws the figures beside the runs, and prints what each model showed and how they differ."""
    from tacit.cli.assumptions_comparison import echo_comparison
    from tacit.cli.assumptions_table import echo_assumptions
    from tacit.cli.obtained import warn_of_ways, ways_of, ways_told, with_ways
    from tacit.probes.assumptions.compare import compare, different_questions
    from tacit.probes.assumptions.figures import write_figures
    from tacit.tables import write_table

    named = dict(found.values())
    if formats:
        write_figures(named, out / "figures", formats, look)
    ways, together = ways_of(found), None
    if len(named) > 1:
        warn_of_ways("assumptions", ways)
        asked = {name: findings.summary["wordings"] for name, findings in named.items()}
        for warning in different_questions(asked):
            sys.stderr.write(f"tacit: {warning}\n")
        together = with_ways(compare(named), ("model_a", "model_b"), ways)
        write_table(together, out / "comparison.parquet")
    if as_json:
        echo_json(found, comparison=[] if together is None else together.to_dicts())
        return
    for folder, (name, findings) in found.items():
        echo_assumptions(findings, name)
        typer.echo(f"Written: {folder}")
    if together is not None:
        echo_comparison(together)
        typer.echo(ways_told(ways))
