"""The store of scores: append-only Parquet segments, published whole, keyed by content.

One folder per model fingerprint, one row per (text, separator, answer); rankings stand beside, and
each vocabulary that was ranked stands there once. Segments are numbered in the order in which they
were published, whatever the clock says; where two hold the same key, the earlier one counts, so
that what was once read is always read again. Where a place has no locks, two that are published at
the same moment may have one number, and the one whose name sorts first counts. A segment that is
damaged is set aside, and what it held is asked again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import re
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from tacit.engine import ranked, segments, voted
from tacit.engine.places import LocalFolder, place_of
from tacit.english import several
from tacit.errors import RequestError, StoreError, WorkError
from tacit.models.fingerprint import FileHashes
from tacit.prompts import FOR_NOW, AnswerScore, LogProbs
from tacit.rankings import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    import polars as pl

    from tacit.models.chat_samples import Draws, Sample
    from tacit.prompts import Prompt
    from tacit.rankings import Ranking, RankingPrompt

KEY = ("text", "separator", "answer")

log = logging.getLogger(__name__)


class Store:
    """The scores in a folder; nothing is written before the first ``append``.

    Several processes, on several machines, may read and write one store at once.

    ``published`` are the segments that this object has published, as seen from the root.

    Args:
        root: The folder, or an address that fsspec knows, such as ``s3://bucket/folder``.

    Raises:
        RequestError: The address names a protocol that is unknown, or whose package is missing.
        StoreError: It is a file, or cannot be reached.
    """

    def __init__(self, root: Path | str) -> None:
        self.root = root
        self._place = place_of(root)
        self._kept = self._place.folder or _cache_of(self._place.shown())
        self.hashes = FileHashes(self._kept / "hashes.json")
        self._written: set[str] = set()
        self.published: list[PurePosixPath] = []

    @classmethod
    def default(cls) -> Store:
        """The store that ``$TACIT_STORE`` names, else ``.tacit`` in the working folder."""
        return cls(os.environ.get("TACIT_STORE") or ".tacit")

    def append(
        self,
        model: Mapping[str, Any],
        prompts: Sequence[Prompt],
        scores: Sequence[LogProbs],
    ) -> PurePosixPath:
        """Publishes the scores of a block of prompts as one segment.

        Args:
            model: The model's description, with its ``fingerprint``.
            prompts: What was asked.
            scores: What came back, in the same order.

        Returns:
            The segment, as seen from the store's root.

        Raises:
            StoreError: The segment cannot be written; the store stays as it was.
        """
        return self._publish("scores", model, _to_frame(prompts, scores))

    def append_rankings(
        self,
        model: Mapping[str, Any],
        prompts: Sequence[RankingPrompt],
        rankings: Sequence[Ranking],
    ) -> PurePosixPath:
        """Publishes the rankings of a block of prompts as one segment, as ``append`` does.

        Raises:
            StoreError: The segment cannot be written; the store stays as it was.
        """
        frame = ranked.to_frame(prompts, rankings)
        return self._publish("rankings", model, frame, {prompt.vocabulary for prompt in prompts})

    def append_samples(
        self,
        model: Mapping[str, Any],
        draws: Sequence[Draws],
        samples: Sequence[Sequence[Sample]],
    ) -> PurePosixPath:
        """Publishes the sampled replies to some texts as one segment, as ``append`` does.

        Raises:
            StoreError: The segment cannot be written; the store stays as it was.
        """
        return self._publish("votes", model, voted.to_frame(draws, samples))

    def _publish(
        self,
        what: str,
        model: Mapping[str, Any],
        frame: pl.DataFrame,
        vocabularies: Collection[Vocabulary] = (),
    ) -> PurePosixPath:
        folder = self._folder(what, model["fingerprint"])
        self._prepare(folder, model)
        for vocabulary in vocabularies:
            self._keep(vocabulary)
        content = segments.encode(frame, model["fingerprint"])
        # Else another's segment might get ahead of one that has been read.
        with self._place.alone(folder):
            name = segments.next_name(self._place.names(folder), content)
            self._place.publish(f"{folder}/{name}", content)
        self.published.append(PurePosixPath(folder, name))
        return self.published[-1]

    def withdraw(self, names: Sequence[PurePosixPath]) -> None:
        """Moves segments that cannot be relied on to where damaged ones are kept.

        Raises:
            StoreError: One cannot be moved.
        """
        moved = [place for name in names if (place := self._place.set_aside(str(name)))]
        if moved:
            log.warning(
                "%s of answers that cannot be relied on: moved to %s",
                several(len(moved), "segment"),
                PurePosixPath(moved[0]).parent,
            )

    def read(self, fingerprint: str) -> pl.DataFrame:
        """All rows of a model: text, separator, answer, logprob, tokens, spanned, reason.

        The row that was published first counts, but where it has no score only for now and a later
        one has. A segment that is damaged is set aside, with a warning.

        Raises:
            StoreError: The store cannot be read, or a damaged segment cannot be moved.
        """
        import polars as pl

        rows = self._all("scores", fingerprint, _schema())
        for_now = pl.col("reason").is_in(sorted(FOR_NOW)).fill_null(value=False)
        settled = pl.concat([rows.filter(~for_now), rows.filter(for_now)])
        return settled.unique(subset=KEY, keep="first", maintain_order=True)

    def read_rankings(self, fingerprint: str) -> pl.DataFrame:
        """All rankings of a model: a row per text, separator, vocabulary's digest and k.

        With normaliser, several, missing, targets (target, rank, logprob, tokens) and top (word,
        logprob). A text that was asked again for more targets has several rows, in the order in
        which they were published. A segment that is damaged is set aside, with a warning.

        Raises:
            StoreError: The store cannot be read, or a damaged segment cannot be moved.
        """
        return self._all("rankings", fingerprint, ranked.schema())

    def read_samples(self, fingerprint: str) -> pl.DataFrame:
        """All sampled replies of a model: text, number, reply, state.

        A segment that is damaged is set aside, with a warning.

        Raises:
            StoreError: The store cannot be read, or a damaged segment cannot be moved.
        """
        return self._all("votes", fingerprint, voted.schema()).unique(
            subset=voted.KEY, keep="first", maintain_order=True
        )

    def vocabulary(self, digest: str) -> Vocabulary:
        """A vocabulary that was ranked, by its digest.

        Raises:
            StoreError: It is not there, or damaged.
        """
        name = _vocabulary_name(digest)
        content = self._place.read(name)
        if content is None:
            raise StoreError(f"{self._place.shown(name)}: there is no such vocabulary")
        try:
            return _vocabulary(content, digest)
        except segments.Damaged as error:
            raise StoreError(
                f"{self._place.shown(name)}: this vocabulary is damaged ({error}); ranking with it "
                "again writes it anew"
            ) from error

    def _all(self, what: str, fingerprint: str, schema: dict[str, Any]) -> pl.DataFrame:
        import polars as pl

        folder = self._folder(what, fingerprint)
        first, second = self._place.names(folder), self._place.names(folder)
        frames = [
            self._segment(folder, name, fingerprint, schema)
            for name in segments.in_order(first, second)
        ]
        whole = [frame for frame in frames if frame is not None]
        return pl.concat([pl.DataFrame(schema=schema), *whole])

    def _segment(
        self, folder: str, name: str, fingerprint: str, schema: dict[str, Any]
    ) -> pl.DataFrame | None:
        """A segment's rows; None where it is damaged, and set aside."""
        damage = ""
        for _ in range(2):  # what came over a network may be right the second time
            content = self._place.read(f"{folder}/{name}")
            if content is None:
                return None  # another process has set it aside meanwhile
            try:
                return segments.decode(name, content, fingerprint, schema)
            except segments.Damaged as error:
                damage = str(error)
        self._set_aside(f"{folder}/{name}", damage)
        return None

    def _set_aside(self, name: str, reason: str) -> None:
        """Moves what is damaged away and says so; whoever comes second finds it gone."""
        moved = self._place.set_aside(name)
        if moved is not None:
            log.warning(
                "%s is damaged (%s): it was moved to %s, and what it held is asked again",
                self._place.shown(name),
                reason,
                moved,
            )

    def _folder(self, what: str, fingerprint: str) -> str:
        # Whoever writes a model of their own may call it anything; a path is made of digits alone.
        safe = re.fullmatch("[0-9a-f]{32,}", fingerprint)
        name = fingerprint if safe else hashlib.sha256(fingerprint.encode()).hexdigest()
        return f"{what}/{name[:32]}"

    def _prepare(self, folder: str, model: Mapping[str, Any]) -> None:
        """Says in the folder which model it is, and keeps the store out of version control."""
        with contextlib.suppress(WorkError):  # only a shortcut: hashed again
            self.hashes.save()
        if folder in self._written:
            return
        root = self._place.folder
        if root and (not root.is_dir() or not any(root.iterdir())):
            self._place.publish(".gitignore", b"*\n")
        about = json.dumps(dict(model), indent=1, ensure_ascii=False, default=str).encode()
        if "model.json" not in self._place.names(folder):
            self._place.publish(f"{folder}/model.json", about)
        if root is None:
            # By it this machine knows a server again whose answers differ by rounding.
            with contextlib.suppress(StoreError):
                LocalFolder(self._kept).publish(f"{folder}/model.json", about)
        self._written.add(folder)

    def _keep(self, vocabulary: Vocabulary) -> None:
        """Writes a vocabulary down, unless it stands there whole; looked at once."""
        name = _vocabulary_name(vocabulary.digest)
        if name in self._written:
            return
        content = self._place.read(name)
        if content is not None:
            try:
                _vocabulary(content, vocabulary.digest)
            except segments.Damaged as error:
                self._set_aside(name, str(error))
                content = None
        if content is None:
            words = json.dumps(vocabulary.words, ensure_ascii=False, indent=0)
            self._place.publish(name, words.encode())
        self._written.add(name)


