from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Tacit

GOOD = [
    {"text": "trunk is above the", "answers": ["roots", "leaves of a tree"]},
    {"text": "True or false?", "answers": ["True", "False"], "separator": "\n"},
    {"text": "trunk is above the", "answers": ["leaves of a tree"]},
]


def write(path: Path, *records: object) -> Path:
    """A JSONL file; what is no record is written as it stands."""
    lines = [record if isinstance(record, str) else json.dumps(record) for record in records]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def test_one_line_of_scores_per_line_of_prompts(tacit: Tacit, workplace: Path) -> None:
    """In their order, with each answer's log-probability, tokens and bytes."""
    prompts = write(workplace / "prompts.jsonl", *GOOD)
    ran = tacit("score", prompts, "--model", "demo", "--out", "scores.jsonl")
    assert ran.code == 0, ran.err
    lines = (workplace / "scores.jsonl").read_text(encoding="utf-8").splitlines()
    scores = [json.loads(line)["scores"] for line in lines]
    assert [[one["answer"] for one in line] for line in scores] == [one["answers"] for one in GOOD]
    assert scores[0][1] == scores[2][0]
    assert set(scores[0][0]) == {"answer", "logprob", "tokens", "bytes"}
    assert scores[0][1]["bytes"] == 16
    assert scores[0][1]["tokens"] > 1
    assert all(one["logprob"] < 0 for line in scores for one in line)


def test_json_counts_what_was_asked(tacit: Tacit, workplace: Path) -> None:
    """And the second time nothing is asked; the scores are the same bytes."""
    prompts = write(workplace / "prompts.jsonl", *GOOD)
    first = tacit("score", prompts, "--model", "demo", "--out", "a.jsonl", "--json")
    second = tacit("score", prompts, "--model", "demo", "--out", "b.jsonl", "--json")
    counts = [json.loads(ran.out) for ran in (first, second)]
    assert [count["asked"] for count in counts] == [2, 0]
    assert [count["prompts"] for count in counts] == [3, 3]
    assert counts[0]["fingerprint"] == counts[1]["fingerprint"]
    assert (workplace / "a.jsonl").read_bytes() == (workplace / "b.jsonl").read_bytes()


def test_packing_is_turned_off(tacit: Tacit, workplace: Path) -> None:
    """Every text is then computed by itself: more tokens, the same model, the same scores."""
    longer = {"text": "trunk is above the roots and the", "answers": ["roots", "leaves"]}
    prompts = write(workplace / "prompts.jsonl", *GOOD, longer)
    told, scores = [], []
    for option in ((), ("--no-packing",)):
        out = f"{len(option)}.jsonl"
        store = f"store{len(option)}"
        ran = tacit(
            *("score", prompts, "--model", "demo", "--out", out, "--store", store, "--json"),
            *option,
        )
        assert ran.code == 0, ran.err
        told.append(json.loads(ran.out))
        lines = (workplace / out).read_text(encoding="utf-8").splitlines()
        scores.append([one["logprob"] for line in lines for one in json.loads(line)["scores"]])
    assert told[0]["tokens"] < told[1]["tokens"]
    assert told[0]["fingerprint"] == told[1]["fingerprint"]
    assert scores[0] == pytest.approx(scores[1], abs=1e-4)


