"""Models that are tuned for chat, from the command line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Tacit
from tests.cli.test_run_consistency import QUESTIONS, TRIPLES
from tests.models import chatting, tiny
from tests.models.openai.serving import Manners, Serving, Toy, serving
from tests.models.openai.speaking import Speech, opinions
from tests.report.conftest import Page


@pytest.fixture
def drawings(workplace: Path) -> Path:
    """One drawing of two parts."""
    path = workplace / "annotations-0.tsv"
    path.write_text("me\tpeach\t---\tstone\tinside\tflesh\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def talker(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny model with a chat template."""
    return chatting.save("gemma", tmp_path_factory.mktemp("talker"))


def test_a_run_as_a_chat_says_so_and_is_another_run(
    tacit: Tacit, talker: Path, drawings: Path, workplace: Path
) -> None:
    """In its request and its manifest; the store gives it none of the plain run's scores."""
    common = ("--drawings", drawings, "--model", talker, "--device", "cpu", "--json")
    ran = tacit("run", "parts", *common, "--out", "plain")
    assert ran.code == 0, ran.err
    ran = tacit("run", "parts", *common, "--chat", "--out", "chat")
    assert ran.code == 0, ran.err
    plain, chat = (
        json.loads((workplace / out / "manifest.json").read_text())["model"]
        for out in ("plain", "chat")
    )
    assert plain["elicitation"] == "log-probabilities of whole answers"
    assert chat["elicitation"] == "log-probabilities of whole answers, in chat"
    assert plain["fingerprint"] != chat["fingerprint"]
    assert "chat: true" in (workplace / "chat" / "run.yaml").read_text()
    assert "chat: false" in (workplace / "plain" / "run.yaml").read_text()
    ran = tacit("run", "parts", *common, "--out", "chat")
    assert ran.code == 2


def test_what_a_chat_gives_a_model_is_shown(tacit: Tacit, talker: Path, drawings: Path) -> None:
    """Token by token, the reply's in brackets."""
    options = ("--drawings", drawings, "--model", talker, "--first", 1)
    ran = tacit("show", "prompts", "parts", *options, "--chat")
    assert ran.code == 0, ran.err
    assert "input: <s> <start_of_turn> " in ran.out
    assert " Ċ [True]\n" in ran.out


def test_a_model_without_a_template_is_refused_in_one_line(
    tacit: Tacit, drawings: Path, workplace: Path
) -> None:
    """It was asked for what it cannot do: exit code 2."""
    folder = tiny.save("gpt2", workplace / "gpt2")
    ran = tacit("run", "parts", "--drawings", drawings, "--model", folder, "--chat", "--out", "r")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "no chat template" in ran.err
    assert not (workplace / "r").exists()