def _cache_of(address: str) -> Path:
    """A folder of this machine for what is known of its own files, beside a store elsewhere."""
    place = os.environ.get("XDG_CACHE_HOME")
    cache = Path(place) if place else Path.home() / ".cache"
    return cache / "tacit" / "stores" / hashlib.sha256(address.encode()).hexdigest()[:16]


def _vocabulary_name(digest: str) -> str:
    return f"vocabularies/{digest[:32]}.json"


def _vocabulary(content: bytes, digest: str) -> Vocabulary:
    """The vocabulary of a file.

    Raises:
        Damaged: It is none, or another than it was.
    """
    try:
        vocabulary = Vocabulary(json.loads(content))
    except (ValueError, TypeError, RecursionError, RequestError) as error:
        raise segments.Damaged(f"it cannot be read: {error}") from error
    if vocabulary.digest != digest:
        raise segments.Damaged("it holds other words than it held at first")
    return vocabulary


def _schema() -> dict[str, Any]:
    import polars as pl

    return {
        "text": pl.String,
        "separator": pl.String,
        "answer": pl.String,
        "logprob": pl.Float64,
        "tokens": pl.Int32,
        "spanned": pl.Boolean,
        "reason": pl.String,  # why there is no score
    }


def _to_frame(prompts: Sequence[Prompt], scores: Sequence[LogProbs]) -> pl.DataFrame:
    import polars as pl

    rows = [
        (
            *(prompt.text, prompt.separator, one.answer),
            *(one.logprob, one.tokens, one.spanned, one.missing),
        )
        for prompt, score in zip(prompts, scores, strict=True)
        for one in score.answers
    ]
    return pl.DataFrame(rows, schema=_schema(), orient="row")


def to_scores(answers: Sequence[Mapping[str, Any]]) -> LogProbs:
    """The scores of a prompt from the store's rows of its answers."""
    return LogProbs(
        tuple(
            AnswerScore(row["answer"], row["logprob"], row["tokens"], row["spanned"], row["reason"])
            for row in answers
        )
    )
