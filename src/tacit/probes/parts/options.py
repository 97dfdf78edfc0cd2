"""The options of the parts probe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from tacit.errors import RequestError
from tacit.options import option, sha256_of
from tacit.sources.fetching import fetched

if TYPE_CHECKING:
    from tacit.probes.parts.questions import Template


def _of_drawings(path: Path) -> Mapping[str, Any]:
    from tacit.sources.drawings import files_of

    return sha256_of(*files_of(path))


def _of_ontology(name: str) -> Mapping[str, Any]:
    from tacit.coherence.ontology import ontology_file

    path = ontology_file(name)
    return {} if path is None else sha256_of(path)


@dataclass(frozen=True)
class PartsOptions:
    """The drawings to ask about, and the wording of the questions."""

    drawings: Path = option(
        help="A folder of drawings (annotators' sketches of things), one file of annotations, or "
        "a file that lists things and their parts [default: everyday-things, which tacit get "
        "fetches].",
        data=_of_drawings,
        absent=fetched("everyday-things"),
    )
    things: str | None = option(
        None, help="Use only annotators' drawings of the listed things (separated by commas)."
    )
    ontology: str = option(
        "parts",
        help="The relations, with their wordings and constraints: the name of a built-in ontology "
        "(parts, taxonomy, time or space) or a YAML file.",
        data=_of_ontology,
        rare=True,
    )
    limit: int | None = option(
        None,
        help="Use only the first N everyday things, with all their drawings. The first things are "
        "not a random sample.",
        least=1,
    )
    fast: bool = option(
        default=False,
        help="Use one drawing per thing, and ask only about statements that have a gold label. "
        "This is a quick look, not the paper's method.",
    )
    calibrate: bool = option(
        default=False,
        help="Also measure the beliefs relative to the model's own mean: the log-odds of each "
        "belief minus the mean log-odds over all questions.",
        rare=True,
    )
    preset: Literal["plain", "macaw", "gpt3", "gpt3-paper"] = option(
        "plain", help="The built-in prompt template for the questions that the model is asked."
    )
    prompt: Path | None = option(
        None,
        help="A YAML file with your own prompt template, as an alternative to --preset.",
        rare=True,
    )
    number: Literal["paper", "grammar"] = option(
        "paper",
        help="Rules for plural nouns and articles: paper (nouns that end in s are plural; the "
        'article before a vowel letter is always "an") or grammar (the rules of English).',
        rare=True,
    )
    nouns: Path | None = option(
        None,
        help="A YAML file with nouns that are exceptions to the grammar rules of "
        "“--number grammar”.",
        rare=True,
    )
    graphs: str | None = option(
        None,
        help="Names of the everyday things whose drawings --figures shows as graphs, separated "
        "by commas [default: only one typical drawing].",
        requested=False,
        figures=True,
        rare=True,
    )

    def template(self) -> Template:
        """Return the prompt template."""
        from tacit.probes.parts.questions import Template

        if self.prompt is not None and self.preset != "plain":
            raise RequestError("--preset and --prompt both set the prompt template; give only one")
        return Template.read(self.prompt) if self.prompt else Template.load(self.preset)


def names(listed: str | None) -> list[str] | None:
    """Split a comma-separated list of names, and convert the names to lower case."""
    return None if listed is None else [name.strip().lower() for name in listed.split(",")]
