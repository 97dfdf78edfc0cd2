"""Models behind a server, and models that are asked in a chat, from the command line."""

import io
import json
import shlex
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import polars as pl
import pytest

from tacit.models.openai.roads import NAMED, ROADS, SYSTEM_ONE, VOTES
from tacit.requests import OUTSIDE
from tests.cli.conftest import Ran, Tacit
from tests.models import chatting, tiny
from tests.models.openai.deciding import Deciding
from tests.models.openai.model import Manners, Toy
from tests.models.openai.serving import Serving, serving
from tests.models.openai.speaking import Speech, opinions
from tests.report.conftest import Page

PROMPTS = [
    {"text": "A bear has fur, is big, and has", "answers": ["claws", "the egg yolk"]},
    {"text": "True or false?", "answers": ["True", "False"], "separator": "\n"},
]
Run = Callable[..., Ran]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Serving]:
    """A server of a toy language that also chats, and no key."""
    for variable in ("TACIT_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    with serving(Toy(tiny.gpt2_like().backend_tokenizer)) as state:
        yield state


@pytest.fixture
def prompts(workplace: Path) -> Path:
    path = workplace / "prompts.jsonl"
    path.write_text("".join(f"{json.dumps(prompt)}\n" for prompt in PROMPTS))
    return path


@pytest.fixture
def drawings(workplace: Path) -> Path:
    """One drawing of two parts."""
    path = workplace / "annotations-0.tsv"
    path.write_text("me\tpeach\t---\tstone\tinside\tflesh\n", encoding="utf-8")
    return path


@pytest.fixture
def chat(tacit: Tacit, server: Serving, drawings: Path) -> Run:
    """Runs the parts probe on the server's chat, with an ``--out``."""

    def run(out: str, *options: object) -> Ran:
        model = ("--model", server.address, "--api", "chat")
        return tacit("run", "parts", "--drawings", drawings, *model, *options, "--out", out)

    return run


def test_why_answers_are_missing_stays_with_the_run(
    tacit: Tacit, server: Serving, drawings: Path, workplace: Path
) -> None:
    """In the manifest, which says how the server was asked, and in the report; twice the same."""
    server.manners = Manners(echo="none", top=1)
    server.language.tokenizer.save(str(workplace / "tokenizer.json"))
    model = ("--model", server.address, "--served-model", "toy", "--tokenizer", "tokenizer.json")
    unscored = []
    for name in "ab":
        ran = tacit("run", "parts", "--drawings", drawings, *model, "--out", name)
        assert ran.code == 0, ran.err
        manifest = json.loads((workplace / name / "manifest.json").read_text())
        assert manifest["model"]["kind"] == "server"
        assert manifest["model"]["identity"]["served_model"] == "toy"
        assert f"tacit: {manifest['model']['preflight']}\n" in ran.err
        unscored.append(manifest["summary"]["unscored"])
        for reason, count in unscored[-1].items():
            assert f"{count:,} answers have no score: {reason}" in ran.err
    assert unscored[0] == unscored[1]
    assert unscored[0][OUTSIDE] > 0
    assert tacit("report", "b", "--out", "b.html").code == 0
    for reason, count in unscored[1].items():
        assert f"{count:,} answers have no score: {reason}" in (workplace / "b.html").read_text()


def test_the_roads_of_a_server_are_listed(
    tacit: Tacit, server: Serving, drawings: Path, workplace: Path
) -> None:
    """With the command that runs a probe, which works; exit code 1 if there is none."""
    server.manners.deciding.form = "openai"
    server.language.tokenizer.save(str(workplace / "tokenizer.json"))
    options = ("--tokenizer", "tokenizer.json", "--concurrency", "3", "--json")
    ran = tacit("check-server", server.address, *options)
    assert ran.code == 0, ran.err
    found = json.loads(ran.out)
    needs = {one["road"]: one["found"] for one in found["roads"]}[NAMED.name]
    assert needs.startswith("it lacks log-probabilities of named tokens")
    usable = [one["road"] for one in found["roads"] if one["usable"]]
    assert usable == [road.name for road in ROADS if road not in {SYSTEM_ONE, NAMED, VOTES}]
    assert found["roads"][0]["probes"] == ["parts", "consistency"]
    assert found["requests"] == server.statuses.total()
    command = shlex.split(found["next"])[1:]
    assert command[1:4] == ["parts", "--drawings", "DRAWINGS"]
    assert command[-4:-2] == ["--concurrency", "3"]
    assert tacit(*command, "--drawings", drawings).code == 0
    server.manners = Manners(form="none", speech=Speech(replies=lambda _: {"Yes.": 1.0}))
    ran = tacit("check-server", server.address)
    assert ran.code == 1
    assert "No road can be used" in ran.out


def _in_batches(values: list[float], _: int, asked: Sequence[object]) -> list[float]:
    """True has 0.1 more where several questions are asked at once; nothing is certain."""
    first = 0.25 + values[0] / 2 + 0.1 * (len(asked) > 1)
    return [first, 1 - first] if len(values) == 2 else values


def test_decisions_say_what_they_depend_on(
    tacit: Tacit, server: Serving, prompts: Path, drawings: Path, workplace: Path
) -> None:
    """In the block, the manifest and the report; a dry run counts requests, and stores nothing."""
    server.manners.deciding = Deciding("openai", most=4, changes=_in_batches)
    model = ("--model", server.address, "--api", "decisions")
    run = ("run", "parts", "--drawings", drawings, *model)
    planned = json.loads(tacit(*run, "--dry-run", "--json").out)["runs"][0]
    assert planned["requests"] == -(-planned["to_ask"] // 4) > 1
    for name in "ab":  # the second run takes all answers from the store
        ran = tacit(*run, "--out", name)
        assert ran.code == 0, ran.err
        assert "Caution: probabilities change by 0.100 if a question is asked alone." in ran.out
        summary = json.loads((workplace / name / "manifest.json").read_text())["summary"]
        assert summary["dependence"]["alone"]["mean"] == pytest.approx(0.1)
        assert "Elicitation: probabilities of options (OpenAI's decisions)" in ran.out
    assert tacit("report", "b", "--out", "b.html").code == 0
    assert "Mean change of a probability" in (workplace / "b.html").read_text()
    scored = tacit("score", prompts, *model, "--out", "scores.jsonl", "--json")
    assert json.loads(scored.out)["missing"] == 0


class Elsewhere(BaseHTTPRequestHandler):
    """A server that has nothing at the requested path, and says so or returns a page."""

    status: int

    def do_GET(self) -> None:
        self.send_error(self.status)

    do_POST = do_GET  # noqa: N815 - the name that http.server calls

    def log_message(self, *_: object) -> None:
        """Nothing is logged."""


@pytest.mark.parametrize("status", [404, 200])
def test_a_server_of_no_model_is_refused(
    tacit: Tacit, prompts: Path, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    """With what it calls itself; the address is corrected, unless it has /v1."""
    monkeypatch.setattr(Elsewhere, "status", status, raising=False)
    with ThreadingHTTPServer(("127.0.0.1", 0), Elsewhere) as listening:
        threading.Thread(target=listening.serve_forever, daemon=True).start()
        bare = f"http://127.0.0.1:{listening.server_port}"
        ran = {
            address: tacit("score", prompts, "--model", address, "--out", "scores.jsonl")
            for address in (bare, f"{bare}/v1")
        }
        listening.shutdown()
    assert all(one.code for one in ran.values())
    assert all("BaseHTTP" in one.err and "none of /decisions" in one.err for one in ran.values())
    assert f"is the address {bare}/v1?" in ran[bare].err
    assert "is the address" not in ran[f"{bare}/v1"].err


@pytest.mark.parametrize("package", ["tenacity", "tokenizers"])
def test_a_missing_package_of_the_extra_is_named(
    tacit: Tacit, prompts: Path, monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    """Without any one package of the extra, the message says how to install it."""
    for name in [name for name in sys.modules if name.startswith("tacit.models.openai.")]:
        monkeypatch.delitem(sys.modules, name)  # where the package was imported
    monkeypatch.setitem(sys.modules, package, None)
    ran = tacit("score", prompts, "--model", "http://127.0.0.1:9/v1", "--out", "a.jsonl")
    assert ran.code == 2
    assert f"{package} is not installed" in ran.err
    assert "pip install 'tacit-lm[server]'" in ran.err


def test_a_local_model_in_a_chat_is_another_run(
    tacit: Tacit, drawings: Path, workplace: Path
) -> None:
    """Request and manifest say so; the store gives it none of the plain run's scores."""
    talker = chatting.save("gemma", workplace / "talker")
    request = ("run", "parts", "--drawings", drawings, "--model", talker, "--json")
    for out, options in (("plain", ()), ("chat", ("--chat",))):
        ran = tacit(*request, *options, "--out", out)
        assert ran.code == 0, ran.err
        assert (
            f"chat: {'true' if options else 'false'}" in (workplace / out / "run.yaml").read_text()
        )
    plain, chat = (
        json.loads((workplace / out / "manifest.json").read_text())["model"]
        for out in ("plain", "chat")
    )
    assert plain["elicitation"] == "log-probabilities of whole answers"
    assert chat["elicitation"] == "log-probabilities of whole answers, in chat"
    assert plain["fingerprint"] != chat["fingerprint"]
    assert tacit(*request, "--out", "chat").code == 2
    shown_of = ("--drawings", drawings, "--model", talker, "--first", 1, "--chat")
    shown = tacit("show", "prompts", "parts", *shown_of)
    assert "input: <s> <start_of_turn> " in shown.out
    assert " Ċ [True]\n" in shown.out


def test_sampled_replies_answer_the_parts_probe(
    chat: Run, tacit: Tacit, server: Serving, workplace: Path
) -> None:
    """Beliefs are shares; manifest, tables and report name them, and the store is used again."""
    ran = chat("r", "--samples", 12, "--yes")
    assert ran.code == 0, ran.err
    assert "Elicitation: votes of 12 samples, in chat" in ran.out
    assert "replies could not be parsed as an answer and are not counted" in ran.out
    assert "at most 565 calls" in ran.err
    manifest = json.loads((workplace / "r" / "manifest.json").read_text())
    assert manifest["model"]["elicitation"] == "votes of 12 samples, in chat"
    assert manifest["summary"]["votes"]["replies"] == 12 * manifest["summary"]["questions"]
    asked = len(server.requests)
    assert asked <= 565
    ran = chat("s", "--samples", 9, "--yes", "--json")
    assert ran.code == 0, ran.err
    assert len(server.requests) - asked < 60  # it was tried, and nothing else asked
    assert tacit("report", "r", "--out", "report.html").code == 0
    page = (workplace / "report.html").read_text()
    assert "Elicitation: votes of 12 samples, in chat" in page
    assert "Roads of elicitation: votes" in page


def test_first_tokens_answer_the_parts_probe(chat: Run, server: Serving, workplace: Path) -> None:
    ran = chat("r", "--yes")
    assert ran.code == 0, ran.err
    assert "Elicitation: log-probabilities of first tokens, in chat" in ran.out
    assert "at most 98 calls" in ran.err
    assert len(server.requests) <= 98
    for row in pl.read_parquet(workplace / "r" / "questions.parquet").to_dicts():
        shares = opinions(row["text"])
        expected = shares["True."] / (shares["True."] + shares["False"])
        assert row["p_true"] == pytest.approx(expected, abs=1e-5)


class Terminal(io.StringIO):
    """A person who types an answer."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("answer", ["y", "n", None])
def test_the_cost_is_confirmed_before_the_first_call(
    chat: Run, server: Serving, monkeypatch: pytest.MonkeyPatch, answer: str | None
) -> None:
    """At a terminal by a person; without one it is refused with the option that confirms it."""
    if answer is not None:
        monkeypatch.setattr("sys.stdin", Terminal(f"{answer}\n"))
    ran = chat("r", "--samples", 2)
    assert ran.code == (0 if answer == "y" else 2), ran.err
    assert "28 distinct prompts: at most 285 calls (36 in a row), about" in ran.err
    assert ("give --yes to confirm it" in ran.err) == (answer is None)
    assert bool(server.statuses) == (answer == "y")


def test_a_dry_run_counts_what_a_server_would_be_sent(
    tacit: Tacit, server: Serving, drawings: Path, workplace: Path
) -> None:
    """By a trial, with the prompt tokens that the server counts; two echoes answer a prompt."""
    server.language.tokenizer.save(str(workplace / "tokenizer.json"))
    ran = tacit(
        *("run", "parts", "--drawings", drawings, "--model", server.address, "--dry-run"),
        *("--tokenizer", "tokenizer.json", "--elicitation", "echo", "--json"),
        *("--price-in", 2, "--price-out", 8),
    )
    assert ran.code == 0, ran.err
    (cost,) = json.loads(ran.out)["runs"]
    assert (cost["to_ask"], cost["requests"], cost["answer_tokens"]) == (28, 56, 56)
    assert cost["prompt_tokens"] == pytest.approx(cost["tokens"], rel=0.01)
    priced = (2 * cost["prompt_tokens"] + 8 * 56) / 1e6
    assert cost["dollars"] == pytest.approx(priced, abs=1e-4)


def test_a_dry_run_tells_the_cost_and_calls_nobody(chat: Run, server: Serving) -> None:
    """Also of reasoning, which may be unlimited."""
    options = ("--samples", 5, "--dry-run", "--json", "--price-in", 2, "--price-out", 8)
    ran = chat("r", *options, "--thinking-tokens", 100)
    assert ran.code == 0, ran.err
    (cost,) = json.loads(ran.out)["runs"]
    assert (cost["distinct"], cost["calls"]) == (28, 369)
    assert cost["answer_tokens"] == 369 * 116 + 1024
    assert cost["dollars"] == pytest.approx(
        (2 * cost["prompt_tokens"] + 8 * cost["answer_tokens"]) / 1e6, abs=1e-4
    )
    ran = chat("r", *options, "--thinking-tokens", "all")
    (cost,) = json.loads(ran.out)["runs"]
    assert (cost["answer_tokens"], cost["dollars"]) == (None, None)
    assert server.statuses.total() == 0


def test_prompts_of_a_file_are_voted_on(tacit: Tacit, server: Serving, prompts: Path) -> None:
    prompts.write_text('{"text": "Is it?", "answers": ["True", "False"]}\n')
    common = ("--model", server.address, "--api", "chat", "--yes", "--json")
    ran = tacit("score", prompts, *common, "--samples", 20, "--out", "votes.jsonl")
    assert ran.code == 0, ran.err
    line = json.loads(prompts.with_name("votes.jsonl").read_text())
    true, false = line["votes"]
    assert true["votes"] + false["votes"] + line["unparsed"] == 20
    assert true["share"] == true["votes"] / (true["votes"] + false["votes"])
    assert json.loads(ran.out)["elicitation"] == "votes of 20 samples, in chat"


def test_models_of_different_elicitation_methods_are_compared_under_a_warning(
    chat: Run, tacit: Tacit, workplace: Path
) -> None:
    """By one command or by ``tacit compare``, which warns in its page as well."""
    ran = chat("r", "--model", "demo", "--samples", 4, "--yes")
    assert ran.code == 0, ran.err
    warning = "these models' beliefs come from different elicitation methods"
    assert f"Parts: {warning}" in ran.err
    assert "Parts: from " in ran.out
    ran = tacit("compare", "r", "--out", "page.html")
    assert (ran.code, warning in ran.err) == (0, True)
    assert "come from different elicitation methods" in (workplace / "page.html").read_text()


@pytest.mark.slow
def test_limits_of_reasoning_are_different_elicitation_methods(
    chat: Run, tacit: Tacit, server: Serving
) -> None:
    """The limit is part of how beliefs were elicited; tables and manifest name it."""
    methods = {
        "some": ("20", ", after thoughts of at most 20 tokens"),
        "all": ("all", ", after thoughts"),
        "none": ("0", ""),
    }
    server.manners.speech = Speech(thinks="tags", several="ignored")
    for name, (tokens, words) in methods.items():
        ran = chat(name, "--samples", 2, "--thinking-tokens", tokens, "--yes")
        assert ran.code == 0, ran.err
        assert f"Elicitation: votes of 2 samples, in chat{words}\n" in ran.out
    for pair in (("some", "all"), ("all", "none")):
        ran = tacit("compare", *pair, "--out", "page.html")
        assert (ran.code, "different elicitation methods" in ran.err) == (0, True)


@pytest.mark.slow
def test_sampled_replies_answer_the_consistency_probe(
    tacit: Tacit, server: Serving, source: Path
) -> None:
    """Facts by all replies, questions by verifying their choices; down to one of them."""
    ran = tacit(
        *("run", "consistency", "--questions", "questions.csv", "--kb", "small.kb"),
        *("--model", server.address, "--api", "chat", "--samples", 3, "--anchors", "verify"),
        *("--yes", "--out", "run", "--figures", "svg"),
    )
    assert ran.code == 0, ran.err
    assert list((source / "run" / "figures").glob("*.svg"))
    assert "Elicitation: votes of 3 samples, in chat" in ran.out
    texts = 8 * 24 + 7 * 24
    assert f"{texts:,} distinct prompts: at most {3 * texts + 229:,} calls" in ran.err
    assert len(server.requests) <= 3 * texts + 29
    summary = json.loads((source / "run" / "manifest.json").read_text())["summary"]
    assert summary["votes"]["replies"] == 3 * texts
    facts = pl.read_parquet(source / "run" / "findings" / "fact_answers.parquet")
    questions = pl.read_parquet(source / "run" / "questions.parquet")
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
    assert tacit("report", "run", "--out", "report.html").code == 0
    page = Page((source / "report.html").read_text())
    assert "Elicitation: votes of 3 samples, in chat" in page.html
    for table in ("facts", "scores"):
        columns = page.blob(f"table-consistency-0-{table}")["columns"]
        headings = {column["name"]: column["heading"] for column in columns}
        assert headings["share"] == "vote share"
        assert {"unparsed", "truncated"} <= set(headings)
