"""What the verbs that use the consistency probe share: its options, and what it found."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import typer

from tacit.cli.options import listed
from tacit.cli.running import digest, echo_json
from tacit.errors import RequestError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tacit.cli.background import BackgroundOptions
    from tacit.probes.consistency.answering import Method, Preset
    from tacit.probes.consistency.probe import ConsistencyProbe
    from tacit.probes.figures.charts import Look
    from tacit.probes.findings import Findings


@dataclass(frozen=True)
class ConsistencyOptions:
    """What is asked about, how it is put, and how answers are read.

    Args:
        questions: The anchors' file.
        kb: The knowledge base's file.
        limit: Only the first so many anchors.
        background: How backgrounds are extracted.
        wording: The preset of the wording.
        templates: Relations of one's own.
        answering: How a yes/no question is answered.
        meta: The meta-prompt, for single.
        pair: The pair, for single.
        anchoring: How anchors are answered.
    """

    questions: Path
    kb: Path
    limit: int | None
    background: BackgroundOptions
    wording: str = "paper"
    templates: Path | None = None
    answering: str = "max"
    meta: int | None = None
    pair: str | None = None
    anchoring: str = "choice"

    def probe(self) -> ConsistencyProbe:
        """The probe that these options describe.

        Raises:
            RequestError: An option is unknown, or nothing can be asked.
            DataError: A file is missing or malformed.
        """
        from tacit.knowledge.background import background
        from tacit.knowledge.base import KnowledgeBase
        from tacit.probes.consistency.probe import ConsistencyProbe, Reading
        from tacit.probes.consistency.template import load_templates
        from tacit.probes.consistency.wording import wording
        from tacit.sources.anchors import read_anchors

        reading = Reading(self._method(), listed(self.anchoring))
        worded, templates = wording(self.wording), load_templates(self.templates)
        extraction = self.background.extraction()
        anchors = read_anchors(self.questions)[: self.limit]
        with KnowledgeBase(self.kb) as base:
            texts = [(anchor.question, *anchor.choices) for anchor in anchors]
            found = background(base, texts, extraction)
        version = self.background.version
        return ConsistencyProbe(anchors, found, templates, worded, version, reading)

    def _method(self) -> Method:
        from tacit.probes.consistency.answering import Method

        pair = None if self.pair is None else tuple(self.pair.split("/"))
        if pair is not None and len(pair) != 2:  # noqa: PLR2004 - a pair
            raise RequestError(f"the pair {self.pair!r} is not two words with / between: Yes/No")
        return Method(cast("Preset", self.answering), self.meta, cast("Any", pair))

    def request(self) -> dict[str, Any]:
        """What a run's ``run.yaml`` says of them."""
        return {
            "questions": str(self.questions),
            "kb": str(self.kb),
            "limit": self.limit,
            **asdict(self.background),
            "wording": self.wording,
            "templates": None if self.templates is None else str(self.templates),
            "answering": self.answering,
            "meta": self.meta,
            "pair": self.pair,
            "anchors": self.anchoring,
        }

    def digests(self) -> dict[str, Any]:
        """SHA-256 of each file that is read; of a knowledge base, what it says of its sources."""
        from tacit.knowledge.base import KnowledgeBase

        with KnowledgeBase(self.kb) as base:
            about = dict(base.about)
        files = [self.questions, *([self.templates] if self.templates else [])]
        return {**{str(file): digest(file) for file in files}, str(self.kb): about}


def echo_found(
    found: Mapping[Path, tuple[str, Findings]],
    out: Path,
    formats: tuple[str, ...],
    look: Look,
    *,
    as_json: bool,
) -> None:
    """Draws the figures beside the runs, and prints what each model showed."""
    from tacit.cli.consistency_table import echo_consistency
    from tacit.cli.obtained import warn_of_ways, ways_of

    warn_of_ways("consistency", ways_of(found))
    _draw(found, out, formats, look)
    if as_json:
        echo_json(found)
        return
    for folder, (name, findings) in found.items():
        echo_consistency(findings, name)
        typer.echo(f"Written: {folder}")


def _draw(
    found: Mapping[Path, tuple[str, Findings]], out: Path, formats: tuple[str, ...], look: Look
) -> None:
    """The figures of all models together, in the folder that holds their runs."""
    if not formats:
        return
    from tacit.probes.consistency.figures import write_figures

    sizes = {}
    for folder, (name, _) in found.items():
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        sizes[name] = manifest["model"].get("parameters")
    write_figures(dict(found.values()), sizes, out / "figures", formats, look)
