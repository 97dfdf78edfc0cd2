from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, get_args
from unittest.mock import patch

import pytest

from tacit.errors import ModelError
from tacit.knowledge.options import Version
from tacit.knowledge.words import Words
from tests.knowledge import plain

SENTENCE = "The Leaves aren't running on John's 3 blogs, quickly."


def lemmas(words: Words, *texts: str) -> list[set[str]]:
    return [set(part.lemmas) for part in words.parts(texts)]


@pytest.fixture
def pipeline(tmp_path: Path) -> Callable[..., str]:
    """Saves a pipeline that tags words as it is told, and all others as nouns; gives its folder."""
    from spacy.lang.en import English

    def save(**parts: str) -> str:
        english = English()
        ruler: Any = english.add_pipe("attribute_ruler")
        ruler.add([[{"IS_ALPHA": True}]], {"POS": "NOUN"})
        for word, part in parts.items():
            ruler.add([[{"LOWER": word}]], {"POS": part})
        english.to_disk(tmp_path / "pipeline")
        return str(tmp_path / "pipeline")

    return save


def test_a_word_counts_when_the_lexicon_lists_it_or_does_not_know_it() -> None:
    """A name and a word that is not listed count as themselves; a number does not."""
    assert lemmas(Words(), SENTENCE) == [
        {"leaf", "leave", "run", "running", "john", "blogs", "quickly"}
    ]
    assert lemmas(Words(), "A fridge, 2nd bookcase, or 3.5 mp3s in Oklahoma") == [
        {"fridge", "bookcase", "oklahoma"}
    ]


def test_a_word_that_the_lexicon_lists_as_something_else_does_not_count() -> None:
    """Only what it does not list at all is taken for a noun."""
    with patch("tacit.knowledge.words._lexicon", lambda _: {"INTJ": ("wow",)}):
        assert lemmas(Words(), "wow") == [set()]


def test_every_word_counts_without_a_filter() -> None:
    """Of arxiv all words but stop words count, and one that is not listed is its own lemma."""
    assert lemmas(Words("arxiv"), SENTENCE) == [
        {"leaf", "leave", "run", "running", "john", "3", "blogs", "quickly"}
    ]


def test_a_tagger_tells_which_words_count_and_as_what(pipeline: Callable[..., str]) -> None:
    """What the lexicon does not list is itself, or, as something else, has that one's lemma."""
    parts = {"leaves": "VERB", "running": "VERB", "john": "PROPN", "quickly": "ADV"}
    tagger = pipeline(**parts, blogs="NOUN", frightened="ADJ")
    assert lemmas(Words("review", tagger), SENTENCE, "leaves", "frightened") == [
        {"leave", "run", "quickly", "blogs"},
        {"leave"},
        {"frighten"},
    ]


@pytest.mark.parametrize("version", get_args(Version))
def test_stop_words_and_marks_never_count(pipeline: Callable[..., str], version: Version) -> None:
    """A text of stop words, in any case and with either apostrophe, has no content."""
    tagger = pipeline() if version == "review" else None
    texts = ["", "   ", "?!", "The most of us aren\u2019t; it's US, too."]
    assert lemmas(Words(version, tagger), *texts) == [set()] * len(texts)


def test_words_are_those_of_the_english_rules(cn100k_lines: Sequence[str]) -> None:
    exceptions = plain.english().Defaults.tokenizer_exceptions
    labels = {label for line in cn100k_lines[::10] for label in line.split("\t")[1:]}
    labels |= {word for word in exceptions if " " not in word}
    words = Words()
    for label in labels:
        found = [token for word in label.split() for token in words.tokens(word)]
        assert tuple(found) == plain.tokens(label)


def test_lemmas_and_stop_words_are_the_sources_own(cn100k_lines: Sequence[str]) -> None:
    words = Words()
    for word in {word for line in cn100k_lines[::100] for word in plain.tokens(line)}:
        assert bool(words.listed(word)) == bool(plain.listed(word))
        assert words.lemmas(word) == tuple(sorted(plain.listed(word) or {word}))
        assert words.is_stop(word) == plain.is_stop(word)


def test_a_tagger_that_is_not_there_is_told(tmp_path: Path) -> None:
    for tagger in ("no_such_pipeline", str(tmp_path)):
        with pytest.raises(ModelError, match=f"the tagger {tagger} cannot be loaded"):
            Words("review", tagger).parts(["a dog"])


def test_a_pipeline_without_parts_of_speech_is_told(tmp_path: Path) -> None:
    from spacy.lang.en import English

    English().to_disk(tmp_path / "blank")
    with pytest.raises(ModelError, match="assigns no parts of speech: use one with a tagger"):
        Words("review", str(tmp_path / "blank")).parts(["a dog"])