def test_a_server_takes_no_template_from_here(
    tacit: Tacit, drawings: Path, workplace: Path
) -> None:
    """It has its own."""
    ran = tacit(
        *("run", "parts", "--drawings", drawings, "--model", "http://h/v1"),
        *("--chat", "--out", workplace / "r"),
    )
    assert ran.code == 2
    assert "--chat, --adapter and --device-map apply only to models in this process" in ran.err


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Serving]:
    """A server that chats, and no key."""
    for variable in ("TACIT_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    with serving(Toy(tiny.gpt2_like().backend_tokenizer), Manners()) as state:
        yield state


def run(tacit: Tacit, server: Serving, drawings: Path, *options: object) -> tuple[int, str, str]:
    """Runs the parts probe on a server's chat: exit code, output, errors."""
    ran = tacit(
        *("run", "parts", "--drawings", drawings, "--model", server.address, "--api", "chat"),
        *options,
    )
    return ran.code, ran.out, ran.err


def test_sampled_replies_answer_the_parts_probe(
    tacit: Tacit, server: Serving, drawings: Path, workplace: Path
) -> None:
    """Beliefs are shares; manifest, tables and report name them, and the store is used again."""
    code, out, err = run(
        *(tacit, server, drawings, "--samples", 12, "--yes", "--out", workplace / "r")
    )
    assert code == 0, err
    assert "Elicitation: votes of 12 samples, in chat" in out
    assert "replies could not be parsed as an answer and are not counted" in out
    assert "at most 565 calls" in err
    manifest = json.loads((workplace / "r" / "manifest.json").read_text())
    assert manifest["model"]["elicitation"] == "votes of 12 samples, in chat"
    assert manifest["summary"]["elicitation"] == "votes of 12 samples, in chat"
    assert manifest["summary"]["votes"]["replies"] == 12 * manifest["summary"]["questions"]
    asked = len(server.requests)
    assert asked <= 565
    code, _, err = run(
        *(tacit, server, drawings, "--samples", 9, "--yes", "--json", "--out", workplace / "s")
    )
    assert code == 0, err
    assert len(server.requests) - asked < 60  # it was tried, and nothing else asked
    ran = tacit("report", workplace / "r", "--out", "report.html")
    assert ran.code == 0, ran.err
    page = (workplace / "report.html").read_text()
    assert "Elicitation: votes of 12 samples, in chat." in page


def test_first_tokens_answer_the_parts_probe(
    tacit: Tacit, server: Serving, drawings: Path, workplace: Path
) -> None:
    """And are the server's own log-probabilities."""
    import polars as pl

    code, out, err = run(tacit, server, drawings, "--yes", "--out", workplace / "r")
    assert code == 0, err
    assert "Elicitation: log-probabilities of first tokens, in chat" in out
    assert "at most 98 calls" in err
    assert len(server.requests) <= 98
    for row in pl.read_parquet(workplace / "r" / "questions.parquet").to_dicts():
        shares = opinions(row["text"])
        expected = shares["True."] / (shares["True."] + shares["False"])
        assert row["p_true"] == pytest.approx(expected, abs=1e-5)


def test_a_cost_that_nobody_confirms_is_refused_before_the_first_call(
    tacit: Tacit, server: Serving, drawings: Path, workplace: Path
) -> None:
    """There is no terminal here: exit code 2, and the server has heard nothing."""
    code, _, err = run(tacit, server, drawings, "--samples", 5, "--out", workplace / "r")
    assert code == 2
    assert "28 distinct prompts: at most 369 calls, about" in err
    assert "give --yes to confirm it" in err
    assert server.statuses.total() == 0
    assert not (workplace / "r").exists()


@pytest.mark.parametrize("answer", ["y", "n"])
def test_the_cost_is_confirmed_at_a_terminal(
    *,
    tacit: Tacit,
    server: Serving,
    drawings: Path,
    workplace: Path,
    monkeypatch: pytest.MonkeyPatch,
    answer: str,
) -> None:
    """No asks nothing."""
    import io

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr("sys.stdin", Terminal(f"{answer}\n"))
    code, _, err = run(tacit, server, drawings, "--samples", 2, "--out", workplace / "r")
    assert code == (0 if answer == "y" else 2), err
    assert bool(server.statuses) == (answer == "y")


def test_a_dry_run_tells_the_cost_and_calls_nobody(
    tacit: Tacit, server: Serving, drawings: Path, workplace: Path
) -> None:
    """Also of thoughts, which may be without an end."""
    options = ("--samples", 5, "--dry-run", "--json", "--out", workplace / "r")
    code, out, err = run(tacit, server, drawings, *options, "--thinking-tokens", 100)
    assert code == 0, err
    (told,) = json.loads(out)["runs"]
    assert (told["distinct"], told["calls"]) == (28, 369)
    assert told["answer_tokens"] == 369 * 116 + 1024
    code, out, _ = run(tacit, server, drawings, *options, "--thinking-tokens", "all")
    assert json.loads(out)["runs"][0]["answer_tokens"] is None
    assert server.statuses.total() == 0


def test_thoughts_that_are_cut_are_told(
    tacit: Tacit, server: Serving, drawings: Path, workplace: Path
) -> None:
    """Apart from the other replies that are no answer."""
    speech = Speech(thinks="tags", thought=lambda draw: 40 * (draw % 3 == 0), several="ignored")
    server.manners.speech = speech
    options = ("--samples", 6, "--thinking-tokens", 10, "--yes", "--out", workplace / "r")
    code, out, err = run(tacit, server, drawings, *options)
    assert code == 0, err
    votes = json.loads((workplace / "r" / "manifest.json").read_text())["summary"]["votes"]
    assert 0 < votes["truncated"] < votes["unparsed"]
    assert f"{votes['truncated']:,} replies were cut off during reasoning" in out


def test_prompts_of_a_file_are_voted_on(tacit: Tacit, server: Serving, workplace: Path) -> None:
    """Each answer with its votes and its share."""
    prompts = workplace / "prompts.jsonl"
    prompts.write_text('{"text": "Is it?", "answers": ["True", "False"]}\n')
    common = ("--model", server.address, "--api", "chat", "--yes", "--json")
    ran = tacit("score", prompts, *common, "--samples", 20, "--out", "votes.jsonl")
    assert ran.code == 0, ran.err
    line = json.loads((workplace / "votes.jsonl").read_text())
    true, false = line["votes"]
    assert true["votes"] + false["votes"] + line["unparsed"] == 20
    assert true["share"] == true["votes"] / (true["votes"] + false["votes"])
    assert json.loads(ran.out)["elicitation"] == "votes of 20 samples, in chat"
    ran = tacit("score", prompts, *common, "--out", "scores.jsonl")
    assert ran.code == 0, ran.err
    assert len(json.loads((workplace / "scores.jsonl").read_text())["scores"]) == 2


def test_models_that_were_asked_otherwise_are_compared_under_a_warning(
    tacit: Tacit, server: Serving, drawings: Path, workplace: Path
) -> None:
    """On standard error and in the page; runs asked alike have none."""
    runs = {"a": ("--samples", 4), "b": (), "c": ("--samples", 4)}
    for name, options in runs.items():
        code, _, err = run(tacit, server, drawings, *options, "--yes", "--out", workplace / name)
        assert code == 0, err
    ran = tacit("compare", "a", "b", "--out", "ab.html")
    assert ran.code == 0, ran.err
    assert "beliefs come from different elicitation methods" in ran.err
    assert "come from different elicitation methods" in (workplace / "ab.html").read_text()
    ran = tacit("compare", "a", "c", "--out", "ac.html")
    assert (ran.code, ran.err) == (0, "")
    assert "come from different elicitation methods" not in (workplace / "ac.html").read_text()


@pytest.mark.slow
def test_models_that_thought_otherwise_are_compared_under_a_warning(
    tacit: Tacit, server: Serving, drawings: Path, workplace: Path
) -> None:
    """The limit of a thought is part of how beliefs were elicited; tables and manifest name it."""
    ways = {
        "some": ("20", ", after thoughts of at most 20 tokens"),
        "all": ("all", ", after thoughts"),
        "none": ("0", ""),
    }
    server.manners.speech = Speech(thinks="tags", several="ignored")
    for name, (tokens, told) in ways.items():
        options = ("--samples", 2, "--thinking-tokens", tokens, "--yes", "--out", workplace / name)
        code, out, err = run(tacit, server, drawings, *options)
        assert code == 0, err
        assert f"Elicitation: votes of 2 samples, in chat{told}\n" in out
    for pair in (("some", "all"), ("all", "none")):
        ran = tacit("compare", *pair, "--out", "page.html")
        assert ran.code == 0, ran.err
        assert "beliefs come from different elicitation methods" in ran.err
        assert "come from different elicitation methods" in (workplace / "page.html").read_text()


def test_models_that_one_command_asks_otherwise_are_compared_under_a_warning(
    tacit: Tacit, server: Serving, drawings: Path, workplace: Path
) -> None:
    """On standard error; each model's way stands below the comparison and in its file."""
    ways = {
        "demo": "log-probabilities of whole answers",
        server.address: "votes of 4 samples, in chat",
    }
    models = ("--model", "demo", "--samples", 4, "--yes", "--out", workplace / "r")
    code, out, err = run(tacit, server, drawings, *models)
    assert code == 0, err
    assert "Parts: these models' beliefs come from different elicitation methods" in err
    told = out[out.index("Differences between models") :]
    assert all(f"Elicitation, {name}: {way}\n" in told for name, way in ways.items())


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--api", "chat", "--thinking-tokens", "few"), "must be a number of tokens, or all"),
        (("--samples", 3), "require --api chat"),
    ],
)
def test_options_that_mean_nothing_are_refused(
    tacit: Tacit, drawings: Path, workplace: Path, options: tuple[object, ...], reason: str
) -> None:
    """Before anybody is asked."""
    ran = tacit(
        *("run", "parts", "--drawings", drawings, "--model", "http://h/v1", "--yes"),
        *("--out", workplace / "r", *options),
    )
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert reason in ran.err


