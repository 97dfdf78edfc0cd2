"""``tacit score``: log-probabilities of answers to the prompts of a file."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Ran, Tacit

GOOD = [
    {"text": "trunk is above the", "answers": ["roots", "leaves of a tree"]},
    {"text": "True or false?", "answers": ["True", "False"], "separator": "\n"},
    {"text": "trunk is above the", "answers": ["leaves of a tree"]},
]
LONG = {"text": "trunk" + " trunk" * 199, "answers": ["roots", "leaves"]}


def score(tacit: Tacit, out: str, *records: object, options: tuple[object, ...] = ()) -> Ran:
    """Scores the prompts of a JSONL file; what is no record is written as it stands."""
    lines = [record if isinstance(record, str) else json.dumps(record) for record in records]
    Path("prompts.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return tacit("score", "prompts.jsonl", "--model", "demo", "--out", out, *options)


def scores(file: str) -> list[list[dict[str, Any]]]:
    lines = Path(file).read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["scores"] for line in lines]


@pytest.mark.usefixtures("workplace")
def test_one_line_of_scores_per_prompt(tacit: Tacit) -> None:
    """In their order; the second time nothing is asked, and the scores are the same bytes."""
    ran = [score(tacit, out, *GOOD, options=("--json",)) for out in ("a.jsonl", "b.jsonl")]
    assert [one.code for one in ran] == [0, 0], ran[0].err
    found = scores("a.jsonl")
    assert [[one["answer"] for one in line] for line in found] == [one["answers"] for one in GOOD]
    assert found[0][1] == found[2][0]
    assert set(found[0][0]) == {"answer", "logprob", "tokens", "bytes"}
    assert found[0][1]["bytes"] == 16
    assert found[0][1]["tokens"] > 1
    assert all(one["logprob"] < 0 for line in found for one in line)
    first, second = (json.loads(one.out) for one in ran)
    assert (first["asked"], second["asked"]) == (2, 0)
    assert (first["prompts"], second["prompts"]) == (3, 3)
    assert first["fingerprint"] == second["fingerprint"]
    assert Path("a.jsonl").read_bytes() == Path("b.jsonl").read_bytes()


@pytest.mark.usefixtures("workplace")
def test_packing_is_turned_off(tacit: Tacit) -> None:
    """Every text is then computed by itself: more tokens, the same model, the same scores."""
    longer = {"text": "trunk is above the roots and the", "answers": ["roots", "leaves"]}
    ran = [
        score(tacit, f"{store}.jsonl", *GOOD, longer, options=("--store", store, "--json", *option))
        for store, option in (("packed", ()), ("plain", ("--no-packing",)))
    ]
    packed, plain = (json.loads(one.out) for one in ran)
    assert packed["tokens"] < plain["tokens"]
    assert packed["fingerprint"] == plain["fingerprint"]
    values = [
        [one["logprob"] for line in scores(f"{of}.jsonl") for one in line]
        for of in ("packed", "plain")
    ]
    assert values[0] == pytest.approx(values[1], abs=1e-4)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{not JSON", "line 2: is not JSON"),
        ({"text": "x"}, "line 2: answers must be a list of strings"),
        ({"answers": ["a"]}, "line 2: text and separator must be strings"),
        ({"text": "x", "answers": ["a", ""]}, "line 2: the prompt 'x' has an empty answer"),
        ({"text": "x", "answers": ["a"], "anwsers": 1}, "line 2: has the unknown key 'anwsers'"),
        ({"text": "a ___ b", "answers": ["c"]}, "has text after its blank"),
    ],
)
def test_a_bad_prompt_is_named_and_nothing_is_written(
    tacit: Tacit, workplace: Path, line: object, message: str
) -> None:
    ran = score(tacit, "scores.jsonl", GOOD[0], line)
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert message in ran.err
    assert [path.name for path in workplace.iterdir()] == ["prompts.jsonl"]


@pytest.mark.usefixtures("workplace")
def test_a_prompt_beyond_the_window_is_skipped(tacit: Tacit) -> None:
    ran = score(tacit, "scores.jsonl", GOOD[0], LONG, GOOD[1], options=("--json",))
    assert ran.code == 0, ran.err
    first, skipped, last = scores("scores.jsonl")
    assert [one["answer"] for one in skipped] == LONG["answers"]
    assert {one["logprob"] for one in skipped} == {None}
    assert {one["missing"] for one in skipped} == {"the prompt exceeds the model's context window"}
    assert all(one["logprob"] < 0 and "missing" not in one for one in (*first, *last))
    summary = json.loads(ran.out)
    assert (summary["skipped"], summary["missing"]) == (1, 2)
    assert "skipped 1 prompt longer than the model's context window" in ran.err
    assert "'trunk trunk" in ran.err


def test_a_dry_run_counts_what_would_be_skipped(tacit: Tacit, workplace: Path) -> None:
    """For programs and for people; with --strict it is refused, as the run would be."""
    ran = score(tacit, "scores.jsonl", GOOD[0], LONG, options=("--dry-run", "--json"))
    estimate = json.loads(ran.out)
    assert [estimate[name] for name in ("prompts", "skipped", "to_ask", "distinct")] == [2, 1, 1, 1]
    assert estimate["seconds"] >= 0
    lines = score(tacit, "scores.jsonl", GOOD[0], LONG, options=("--dry-run",)).out.splitlines()
    assert lines[:3] == [
        "2 prompts, 2 distinct:",
        "to skip: 1 prompt longer than the model's context window",
        "cached: 0 prompts",
    ]
    assert lines[3].startswith("to query: 1 prompt, ")
    for options in ((), ("--dry-run",)):
        ran = score(tacit, "scores.jsonl", GOOD[0], LONG, options=("--strict", *options))
        assert ran.code == 2
        assert "tokens with its answer, but the context window of demo is 128 tokens" in ran.err
    assert [path.name for path in workplace.iterdir()] == ["prompts.jsonl"]


@pytest.mark.usefixtures("workplace")
def test_the_separator_is_for_prompts_that_give_none(
    tacit: Tacit, caplog: pytest.LogCaptureFixture
) -> None:
    """An answer that begins with a space is scored as written with an empty separator."""
    record = {"text": "It is", "answers": [" Paris"]}
    assert score(tacit, "a.jsonl", {**record, "separator": ""}, {**record, "text": "Was"}).code == 0
    assert "1 prompt doubles" in caplog.text
    assert "'Was  Paris'" in caplog.text
    own = score(tacit, "b.jsonl", record, options=("--strict", "--separator", ""))
    usual = score(tacit, "c.jsonl", {"text": "It is", "answers": ["Paris"]})
    assert (own.code, usual.code) == (0, 0)
    ((as_written,),), ((with_separator,),) = scores("b.jsonl"), scores("c.jsonl")
    assert as_written["logprob"] == pytest.approx(with_separator["logprob"], abs=1e-4)
