"""Find the words of a text and their lemmas, and select content words."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, cast

import duckdb
import polars as pl

from tacit.errors import ModelError
from tacit.strings import comparable, strings

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc, Token

    from tacit.knowledge.options import Version

CONTENT = ("NOUN", "VERB", "ADJ", "ADV")


@dataclass(frozen=True)
class TextPart:
    """A part of an anchor question (its text or a choice), prepared for concept matching."""

    lemmas: frozenset[str]
    text: str
    starts: tuple[int, ...]
    ends: tuple[int, ...]


@dataclass(frozen=True)
class Words:
    """Selects and lemmatizes the words of a text by the rules of a version of the paper."""

    version: Version = "review-lexicon"
    tagger: str | None = None

    def parts(self, texts: Iterable[str]) -> list[TextPart]:
        """Tokenize each text, and lemmatize the words that ``Words.version`` selects."""
        return [self._part(doc) for doc in self._docs(map(comparable, strings(texts, "texts")))]

    def tokens(self, word: str) -> list[str]:
        """Split a string that has no spaces into lower-case words by spaCy's English rules."""
        # Between two letters, the rules split only listed exceptions such as "cannot".
        if is_plain(word) and word not in self._english.Defaults.tokenizer_exceptions:
            return [word]
        return [token.lower_ for token in self._words(self._english.make_doc(word))]

    def is_stop(self, word: str) -> bool:
        return word in self._english.Defaults.stop_words

    def lemmas(self, word: str) -> tuple[str, ...]:
        """Return a lower-case word's sorted lemmas, or the word if it is not in the lexicon."""
        return self.listed(word) or (word,)

    def listed(self, word: str) -> tuple[str, ...]:
        """Return the lemmas of a word that the lexicon lists as noun, verb, adjective or adverb."""
        found = _lexicon(word)
        return tuple(sorted({lemma for part in CONTENT for lemma in found.get(part, ())}))

    def _part(self, doc: Doc) -> TextPart:
        lemmas = {lemma for token in self._words(doc) for lemma in self._counting(token)}
        text, starts, ends = "", [], []
        for token in doc:
            if token.is_space:
                text = f"{text.rstrip()} "
                continue
            starts.append(len(text))
            text += token.lower_
            ends.append(len(text))
            text += token.whitespace_
        return TextPart(frozenset(lemmas), text, tuple(starts), tuple(ends))

    def _docs(self, texts: Iterable[str]) -> Iterator[Doc]:
        if self.tagger is None:
            # Lower case, as for the words of labels.
            return (self._english.make_doc(text.lower()) for text in texts)
        return self._pipeline.pipe(texts)

    def _words(self, doc: Doc) -> Iterator[Token]:
        return (token for token in doc if any(letter.isalnum() for letter in token.text))

    def _counting(self, token: Token) -> tuple[str, ...]:
        word = token.lower_
        if self.is_stop(word):
            return ()
        if self.version == "arxiv":
            return self.lemmas(word)
        if self.version == "review-lexicon":
            is_name = word.isalpha() and not _lexicon(word)
            return (word,) if is_name else self.listed(word)
        if token.pos_ not in CONTENT:
            return ()
        # Fall back to the lemmas of other parts of speech, which the concepts use too.
        return tuple(_lexicon(word).get(token.pos_, ())) or self.lemmas(word)

    @cached_property
    def _english(self) -> Language:
        import spacy

        return spacy.blank("en")

    @cached_property
    def _pipeline(self) -> Language:
        import spacy

        try:
            pipeline = spacy.load(str(self.tagger))
        except (OSError, ValueError, ImportError) as error:
            raise ModelError(
                f"the tagger {self.tagger} cannot be loaded as a spaCy pipeline: {error}"
            ) from error
        if not any(token.pos_ for token in pipeline("a small dog barks")):
            raise ModelError(
                f"the pipeline {self.tagger} assigns no parts of speech: use one with a tagger"
            )
        return pipeline


@lru_cache(100_000)
def _lexicon(word: str) -> Mapping[str, Sequence[str]]:
    """Return the lexicon's lemmas of a lower-case word by part of speech."""
    from lemminflect import getAllLemmas

    lemmas: Mapping[str, Sequence[str]] = getAllLemmas(word)
    return lemmas


def parts_of_speech(label: str) -> str:
    """Return the lexicon's parts of speech for a concept's first and last word."""
    words = label.lower().split()
    ends = [words[0], words[-1]] if len(words) > 1 else words
    listed = ([part for part in CONTENT if part in _lexicon(word)] for word in ends)
    return ", ".join("/".join(parts) or "unlisted" for parts in listed)


