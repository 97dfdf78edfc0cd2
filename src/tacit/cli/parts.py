"""What the verbs that use the parts probe share: its options, and how it is carried out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.cli.running import digest
from tacit.errors import RequestError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tacit.coherence.ontology import Ontology
    from tacit.probes.figures.charts import Look
    from tacit.probes.findings import Findings
    from tacit.probes.parts.probe import PartsProbe
    from tacit.runs import Run


FROM_FILE = "beliefs from a file"
"""How beliefs that come from elsewhere were obtained."""


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
        from tacit.probes.figures.charts import Look, check_formats

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


def _names(listed: str | None) -> list[str] | None:
    """Names with commas between, as the drawings write them."""
    return None if listed is None else [name.strip().lower() for name in listed.split(",")]


def take_beliefs(
    probe: PartsProbe, beliefs: Path, folder: Run, about: Mapping[str, Any]
) -> Findings:
    """Measures beliefs that come from elsewhere, in a run's folder like a model's.

    Raises:
        DataError: The file is missing or malformed.
    """
    from tacit.probes.parts.elsewhere import answers_in

    answers = answers_in(beliefs, probe.statements, probe.ontology)
    model = {"kind": "beliefs", "name": beliefs.name, "sha256": digest(beliefs)}
    model["obtained"] = FROM_FILE
    folder.begin({"model": model, **about})
    with folder.failing():
        findings = probe.measure_beliefs(answers).obtained(model["obtained"])
        folder.finish(findings)
    return findings