@pytest.mark.parametrize("option", ["--samples", "--thinking-tokens"])
def test_a_local_model_is_not_sampled(
    tacit: Tacit, drawings: Path, workplace: Path, option: str
) -> None:
    """Nor does it think: what is asked for is refused, not left out in silence."""
    ran = tacit(
        *("run", "parts", "--drawings", drawings, "--model", "demo", option, 3),
        *("--out", workplace / "r"),
    )
    assert ran.code == 2
    assert "--samples and --thinking-tokens require --api chat" in ran.err


def test_a_dry_run_refuses_what_a_run_would(tacit: Tacit, workplace: Path) -> None:
    """A cluster for a server's chat."""
    (workplace / "prompts.jsonl").write_text('{"text": "Is it?", "answers": ["True", "False"]}\n')
    ran = tacit(
        *("score", "prompts.jsonl", "--model", "http://h/v1", "--api", "chat", "--samples", 2),
        *("--engine", "ray", "--dry-run", "--out", "votes.jsonl"),
    )
    assert ran.code == 2


def test_a_local_model_has_no_api(tacit: Tacit, drawings: Path, workplace: Path) -> None:
    """It is told what it has."""
    ran = tacit(
        *("run", "parts", "--drawings", drawings, "--model", "demo", "--api", "chat"),
        *("--out", workplace / "r"),
    )
    assert ran.code == 2
    assert "use --chat for a model in this process" in ran.err