def is_plain(word: str) -> bool:
    return word.isascii() and word.isalpha() and word.islower()


def spare_torch(tagger: str | None) -> None:
    """Import spaCy but not torch, which loads slowly and is not required for tokenization."""
    if tagger is None and "torch" not in sys.modules:
        sys.modules["torch"] = cast("Any", None)  # as if it were not installed
        try:
            importlib.import_module("spacy")
        finally:
            del sys.modules["torch"]


# Number of words per batch.
_WORDS = 50_000
# More than the number of tokens in any space-separated word of a label.
_INNER = 4096
_WORD_TABLES: dict[str, dict[str, type[pl.DataType]]] = {
    "word_counts": {
        "word": pl.String,
        "words": pl.Int16,
        "content": pl.Int16,
        "frequency": pl.Float64,
        "listed": pl.Boolean,
    },
    "lemmas": {"word": pl.String, "lemma": pl.String, "inner_place": pl.Int16, "stop": pl.Boolean},
}


def add_lexicon(base: duckdb.DuckDBPyConnection) -> None:
    """Create the tables ``concepts`` and ``terms`` from the table ``labels``."""
    base.execute("""
        CREATE TEMP TABLE placed AS
        SELECT id, unnest(string_split(label, ' ')) AS word,
            generate_subscripts(string_split(label, ' '), 1) AS place
        FROM labels""")
    _add_words(base)
    # The inverses are integers, because a sum of floats depends on the order of the rows.
    base.execute("""
        CREATE TABLE concepts AS
        SELECT id, any_value(label) AS label, sum(words)::SMALLINT AS words,
            sum(content)::SMALLINT AS content,
            CASE WHEN count(*) = 1 OR min(frequency) = 0 THEN min(frequency)
                ELSE 1e6 / sum(least(1e6 / frequency, 1e30)::HUGEINT) END AS frequency,
            count(*) = 1 AND bool_and(listed) AS dictionary
        FROM placed JOIN word_counts USING (word) JOIN labels USING (id) GROUP BY id ORDER BY id""")
    base.execute(f"""
        CREATE TABLE terms AS
        SELECT lemma, id AS concept, (place * {_INNER} + inner_place)::INTEGER AS place, stop,
            words, content
        FROM placed JOIN lemmas USING (word) JOIN concepts USING (id) ORDER BY ALL""")


def _add_words(base: duckdb.DuckDBPyConnection) -> None:
    """Create the tables ``word_counts`` and ``lemmas`` of the words in all labels, in batches."""
    english = Words()
    found = base.sql("SELECT DISTINCT word FROM placed ORDER BY word").pl()["word"]
    for start in range(0, len(found), _WORDS):
        tokens = {word: english.tokens(word) for word in found[start : start + _WORDS]}
        rows = {"word_counts": _word_rows(tokens, english), "lemmas": _lemma_rows(tokens, english)}
        for name, schema in _WORD_TABLES.items():
            base.register("part", pl.DataFrame(list(rows[name]), schema, orient="row").to_arrow())
            insert = f"INSERT INTO {name}" if start else f"CREATE TEMP TABLE {name} AS"
            base.execute(f"{insert} FROM part")
            base.unregister("part")


def _word_rows(tokens: Mapping[str, Sequence[str]], english: Words) -> Iterator[tuple[object, ...]]:
    """Yield each string's word counts and frequency, and whether it is in the lexicon."""
    for (word, found), frequency in zip(tokens.items(), _frequencies(tokens), strict=True):
        content = sum(not english.is_stop(token) for token in found)
        yield word, len(found), content, frequency, bool(english.listed(word))


def _lemma_rows(
    tokens: Mapping[str, Sequence[str]], english: Words
) -> Iterator[tuple[object, ...]]:
    """Yield the lemmas of all tokens, with the index of each token in its string."""
    for word, found in tokens.items():
        for index, token in enumerate(found):
            for lemma in english.lemmas(token):
                yield word, lemma, index, english.is_stop(token)


def _frequencies(words: Iterable[str]) -> Iterator[float]:
    from wordfreq import get_frequency_dict, word_frequency

    listed = get_frequency_dict("en")
    rounded = {0.0: 0.0}
    for word in words:
        if not is_plain(word):
            yield word_frequency(word, "en")
            continue
        found = listed.get(word, 0.0)
        if found not in rounded:
            rounded[found] = word_frequency(word, "en")
        yield rounded[found]
