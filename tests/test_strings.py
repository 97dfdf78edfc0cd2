from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from tacit.charts.save import check_formats, write_charts
from tacit.charts.shown import Shown
from tacit.charts.theme import Theme
from tacit.coherence.ontology import Ontology, Relation
from tacit.english import Nouns
from tacit.errors import RequestError
from tacit.knowledge.background import Extraction, background
from tacit.knowledge.base import KnowledgeBase
from tacit.knowledge.build import Source, build
from tacit.knowledge.facts import facts_between
from tacit.knowledge.words import Words
from tacit.models.fake import FakeModel
from tacit.models.openai.answer_parsing import read_answer, votes_of
from tacit.probes.assumptions.properties import Filters
from tacit.probes.assumptions.wording import joined
from tacit.probes.consistency.probe import Reading
from tacit.probes.consistency.questions import PromptVariant, choice_prompts, verify_prompts
from tacit.probes.consistency.template import Templates, load_templates
from tacit.probes.parts.probe import PartsProbe
from tacit.probes.parts.questions import Template
from tacit.requests import AnswerScore, Prompt, Ranking, RankingPrompt, Sample, Scores, Vocabulary
from tacit.runs.folder import read_findings
from tacit.sources.anchors import Anchor
from tacit.sources.choices import Choices
from tacit.sources.drawings import Drawing, demo_drawings, read_drawings
from tacit.sources.dumps import TRIPLES, Dump
from tacit.sources.norms import Property
from tacit.sources.statements import all_statements
from tacit.strings import strings
from tacit.tables import read_table

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

WORDS = ("Paris", "Rome")
VOCABULARY = Vocabulary(WORDS)
SCORES = Scores(tuple(AnswerScore(word, -1.0, 1) for word in WORDS))
VARIANT = PromptVariant(1, None, WORDS, "{question}?")

CLASSES: dict[str, Callable[[Any], object]] = {
    "Prompt.answers": lambda given: Prompt("…", given),
    "Vocabulary.words": Vocabulary,
    "RankingPrompt.targets": lambda given: RankingPrompt("…", VOCABULARY, given),
    "Relation.implies": lambda given: Relation("r", "", "", implies=given),
    "Relation.excludes": lambda given: Relation("r", "", "", excludes=given),
    "Nouns.plural": lambda given: Nouns(plural=given),
    "Nouns.singular": lambda given: Nouns(singular=given),
    "Nouns.an": lambda given: Nouns(an=given),
    "Nouns.a": lambda given: Nouns(a=given),
    "Extraction.relations": lambda given: Extraction(relations=given),
    "Filters.vocabulary": lambda given: Filters(vocabulary=given),
    "PromptVariant.answers": lambda given: PromptVariant(1, None, given, ""),
    "consistency Templates.meta_prompts": lambda given: Templates(
        {}, given, (), {}, frozenset(), "", ""
    ),
    "parts Template.positive": lambda given: Template("", "", " ", given, WORDS),
    "parts Template.negative": lambda given: Template("", "", " ", WORDS, given),
    "Anchor.choices": lambda given: Anchor("1", "", given, 0),
    "Choices.texts": lambda given: Choices(given, 0),
    "Drawing.parts": lambda given: Drawing("", "", given, ()),
    "Property.alternatives": lambda given: Property("", "", 1, None, given),
}

FUNCTIONS: dict[str, Callable[[Any], object]] = {
    "RankingPrompt.asking": RankingPrompt("…", VOCABULARY).asking,
    "Ranking.of": lambda given: Ranking.of(SCORES, given),
    "FakeModel": lambda given: FakeModel({}, words=given).whole_words(),
    "votes_of": lambda given: votes_of([Sample("Paris", "whole")], given),
    "read_answer": lambda given: read_answer("Paris", given),
    "Words.parts": Words().parts,
    "joined": joined,
    "PromptVariant.prompt": lambda given: VARIANT.prompt("…", given),
    "choice_prompts": lambda given: choice_prompts("…", given, [VARIANT]),
    "verify_prompts": lambda given: verify_prompts("…", given, [VARIANT], load_templates()),
    "all_statements": lambda given: all_statements([Drawing("", "", WORDS, ())], given),
}

