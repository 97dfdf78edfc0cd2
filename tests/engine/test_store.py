import errno
import io
import json
import os
import re
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tacit.engine.store import Store, encode, next_name
from tacit.errors import StoreError
from tacit.requests import AnswerScore, Prompt, Ranking, RankingPrompt, Scores, Vocabulary

MODEL = {"fingerprint": "f" * 64, "name": "made up"}
PROMPT = Prompt("x", ("a",))
PROMPTS = [Prompt(f"text {n}", ("a",)) for n in range(50)]
SCORES = [Scores((AnswerScore("a", -n / 3, 1),)) for n in range(50)]


def scored(value: float) -> list[Scores]:
    return [Scores((AnswerScore("a", value, 1),))]


def flipped(content: bytes) -> bytes:
    """With one bit of a page the other way round."""
    damaged = bytearray(content)
    damaged[len(damaged) // 8] ^= 0x10
    return bytes(damaged)


def foreign(_: bytes) -> bytes:
    """A Parquet file of something else."""
    file = io.BytesIO()
    pl.DataFrame({"name": ["bear"]}).write_parquet(file)
    return file.getvalue()


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "flipped": flipped,
    "truncated": lambda content: content[:-40],
    "empty": lambda _: b"",
    "foreign": foreign,
}


def test_of_two_scores_for_one_answer_the_earlier_published_counts(tmp_path: Path) -> None:
    """By its number, whatever time the files have."""
    store = Store(tmp_path)
    first = tmp_path / store.append(MODEL, [PROMPT], scored(-1.0))
    second = tmp_path / store.append(MODEL, [PROMPT], scored(-2.0))
    assert store.read(MODEL["fingerprint"])["logprob"].to_list() == [-1.0]
    os.utime(first, (2e9, 2e9))
    os.utime(second, (0, 0))
    assert store.read(MODEL["fingerprint"])["logprob"].to_list() == [-1.0]


def test_a_listing_that_lacks_an_earlier_segment_gives_no_later_value(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Folders are listed while others publish in them."""
    store = Store(tmp_path)
    names = [store.append(MODEL, [PROMPT], scored(-float(n))).name for n in range(1, 5)]
    listings = iter([[names[1]], names[:3]])
    monkeypatch.setattr("tacit.engine.storage.Storage.names", lambda *_: next(listings))
    assert store.read(MODEL["fingerprint"])["logprob"].to_list() == [-1.0]
    listings = iter([names[:1], names[1:]])
    assert store.read(MODEL["fingerprint"]).is_empty()


def test_another_user_s_lock_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It can be read, and need not be written."""
    Store(tmp_path).append(MODEL, [PROMPT], scored(-1.0))
    (lock,) = tmp_path.glob("scores/*/.lock")
    opened = lock.__class__.open

    def refuse(path: Path, mode: str = "r", **options: Any) -> Any:  # noqa: ANN401 - as of Path
        if path == lock and mode != "rb":
            raise PermissionError(errno.EACCES, "Permission denied")
        return opened(path, mode, **options)

    monkeypatch.setattr("pathlib.Path.open", refuse)
    assert Store(tmp_path).append(MODEL, [PROMPT], scored(-1.0)).name[:8] == "00000002"


def test_a_file_system_without_locks_is_written_to_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("fcntl.flock", none)
    Store(tmp_path).append(MODEL, [PROMPT], scored(-1.0))
    assert Store(tmp_path).read(MODEL["fingerprint"])["logprob"].to_list() == [-1.0]


@pytest.mark.parametrize("damage", sorted(DAMAGES))
def test_a_damaged_segment_is_set_aside_and_said_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, damage: str
) -> None:
    """What the others hold is still there; what it held is lacking, and its file is kept."""
    store = Store(tmp_path)
    segment = tmp_path / store.append(MODEL, PROMPTS, SCORES)
    store.append(MODEL, [PROMPT], scored(-1.0))
    damaged = DAMAGES[damage](segment.read_bytes())
    segment.write_bytes(damaged)
    assert store.read(MODEL["fingerprint"])["text"].to_list() == ["x"]
    assert not segment.exists()
    aside = segment.parent / "damaged" / segment.name
    assert aside.read_bytes() == damaged
    (said,) = caplog.messages
    assert said.startswith(f"{segment} is damaged (it")
    assert str(aside) in said
    assert Store(tmp_path).read(MODEL["fingerprint"])["text"].to_list() == ["x"]
    assert len(caplog.messages) == 1


