"""The store of scores: append-only Parquet segments, published by rename, keyed by content.

One folder per model fingerprint, one row per (text, separator, answer); rankings stand beside, and
each vocabulary that was ranked stands there once. Segments are numbered in
the order in which they were published; where two hold the same key, the earlier one counts (of two
that were published at the same moment, the one whose name sorts first).
"""

from __future__ import annotations

import json
import os
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.engine import ranked
from tacit.errors import RequestError, StoreError
from tacit.models.fingerprint import FileHashes
from tacit.prompts import AnswerScore, LogProbs
from tacit.publishing import publish, publish_text
from tacit.rankings import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    import polars as pl

    from tacit.prompts import Prompt
    from tacit.rankings import Ranking, RankingPrompt

KEY = ("text", "separator", "answer")


class Store:
    """The scores in a folder; nothing is written before the first ``append``.

    Args:
        root: The folder.
    """

    def __init__(self, root: Path | str) -> None:
        self.root = Path(root)
        if self.root.exists() and not self.root.is_dir():
            raise StoreError(f"{self.root}: the store is a folder, and this is a file")
        self.hashes = FileHashes(self.root / "hashes.json")

    @classmethod
    def default(cls) -> Store:
        """The store that ``$TACIT_STORE`` names, else ``.tacit`` in the working folder."""
        return cls(os.environ.get("TACIT_STORE") or ".tacit")

    def append(
        self,
        model: Mapping[str, Any],
        prompts: Sequence[Prompt],
        scores: Sequence[LogProbs],
    ) -> Path:
        """Publishes the scores of a block of prompts as one segment.

        Args:
            model: The model's description, with its ``fingerprint``.
            prompts: What was asked.
            scores: What came back, in the same order.

        Raises:
            StoreError: The segment cannot be written; the store stays as it was.
        """
        return self._publish("scores", model, _to_frame(prompts, scores))

    def append_rankings(
        self,
        model: Mapping[str, Any],
        prompts: Sequence[RankingPrompt],
        rankings: Sequence[Ranking],
    ) -> Path:
        """Publishes the rankings of a block of prompts as one segment, as ``append`` does.

        Raises:
            StoreError: The segment cannot be written; the store stays as it was.
        """
        frame = ranked.to_frame(prompts, rankings)
        return self._publish("rankings", model, frame, {prompt.vocabulary for prompt in prompts})

    def _publish(
        self,
        what: str,
        model: Mapping[str, Any],
        frame: pl.DataFrame,
        vocabularies: Collection[Vocabulary] = (),
    ) -> Path:
        folder = self._folder(what, model["fingerprint"])
        self._prepare(folder, model)
        for vocabulary in vocabularies:
            path = self._vocabulary_path(vocabulary.digest)
            if not path.is_file():
                publish_text(path, json.dumps(vocabulary.words, ensure_ascii=False, indent=0))
        segment = folder / f"{self._next_number(folder):08d}-{uuid.uuid4().hex[:8]}.parquet"
        publish(segment, lambda file: _write(frame, file))
        return segment

    def read(self, fingerprint: str) -> pl.DataFrame:
        """All rows of a model: text, separator, answer, logprob, tokens, spanned.

        Raises:
            StoreError: A segment is damaged.
        """
        return self._all("scores", fingerprint, _schema()).unique(
            subset=KEY, keep="first", maintain_order=True
        )

    def read_rankings(self, fingerprint: str) -> pl.DataFrame:
        """All rankings of a model: a row per text, separator, vocabulary's digest and k.

        With normaliser, several, missing, targets (target, rank, logprob, tokens) and top (word,
        logprob). A text that was asked again for more targets has several rows, in the order in
        which they were published.

        Raises:
            StoreError: A segment is damaged.
        """
        return self._all("rankings", fingerprint, ranked.schema())

    def vocabulary(self, digest: str) -> Vocabulary:
        """A vocabulary that was ranked, by its digest.

        Raises:
            StoreError: It is not there, or damaged.
        """
        path = self._vocabulary_path(digest)
        try:
            vocabulary = Vocabulary(json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError, RequestError) as error:
            raise StoreError(f"{path}: this vocabulary cannot be read ({error})") from error
        if vocabulary.digest != digest:
            raise StoreError(f"{path}: this vocabulary holds other words than it held at first")
        return vocabulary

    def _all(self, what: str, fingerprint: str, schema: dict[str, Any]) -> pl.DataFrame:
        import polars as pl

        segments = self._segments(self._folder(what, fingerprint))
        return pl.concat(
            [pl.DataFrame(schema=schema), *(_read(segment, schema) for segment in segments)]
        )

    def _vocabulary_path(self, digest: str) -> Path:
        return self.root / "vocabularies" / f"{digest[:32]}.json"

    def _folder(self, what: str, fingerprint: str) -> Path:
        return self.root / what / fingerprint[:32]

    def _segments(self, folder: Path) -> list[Path]:
        return sorted(folder.glob("[0-9]*.parquet"))

    def _next_number(self, folder: Path) -> int:
        segments = self._segments(folder)
        return int(segments[-1].name.split("-")[0]) + 1 if segments else 1

    def _prepare(self, folder: Path, model: Mapping[str, Any]) -> None:
        """Makes the folder, says in it which model it is, and keeps it out of version control."""
        if not self.root.is_dir() or not any(self.root.iterdir()):
            publish_text(self.root / ".gitignore", "*\n")
        self.hashes.save()
        about = folder / "model.json"
        if not about.is_file():
            publish_text(about, json.dumps(dict(model), indent=1, ensure_ascii=False, default=str))


def _schema() -> dict[str, Any]:
    import polars as pl

    return {
        "text": pl.String,
        "separator": pl.String,
        "answer": pl.String,
        "logprob": pl.Float64,
        "tokens": pl.Int32,
        "spanned": pl.Boolean,
    }


def _to_frame(prompts: Sequence[Prompt], scores: Sequence[LogProbs]) -> pl.DataFrame:
    import polars as pl

    rows = [
        (prompt.text, prompt.separator, one.answer, one.logprob, one.tokens, one.spanned)
        for prompt, score in zip(prompts, scores, strict=True)
        for one in score.answers
    ]
    return pl.DataFrame(rows, schema=_schema(), orient="row")


def to_scores(answers: Sequence[Mapping[str, Any]]) -> LogProbs:
    """The scores of a prompt from the store's rows of its answers."""
    return LogProbs(
        tuple(
            AnswerScore(row["answer"], row["logprob"], row["tokens"], row["spanned"])
            for row in answers
        )
    )


def _write(frame: pl.DataFrame, file: Path) -> None:
    import pyarrow.parquet as pq

    pq.write_table(frame.to_arrow(), file, compression="zstd", write_page_checksum=True)


def _read(segment: Path, schema: dict[str, Any]) -> pl.DataFrame:
    import polars as pl
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(segment, page_checksum_verification=True, memory_map=False)
        return pl.DataFrame(pl.from_arrow(table)).match_to_schema(schema)
    except (pa.ArrowException, OSError, pl.exceptions.PolarsError) as error:
        raise StoreError(
            f"{segment}: this segment of the store is damaged ({error}); move it away, and what it "
            "held is asked again"
        ) from error