def test_choices_are_not_compared_as_texts_in_a_chat(tacit: Tacit, workplace: Path) -> None:
    """Refused before the server is asked, with the way that there is."""
    (workplace / "triples.tsv").write_text(TRIPLES, encoding="utf-8")
    (workplace / "questions.csv").write_text(QUESTIONS, encoding="utf-8")
    assert tacit("kb", "import", "triples.tsv", "--out", "small.kb").code == 0
    ran = tacit(
        *("run", "consistency", "--questions", "questions.csv", "--kb", "small.kb", "--model"),
        *("http://h/v1", "--api", "chat", "--samples", 3, "--out", workplace / "r"),
    )
    assert ran.code == 2
    assert "--anchors verify" in ran.err


@pytest.mark.slow
def test_sampled_replies_answer_the_consistency_probe(
    tacit: Tacit, server: Serving, workplace: Path
) -> None:
    """Facts by all replies, questions by verifying their choices; down to one of them."""
    import polars as pl

    (workplace / "triples.tsv").write_text(TRIPLES, encoding="utf-8")
    (workplace / "questions.csv").write_text(QUESTIONS, encoding="utf-8")
    assert tacit("kb", "import", "triples.tsv", "--out", "small.kb").code == 0
    ran = tacit(
        *("run", "consistency", "--questions", "questions.csv", "--kb", "small.kb"),
        *("--model", server.address, "--api", "chat", "--samples", 3, "--anchors", "verify"),
        *("--yes", "--out", "run", "--figures", "svg"),
    )
    assert ran.code == 0, ran.err
    assert "Elicitation: votes of 3 samples, in chat" in ran.out
    texts = 8 * 24 + 7 * 24
    assert f"{texts:,} distinct prompts: at most {3 * texts + 229:,} calls" in ran.err
    assert len(server.requests) <= 3 * texts + 29
    summary = json.loads((workplace / "run" / "manifest.json").read_text())["summary"]
    assert summary["votes"]["replies"] == 3 * texts
    facts = pl.read_parquet(workplace / "run" / "findings" / "fact_answers.parquet")
    questions = pl.read_parquet(workplace / "run" / "questions.parquet")
    positive = {"Yes", "True", "Right", "Correct", "Positive", "Pass", "On"}
    for row in facts.to_dicts():
        of = questions.filter(pl.col("question") == row["question"]).drop_nulls("votes")
        yes = sum(of.filter(pl.col("word").is_in(positive))["votes"].to_list())
        no = sum(of["votes"].to_list()) - yes
        assert row["right"] is ((yes > no) == (row["expected"] == "yes"))
        assert row["margin"] == pytest.approx((yes - no) / (yes + no))
        assert row["share"] == pytest.approx(yes / (yes + no))
        assert row["unparsed"] == 3 * 24 - yes - no
    assert "share" in tacit("show", "anchor", "run", "q1", "--json").out
    ran = tacit("report", "run", "--out", "report.html")
    assert ran.code == 0, ran.err
    page = Page((workplace / "report.html").read_text())
    assert "Elicitation: votes of 3 samples, in chat" in page.html
    for table in ("facts", "scores"):
        columns = page.blob(f"table-consistency-0-{table}")["columns"]
        headings = {column["name"]: column["heading"] for column in columns}
        assert headings["share"] == "vote share"
        assert {"unparsed", "truncated"} <= set(headings)


def test_the_consistency_of_models_that_were_asked_otherwise_is_warned_of(
    tacit: Tacit, server: Serving, workplace: Path
) -> None:
    """As they stand beside one another."""
    (workplace / "triples.tsv").write_text(TRIPLES, encoding="utf-8")
    (workplace / "questions.csv").write_text(QUESTIONS, encoding="utf-8")
    assert tacit("kb", "import", "triples.tsv", "--out", "small.kb").code == 0
    ran = tacit(
        *("run", "consistency", "--questions", "questions.csv", "--kb", "small.kb"),
        *("--model", server.address, "--api", "chat", "--samples", 1, "--anchors", "verify"),
        *("--model", "demo", "--yes", "--out", "run"),
    )
    assert ran.code == 0, ran.err
    assert "Consistency: these models' beliefs come from different elicitation methods" in ran.err