def test_a_dry_run_tells_and_writes_nothing(tacit: Tacit, workplace: Path) -> None:
    """It counts prompts, distinct prompts and tokens, and estimates the time."""
    prompts = write(workplace / "prompts.jsonl", *GOOD)
    ran = tacit("score", prompts, "--model", "demo", "--out", "s.jsonl", "--dry-run", "--json")
    told = json.loads(ran.out)
    assert (told["prompts"], told["distinct"], told["to_ask"]) == (3, 2, 2)
    assert told["tokens"] > 0
    assert told["seconds"] >= 0
    assert [path.name for path in workplace.iterdir()] == ["prompts.jsonl"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{not JSON", "line 2: is not JSON"),
        ("[1]", "line 2: is list, not a JSON object"),
        ({"text": "x"}, "line 2: answers must be a list of strings"),
        ({"text": "x", "answers": "yes"}, "line 2: answers must be a list of strings"),
        ({"answers": ["a"]}, "line 2: text and separator must be strings"),
        ({"text": "x", "answers": []}, "line 2: the prompt 'x' has no answers"),
        ({"text": "x", "answers": ["a", ""]}, "line 2: the prompt 'x' has an empty answer"),
        (
            {"text": "a ___ b ___", "answers": ["a"]},
            "line 2: the prompt 'a ___ b ___' has 2 blanks",
        ),
        ({"text": "x", "answers": ["a"], "anwsers": 1}, "line 2: has the unknown key 'anwsers'"),
        ({"text": "a ___ b", "answers": ["c"]}, "has text after its blank"),
    ],
)
def test_a_bad_prompt_is_named_and_nothing_is_written(
    tacit: Tacit, workplace: Path, line: object, said: str
) -> None:
    """Exit code 2, what was wrong, and neither scores nor store."""
    prompts = write(workplace / "prompts.jsonl", GOOD[0], line)
    ran = tacit("score", prompts, "--model", "demo", "--out", "scores.jsonl")
    assert ran.code == 2
    assert said in ran.err
    assert ran.err.count("\n") == 1
    assert [path.name for path in workplace.iterdir()] == ["prompts.jsonl"]


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--model", "./nowhere", "there is no such model folder"),
        ("--model", "empty", "contains no config.json"),
        ("--model", "weightless", "contains no weights"),
        ("--out", "scores.txt", "has the unsupported suffix '.txt'; expected .jsonl"),
        ("--dtype", "float12", "is not one of 'auto', 'float32'"),
        ("--device", "toaster", "cannot be used here"),
        ("--batch-tokens", "0", "greater than or equal to 1"),
        ("--masked-mode", "both", "is not one of 'left-to-right'"),
    ],
)
def test_a_bad_option_is_named_and_nothing_is_written(
    tacit: Tacit, workplace: Path, option: str, value: str, said: str
) -> None:
    """Exit code 2, one line, and neither scores nor store."""
    (workplace / "empty").mkdir()
    (workplace / "weightless").mkdir()
    (workplace / "weightless" / "config.json").write_text('{"model_type": "gpt2"}')
    prompts = write(workplace / "prompts.jsonl", *GOOD)
    given = {"--model": "demo", "--out": "scores.jsonl", option: value}
    ran = tacit("score", prompts, *(part for pair in given.items() for part in pair))
    assert ran.code == 2
    assert said in ran.err.splitlines()[-1]
    assert sorted(path.name for path in workplace.iterdir()) == [
        "empty",
        "prompts.jsonl",
        "weightless",
    ]


def test_a_missing_file_of_prompts_is_named(tacit: Tacit, workplace: Path) -> None:
    """Exit code 2."""
    ran = tacit("score", "nothing.jsonl", "--model", "demo", "--out", "s.jsonl")
    assert (ran.code, list(workplace.iterdir())) == (2, [])
    assert "nothing.jsonl: there is no such file" in ran.err


LONG = {"text": "trunk" + " trunk" * 199, "answers": ["roots", "leaves"]}


