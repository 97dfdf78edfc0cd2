"""What a knowledge base's file knows of its concepts' words: lemmas, stop words, frequencies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.knowledge.words import Words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import duckdb
    import pyarrow as pa


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
    words = base.sql("SELECT DISTINCT word FROM placed ORDER BY word").fetchall()
    english = Words()
    tokens = {word: english.tokens(word) for (word,) in words}
    base.register("told", _told(tokens, english))
    base.register("lemmas", _lemmas(tokens, english))
    base.execute("""
        CREATE TABLE concepts AS
        SELECT id, any_value(label) AS label, sum(words)::SMALLINT AS words,
            sum(content)::SMALLINT AS content,
            CASE WHEN min(frequency) > 0 THEN 1 / sum(1 / frequency) ELSE 0 END AS frequency,
            count(*) = 1 AND bool_and(listed) AS dictionary
        FROM placed JOIN told USING (word) JOIN labels USING (id) GROUP BY id ORDER BY id""")
    base.execute("""
        CREATE TABLE terms AS
        SELECT lemma, id AS concept, (place * 16 + inner_place)::INTEGER AS place, stop
        FROM placed JOIN lemmas USING (word) ORDER BY ALL""")
    base.unregister("told")
    base.unregister("lemmas")


def _told(tokens: Mapping[str, Sequence[str]], english: Words) -> pa.Table:
    """What stands between blanks: its number of words, of content words, and its frequency."""
    import pyarrow as pa
    from wordfreq import word_frequency

    found = tokens.values()
    return pa.table(
        {
            "word": pa.array(tokens, pa.string()),
            "words": pa.array(map(len, found), pa.int16()),
            "content": pa.array((_content(words, english) for words in found), pa.int16()),
            "frequency": pa.array((word_frequency(word, "en") for word in tokens), pa.float64()),
            "listed": pa.array(map(english.is_listed, tokens), pa.bool_()),
        }
    )


def _content(words: Sequence[str], english: Words) -> int:
    return sum(not english.is_stop(word) for word in words)


def _lemmas(tokens: Mapping[str, Sequence[str]], english: Words) -> pa.Table:
    """Each lemma of each word that stands between blanks, with its place there."""
    import pyarrow as pa

    rows = [
        {"word": word, "lemma": lemma, "inner_place": place, "stop": english.is_stop(token)}
        for word, found in tokens.items()
        for place, token in enumerate(found)
        for lemma in english.lemmas(token)
    ]
    schema = {
        "word": pa.string(),
        "lemma": pa.string(),
        "inner_place": pa.int16(),
        "stop": pa.bool_(),
    }
    return pa.Table.from_pylist(rows, pa.schema(list(schema.items())))