def test_what_is_damaged_on_its_way_alone_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A segment is set aside only where a second look finds it damaged too."""
    store = Store(tmp_path)
    segment = tmp_path / store.append(MODEL, [PROMPT], scored(-1.0))
    failing = iter([True])

    def read(path: Path) -> bytes:
        with path.open("rb") as file:
            content = file.read()
        return content[:-9] if path == segment and next(failing, False) else content

    monkeypatch.setattr("pathlib.Path.read_bytes", read)
    assert store.read(MODEL["fingerprint"])["text"].to_list() == ["x"]
    assert segment.exists()
    assert not caplog.messages


def test_damaged_segments_of_one_name_do_not_replace_one_another(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for content in (b"first", b"second"):
        folder = tmp_path / "scores" / ("f" * 32)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"00000001-01234567-{'0' * 32}.parquet").write_bytes(content)
        store.read(MODEL["fingerprint"])
    kept = [path.read_bytes() for path in (folder / "damaged").iterdir()]
    assert sorted(kept) == [b"first", b"second"]


def test_another_model_s_segment_is_set_aside(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """One model's scores never become another's, though the file is whole."""
    store = Store(tmp_path)
    segment = tmp_path / store.append(MODEL, [PROMPT], scored(-1.0))
    other = tmp_path / "scores" / ("e" * 32)
    other.mkdir()
    shutil.copy(segment, other)
    assert store.read("e" * 64).is_empty()
    assert "another model" in caplog.text
    assert store.read(MODEL["fingerprint"]).height == 1


def test_a_whole_segment_of_another_version_is_not_set_aside(tmp_path: Path) -> None:
    """Its columns are others, and its checksum is right: whoever wrote it can read it still."""
    name = Store(tmp_path).append(MODEL, [PROMPT], scored(-1.0))
    more = pl.read_parquet(tmp_path / name).with_columns(pl.lit(1).alias("more"))
    content = encode(more, MODEL["fingerprint"])
    newer = tmp_path / name.with_name(next_name([name.name], content))
    newer.write_bytes(content)
    with pytest.raises(StoreError, match="written by another version of Tacit"):
        Store(tmp_path).read(MODEL["fingerprint"])
    assert newer.read_bytes() == content


def test_files_that_are_no_segments_are_left_alone(tmp_path: Path) -> None:
    """Notes, and the number that a year is."""
    store = Store(tmp_path)
    folder = (tmp_path / store.append(MODEL, [PROMPT], scored(-1.0))).parent
    for name in ("notes.txt", "notes.parquet", f"{'9' * 30}.parquet"):
        (folder / name).write_text("mine", encoding="utf-8")
    assert store.read(MODEL["fingerprint"]).height == 1
    assert store.append(MODEL, [PROMPT], scored(-1.0)).name[:9] == "00000002-"
    assert (folder / "notes.parquet").read_text(encoding="utf-8") == "mine"


def test_a_damaged_segment_that_cannot_be_moved_is_an_error(tmp_path: Path) -> None:
    store = Store(tmp_path)
    segment = tmp_path / store.append(MODEL, [PROMPT], scored(-1.0))
    segment.write_bytes(b"")
    (segment.parent / "damaged").write_text("a file, where a folder should be", encoding="utf-8")
    with pytest.raises(
        StoreError, match=f"{segment.name}: cannot be moved, although it is damaged"
    ):
        store.read(MODEL["fingerprint"])


def test_a_damaged_vocabulary_is_set_aside_and_written_anew(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    words = Vocabulary(["bear", "seal"])
    ranking = [Ranking((), -1.0, (("bear", -1.0),))]
    Store(tmp_path).append(MODEL, [RankingPrompt("x", words)], ranking)
    (file,) = (tmp_path / "vocabularies").iterdir()
    file.write_text('["bear"]', encoding="utf-8")
    Store(tmp_path).append(MODEL, [RankingPrompt("x", words)], ranking)
    assert json.loads(file.read_text(encoding="utf-8")) == list(words.words)
    assert "its content has changed" in caplog.text
    assert (file.parent / "damaged" / file.name).read_text(encoding="utf-8") == '["bear"]'


@pytest.mark.parametrize(
    "fingerprint", ["../../outside", "/outside", "f" * 31 + "/", "CON", "a\0b"]
)
def test_a_model_cannot_choose_where_its_scores_lie(tmp_path: Path, fingerprint: str) -> None:
    """Whatever it calls its fingerprint, they lie in the store."""
    root = tmp_path / "a" / "b" / "store"
    Store(root).append({"fingerprint": fingerprint}, [PROMPT], scored(-1.0))
    assert Store(root).read(fingerprint).height == 1
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    (folder,) = (root / "scores").iterdir()
    assert re.fullmatch("[0-9a-f]{32}", folder.name)


WRITING = """
import sys, time
from tacit.engine import store
from tacit.requests import AnswerScore, Scores, Prompt

