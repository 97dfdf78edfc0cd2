"""What the verbs that use the parts probe share: its options, and how it is carried out."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.errors import RequestError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from tacit.coherence.ontology import Ontology
    from tacit.engine.ask import Engine
    from tacit.probes.charts import Look
    from tacit.probes.findings import Findings
    from tacit.probes.parts.probe import PartsProbe
    from tacit.runs import Run


@dataclass(frozen=True)
class PartsOptions:
    """What is asked about, and how it is put.

    Args:
        drawings: A folder of drawings, an annotations file, or a file of things and parts.
        things: Only these things, with commas between.
        limit: Only the first so many drawings.
        preset: The preset of the prompt.
        prompt: A template of one's own, in place of a preset.
        number: The preset of number and article.
        nouns: Exceptions of one's own to the rules of number and article.
    """

    drawings: Path
    things: str | None = None
    limit: int | None = None
    preset: str = "plain"
    prompt: Path | None = None
    number: str = "paper"
    nouns: Path | None = None

    def probe(self) -> PartsProbe:
        """The probe that these options describe.

        Raises:
            RequestError: A preset is unknown, or two templates are given.
            DataError: A file is missing or malformed.
        """
        from tacit.probes.parts.probe import PartsProbe
        from tacit.probes.parts.template import Template
        from tacit.probes.parts.wording import Wording

        if self.prompt is not None and self.preset != "plain":
            raise RequestError("--preset and --prompt both say how to put a question; give one")
        template = Template.read(self.prompt) if self.prompt else Template.load(self.preset)
        wording = Wording.of(self.number, self.nouns)
        probe = PartsProbe.read(self.drawings, _names(self.things), self.limit)
        return replace(probe, template=template, wording=wording)

    def request(self) -> dict[str, Any]:
        """What a run's ``run.yaml`` says of them."""
        return {
            "drawings": str(self.drawings),
            "things": _names(self.things),
            "limit": self.limit,
            "preset": self.preset if self.prompt is None else None,
            "prompt": None if self.prompt is None else str(self.prompt),
            "number": self.number,
            "nouns": None if self.nouns is None else str(self.nouns),
        }

    def files(self) -> list[Path]:
        """Each file that is read."""
        from tacit.sources.drawings import files_of

        return [*files_of(self.drawings), *(f for f in (self.prompt, self.nouns) if f is not None)]

    def digests(self) -> dict[str, str]:
        """SHA-256 of each file that is read, by its path as it was given."""
        return {str(file): digest(file) for file in self.files()}


@dataclass(frozen=True)
class Sheet:
    """The figures that a person asked for.

    Args:
        formats: Some of svg, png and pdf; none draws nothing.
        look: The palette.
        drawings: The (thing, annotator) to draw as graphs; None for one typical drawing.
        ontology: The relations.
    """

    formats: tuple[str, ...]
    look: Look
    drawings: tuple[tuple[str, str], ...] | None
    ontology: Ontology

    @classmethod
    def of(cls, formats: str | None, palette: str, graphs: str | None, probe: PartsProbe) -> Sheet:
        """Reads the options, so that a mistake is found before any work.

        Raises:
            RequestError: A format, the palette or a thing is not known.
        """
        from tacit.probes.charts import Look, check_formats

        look = Look(palette)
        chosen = tuple(part.strip() for part in formats.split(",")) if formats else ()
        check_formats(chosen)
        _ = look.colours  # refuses an unknown one
        if graphs is not None and not chosen:
            raise RequestError("--graphs is for --figures, which says in what format to draw")
        if graphs is None:
            return cls(chosen, look, None, probe.ontology)
        things = _names(graphs) or []
        unknown = sorted(set(things) - {drawing.thing for drawing in probe.drawings})
        if unknown:
            raise RequestError(
                f"--graphs names {', '.join(unknown)}, which the drawings do not have"
            )
        drawings = tuple((d.thing, d.annotator) for d in probe.drawings if d.thing in things)
        return cls(chosen, look, drawings, probe.ontology)

    def draw(self, findings: Findings, folder: Path) -> None:
        """Writes the figures.

        Raises:
            WorkError: A file cannot be written.
        """
        if not self.formats:
            return
        from tacit.probes.parts.figures import write_figures

        write_figures(
            findings.tables, self.ontology, folder, self.formats, self.look, self.drawings
        )


def digest(file: Path) -> str:
    """A file's SHA-256."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _names(listed: str | None) -> list[str] | None:
    """Names with commas between, as the drawings write them."""
    return None if listed is None else [name.strip().lower() for name in listed.split(",")]


def folders_of(models: Sequence[str], out: Path, request: Mapping[str, Any]) -> dict[str, Run]:
    """Each model's run: in ``out`` itself, or with several models in a folder of it named so.

    Raises:
        RequestError: A model is named twice, or a folder holds another run.
    """
    from tacit.runs import Run

    if len(set(models)) < len(models):
        raise RequestError("a model is named twice")
    if len(models) == 1:
        return {models[0]: Run(out, {**request, "model": models[0]})}
    if models and (out / "run.yaml").exists():
        raise RequestError(f"{out} holds the run of one model: choose another --out for several")
    taken: set[str] = set()
    folders: dict[str, Run] = {}
    for name in models:
        place = _folder_name(name, taken)
        taken.add(place.casefold())
        folders[name] = Run(out / place, {**request, "model": name})
    return folders


def _folder_name(model: str, taken: Collection[str]) -> str:
    """A name for a model's folder that no other has, on file systems without case either."""
    place = Path(model)
    name = re.sub(r"[^\w.-]+", "-", place.resolve().name if place.is_dir() else model).strip(".")
    candidates = (f"{name}-{n}" if n > 1 else name for n in count(1))
    return next(candidate for candidate in candidates if candidate.casefold() not in taken)


def ask_a_model(
    probe: PartsProbe, engine: Engine, folder: Run, about: Mapping[str, Any]
) -> Findings:
    """Asks what the probe asks, measures, and keeps the run's folder true to how it went.

    Args:
        probe: What to ask, and how to measure it.
        engine: Whom to ask.
        folder: The run; nothing is written in it before all prompts are known to be scorable.
        about: What the manifest says beside the model.
    """
    from tacit.cli import asking

    plan = engine.plan(probe.prompts, folder.blocks)
    folder.begin({"model": dict(engine.model.description), **about})
    with folder.failing():
        plan.record(folder.blocks)
        findings = probe.measure(asking.ask(engine, probe.prompts, plan))
        folder.finish(findings)
    return findings


def take_beliefs(
    probe: PartsProbe, beliefs: Path, folder: Run, about: Mapping[str, Any]
) -> Findings:
    """Measures beliefs that come from elsewhere, in a run's folder like a model's.

    Raises:
        DataError: The file is missing or malformed.
    """
    from tacit.probes.parts.elsewhere import answers_in

    answers = answers_in(beliefs, probe.questions, probe.ontology)
    model = {"kind": "beliefs", "name": beliefs.name, "sha256": digest(beliefs)}
    folder.begin({"model": model, **about})
    with folder.failing():
        findings = probe.measure_beliefs(answers)
        folder.finish(findings)
    return findings