FILES: dict[str, Callable[[Any, Path], object]] = {
    "Dump.columns": lambda given, at: Dump(_dump(at), columns=given),
    "Reading.anchoring": lambda given, _: Reading(anchoring=given),
    "check_formats": lambda given, _: check_formats(given),
    "write_charts": lambda given, at: write_charts({}, Shown({}, {}, Theme()), at, given),
    "PartsProbe.read": lambda given, _: PartsProbe.read(demo_drawings(), given),
    "read_drawings relations": lambda given, _: read_drawings(demo_drawings(), given),
    "read_drawings things": lambda given, _: read_drawings(
        demo_drawings(), Ontology.load("parts").relations, given
    ),
    "read_findings": lambda given, at: read_findings(at, given),
    "read_table": lambda given, at: read_table(_dump(at), given),
    "KnowledgeBase.chosen": lambda given, at: _base(at).chosen(given),
    "background questions": lambda given, at: background(_base(at), [given]),
    "facts_between": lambda given, at: facts_between(
        _base(at), pl.DataFrame({"text": [0], "concept": [0]}), given
    ),
}


def _dump(folder: Path) -> Path:
    """A table that is also a dump of two triples."""
    path = folder / "dump.tsv"
    path.write_text("IsA\tcar\tmachine\nIsA\tdog\tanimal\n", encoding="utf-8")
    return path


def _base(folder: Path) -> KnowledgeBase:
    """A knowledge base of two facts."""
    path = folder / "base.duckdb"
    if not path.exists():
        build(Source([Dump(_dump(folder), columns=TRIPLES)]), path)
    return KnowledgeBase(path)


@pytest.mark.parametrize(
    "take", [*CLASSES.values(), *FUNCTIONS.values()], ids=[*CLASSES, *FUNCTIONS]
)
def test_a_string_is_no_sequence_of_strings(take: Callable[[Any], object]) -> None:
    """A string given for a sequence of strings is refused, with the string in the message."""
    with pytest.raises(RequestError, match=r"is the string 'Paris'.*such as \['Paris'\]"):
        take("Paris")


@pytest.mark.parametrize("take", FILES.values(), ids=FILES)
def test_a_string_beside_a_file_is_refused(
    take: Callable[[Any, Path], object], tmp_path: Path
) -> None:
    """Functions that also read a file refuse a string for a sequence of strings."""
    with pytest.raises(RequestError, match=r"is the string 'Paris'.*such as \['Paris'\]"):
        take("Paris", tmp_path)


@pytest.mark.parametrize("take", CLASSES.values(), ids=CLASSES)
def test_a_list_is_as_good_as_a_tuple(take: Callable[[Any], object]) -> None:
    """A dataclass keeps a list as a tuple, so that it equals the one that was given a tuple."""
    assert take(list(WORDS)) == take(WORDS)


@pytest.mark.parametrize("take", FUNCTIONS.values(), ids=FUNCTIONS)
def test_functions_take_lists_and_tuples_alike(take: Callable[[Any], object]) -> None:
    """A function returns the same for a list as for a tuple."""
    assert str(take(list(WORDS))) == str(take(WORDS))


def test_a_prompt_with_a_list_is_hashable() -> None:
    """A prompt that was given a list can be a key, as the plan needs."""
    assert {Prompt("…", ["Paris"]): 1} == {Prompt("…", ("Paris",)): 1}  # type: ignore[arg-type]


def test_a_set_stays_a_set() -> None:
    """A field that holds a set keeps a frozenset."""
    assert Nouns(plural={"glasses"}).plural == frozenset({"glasses"})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "message"), [(3, "answers is 3"), (["a", 1], "answers contains 1")]
)
def test_what_holds_no_strings_is_refused(given: Any, message: str) -> None:  # noqa: ANN401
    """Anything but an iterable of strings is refused."""
    with pytest.raises(RequestError, match=message):
        strings(given, "answers")


def test_a_long_string_is_cut_in_the_message() -> None:
    """The message shows at most 80 characters of the string."""
    with pytest.raises(RequestError) as raised:
        strings("x" * 500, "answers")
    assert len(str(raised.value)) < 300