next_name = store.next_name

def slow(*given):
    name = next_name(*given)
    time.sleep(0.002)  # here the others would get ahead
    return name

store.next_name = slow
root, who = sys.argv[1:]
for n in range(20):
    prompts = [Prompt(text, ("a",)) for text in (f"{who} {n}", "all", f"each {n}")]
    scores = Scores((AnswerScore("a", -float(ord(who) * 100 + n), 1),))
    store.Store(root).append({"fingerprint": "f" * 64}, prompts, [scores] * 3)
"""


def test_several_processes_write_one_store_and_none_loses_a_segment(tmp_path: Path) -> None:
    """A concurrent reader sees only whole segments, and what it has seen does not change."""

    def read() -> dict[str, float]:
        return dict(Store(tmp_path).read("f" * 64).select("text", "logprob").iter_rows())

    writers = [
        subprocess.Popen([sys.executable, "-c", WRITING, str(tmp_path), who]) for who in "abc"
    ]
    seen: dict[str, float] = {}
    while any(writer.poll() is None for writer in writers):
        now = read()
        assert seen.items() <= now.items()
        seen = now
    assert [writer.returncode for writer in writers] == [0, 0, 0]
    whose = (*"abc", "each")
    assert read().keys() == {"all", *(f"{who} {n}" for who in whose for n in range(20))}
    numbers = [path.name[:8] for path in tmp_path.glob("scores/*/*.parquet")]
    assert sorted(numbers) == [f"{number:08d}" for number in range(1, 61)]
    assert not list(tmp_path.rglob("damaged"))


def test_on_a_full_disk_the_store_stays_as_it_was(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.append(MODEL, [PROMPT], scored(-1.0))
    before = sorted(tmp_path.rglob("*"))
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (512, limits[1]))  # no file grows beyond that
    try:
        with pytest.raises(StoreError, match=r"cannot be written: .*; the store is unchanged"):
            store.append(MODEL, PROMPTS, SCORES)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert sorted(tmp_path.rglob("*")) == before
    store.append(MODEL, PROMPTS, SCORES)
    assert store.read(MODEL["fingerprint"]).height == 1 + len(PROMPTS)


def test_a_person_s_own_files_are_left_alone(tmp_path: Path) -> None:
    """A store in a folder that is somebody's keeps their .gitignore."""
    (tmp_path / ".gitignore").write_text("secret\n", encoding="utf-8")
    Store(tmp_path).append(MODEL, [PROMPT], scored(-1.0))
    assert (tmp_path / ".gitignore").read_text(encoding="utf-8") == "secret\n"