def test_a_prompt_beyond_the_window_is_skipped(tacit: Tacit, workplace: Path) -> None:
    """It has its line, with nulls and the reason, and it is counted and listed."""
    prompts = write(workplace / "prompts.jsonl", GOOD[0], LONG, GOOD[1])
    ran = tacit("score", prompts, "--model", "demo", "--out", "scores.jsonl", "--json")
    assert ran.code == 0, ran.err
    lines = (workplace / "scores.jsonl").read_text(encoding="utf-8").splitlines()
    first, skipped, last = (json.loads(line)["scores"] for line in lines)
    assert [one["answer"] for one in skipped] == LONG["answers"]
    assert {one["logprob"] for one in skipped} == {None}
    assert {one["missing"] for one in skipped} == {"the prompt exceeds the model's context window"}
    assert all(one["logprob"] < 0 and "missing" not in one for one in (*first, *last))
    told = json.loads(ran.out)
    assert (told["skipped"], told["missing"]) == (1, 2)
    assert "skipped 1 prompt longer than the model's context window" in ran.err
    assert "'trunk trunk" in ran.err


def test_a_dry_run_counts_what_would_be_skipped(tacit: Tacit, workplace: Path) -> None:
    """For programs and for people."""
    prompts = write(workplace / "prompts.jsonl", GOOD[0], LONG)
    asked = ("score", prompts, "--model", "demo", "--out", "scores.jsonl", "--dry-run")
    told = json.loads(tacit(*asked, "--json").out)
    assert (told["skipped"], told["to_ask"], told["distinct"]) == (1, 1, 1)
    lines = tacit(*asked).out.splitlines()
    assert lines[0] == "2 prompts, 2 distinct:"
    assert lines[1] == "to skip: 1 prompt longer than the model's context window"
    assert lines[2] == "cached: 0 prompts"
    assert lines[3].startswith("to query: 1 prompt, ")


@pytest.mark.parametrize("options", [(), ("--dry-run",)])
def test_strict_refuses_a_prompt_beyond_the_window(
    tacit: Tacit, workplace: Path, options: tuple[str, ...]
) -> None:
    """With exit code 2, before anything is asked or written."""
    prompts = write(workplace / "prompts.jsonl", GOOD[0], LONG)
    asked = ("score", prompts, "--model", "demo", "--out", "scores.jsonl", "--strict")
    ran = tacit(*asked, *options)
    assert ran.code == 2
    assert "tokens with its answer, but the context window of demo is 128 tokens" in ran.err
    assert [path.name for path in workplace.iterdir()] == ["prompts.jsonl"]


def test_white_space_that_doubles_is_named_and_with_strict_refused(
    tacit: Tacit, workplace: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Answers that begin with a space are scored as written only with an empty separator."""
    prompts = write(workplace / "p.jsonl", {"text": "It is", "answers": [" Paris", " Rome"]})
    asked = ("score", prompts, "--model", "demo", "--out")
    named = tacit(*asked, "a.jsonl")
    assert named.code == 0
    assert "'It is  Paris'" in caplog.text
    assert "'It is Paris'" in caplog.text
    caplog.clear()
    refused = tacit(*asked, "b.jsonl", "--strict")
    assert refused.code == 2
    assert not (workplace / "b.jsonl").exists()
    meant = tacit(*asked, "c.jsonl", "--strict", "--separator", "")
    assert meant.code == 0
    assert "doubles" not in caplog.text
    usual = write(workplace / "u.jsonl", {"text": "It is", "answers": ["Paris", "Rome"]})
    assert tacit("score", usual, "--model", "demo", "--out", "d.jsonl").code == 0
    as_written, with_separator = (
        json.loads((workplace / name).read_text(encoding="utf-8"))["scores"]
        for name in ("c.jsonl", "d.jsonl")
    )
    for one, other in zip(as_written, with_separator, strict=True):
        assert one["logprob"] == pytest.approx(other["logprob"], abs=1e-4)


def test_a_record_s_own_separator_counts(
    tacit: Tacit, workplace: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The option is for records that give none."""
    record = {"text": "It is", "answers": [" Paris"]}
    prompts = write(workplace / "p.jsonl", {**record, "separator": ""}, {**record, "text": "Was"})
    tacit("score", prompts, "--model", "demo", "--out", "a.jsonl")
    assert "1 prompt doubles" in caplog.text
    assert "'Was  Paris'" in caplog.text
