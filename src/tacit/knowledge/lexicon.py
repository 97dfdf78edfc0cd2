"""What a knowledge base's file knows of its concepts' words: lemmas, stop words, frequencies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.knowledge.words import Words, is_plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import duckdb
    import pyarrow as pa

# Words that are looked up at once.
_WORDS = 50_000
# More than there are words between two blanks of a label.
_INNER = 4096


def add_lexicon(base: duckdb.DuckDBPyConnection) -> None:
    """Makes the tables ``concepts`` and ``terms`` from the table ``labels``.

    A label's words are those that the English rules find. Its frequency is that which wordfreq
    gives its words, and where they are several, the inverse of the sum of their inverses, as
    wordfreq has it; 0 when one of them is not known there.
    """
    base.execute("""
        CREATE TEMP TABLE placed AS
        SELECT id, unnest(string_split(label, ' ')) AS word,
            generate_subscripts(string_split(label, ' '), 1) AS place
        FROM labels""")
    base.execute("""
        CREATE TEMP TABLE told (word VARCHAR, words SMALLINT, content SMALLINT, frequency DOUBLE,
            listed BOOLEAN)""")
    base.execute("""
        CREATE TEMP TABLE lemmas (word VARCHAR, lemma VARCHAR, inner_place SMALLINT,
            stop BOOLEAN)""")
    _look_up(base)
    # The inverses are whole numbers, because the sum of others depends on their order.
    base.execute("""
        CREATE TABLE concepts AS
        SELECT id, any_value(label) AS label, sum(words)::SMALLINT AS words,
            sum(content)::SMALLINT AS content,
            CASE WHEN count(*) = 1 OR min(frequency) = 0 THEN min(frequency)
                ELSE 1e6 / sum(least(1e6 / frequency, 1e30)::HUGEINT) END AS frequency,
            count(*) = 1 AND bool_and(listed) AS dictionary
        FROM placed JOIN told USING (word) JOIN labels USING (id) GROUP BY id ORDER BY id""")
    base.execute(f"""
        CREATE TABLE terms AS
        SELECT lemma, id AS concept, (place * {_INNER} + inner_place)::INTEGER AS place, stop,
            words, content
        FROM placed JOIN lemmas USING (word) JOIN concepts USING (id) ORDER BY ALL""")


def _look_up(base: duckdb.DuckDBPyConnection) -> None:
    """Fills the tables ``told`` and ``lemmas``, some words at a time."""
    english = Words()
    words = base.sql("SELECT DISTINCT word FROM placed ORDER BY word").to_arrow_table()["word"]
    for start in range(0, len(words), _WORDS):
        part = words[start : start + _WORDS].to_pylist()
        tokens = {word: english.tokens(word) for word in part}
        for name, rows in (("told", _told(tokens, english)), ("lemmas", _lemmas(tokens, english))):
            base.register("part", rows)
            base.execute(f"INSERT INTO {name} FROM part")
            base.unregister("part")


def _told(tokens: Mapping[str, Sequence[str]], english: Words) -> pa.Table:
    """What stands between blanks: its number of words, of content words, and its frequency."""
    import pyarrow as pa

    found = tokens.values()
    return pa.table(
        {
            "word": pa.array(tokens, pa.string()),
            "words": pa.array(map(len, found), pa.int16()),
            "content": pa.array((_content(words, english) for words in found), pa.int16()),
            "frequency": pa.array(_frequencies(tokens), pa.float64()),
            "listed": pa.array(map(english.is_listed, tokens), pa.bool_()),
        }
    )


def _content(words: Sequence[str], english: Words) -> int:
    return sum(not english.is_stop(word) for word in words)


def _frequencies(words: Iterable[str]) -> Iterator[float]:
    """What wordfreq gives each word.

    It finds a plain word as it stands, and rounds what its list has; few values are in the list.
    """
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


def _lemmas(tokens: Mapping[str, Sequence[str]], english: Words) -> pa.Table:
    """Each lemma of each word that stands between blanks, with its place there."""
    import pyarrow as pa

    rows = [
        (word, lemma, place, english.is_stop(token))
        for word, found in tokens.items()
        for place, token in enumerate(found)
        for lemma in english.lemmas(token)
    ]
    columns = zip(*rows, strict=True) if rows else ((), (), (), ())
    types = (pa.string(), pa.string(), pa.int16(), pa.bool_())
    return pa.table(
        [pa.array(*column) for column in zip(columns, types, strict=True)],
        ["word", "lemma", "inner_place", "stop"],
    )
