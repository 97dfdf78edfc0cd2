"""Models behind a server's chat: by their first tokens, by sampled replies, and thinking ones."""

import math
from pathlib import Path
from typing import Any

import pytest

from tacit.engine.ask import Engine
from tacit.engine.store import Store
from tacit.errors import ModelError, RequestError
from tacit.models.openai.chat import ChatReply, FirstTokensModel
from tacit.models.openai.identity import same_replies
from tacit.models.openai.options import ServerOptions, check_address
from tacit.models.openai.sampling import MOST_CALLS, SampledModel
from tacit.requests import OUTSIDE_FIRST, Prompt, missing_by_reason
from tests.models.openai.conftest import Serve, load_as
from tests.models.openai.serving import Serving
from tests.models.openai.speaking import Speech, opinions

ANSWERS = ("True", "False")


def numbered(count: int) -> list[Prompt]:
    return [Prompt(f"Is {number} more than 7?", ANSWERS, "\n") for number in range(count)]


PROMPTS = numbered(12)


def first_tokens(server: Serving, **given: Any) -> FirstTokensModel:  # noqa: ANN401 - fields
    return load_as(FirstTokensModel, server, api="chat", **given)


def sampled(server: Serving, samples: int = 8, **given: Any) -> SampledModel:  # noqa: ANN401 - fields
    return load_as(SampledModel, server, api="chat", samples=samples, **given)


def speaking(serve: Serve, **speech: object) -> Serving:
    return serve(speech=Speech(**speech))  # type: ignore[arg-type] # its own fields


# By first tokens


def test_some_servers_write_a_space_before_the_first_token(serve: Serve) -> None:
    model = first_tokens(speaking(serve, pads=True))
    for prompt, scores in zip(PROMPTS, model.answer(PROMPTS), strict=True):
        shares = opinions(prompt.text)
        assert scores["True"].logprob == pytest.approx(math.log(shares["True."]), abs=1e-5)
        assert scores["False"].logprob == pytest.approx(math.log(shares["False"]), abs=1e-5)
    assert model.description["elicitation"] == "log-probabilities of first tokens, in chat"
    assert model.description["identity"]["first_tokens"] == 20


def test_an_answer_outside_the_first_tokens_is_missing_and_counted(serve: Serve) -> None:
    """Of several tokens, or less probable than those that are returned; never imputed."""
    model = first_tokens(speaking(serve, most=1))
    scores = model.answer([Prompt(prompt.text, (*ANSWERS, "True enough")) for prompt in PROMPTS])
    for prompt, score in zip(PROMPTS, scores, strict=True):
        best = max(opinions(prompt.text).items(), key=lambda pair: pair[1])[0].rstrip(".")
        told = {one.answer for one in score.answers if one.logprob is not None}
        assert told == {best} & set(ANSWERS)
    missing = sum(one.logprob is None for score in scores for one in score.answers)
    assert missing_by_reason(scores) == {OUTSIDE_FIRST: missing}
    assert missing > len(PROMPTS)


@pytest.mark.parametrize(
    ("speech", "reason"),
    [
        ({"logprobs": False}, "it returns no log-probabilities; alternatively, use vote shares"),
        ({"logprobs": False, "most": 0}, "returns no log-probabilities .*; alternatively,"),
        ({"thinks": "begun"}, "reasons before it answers, so the first token of a reply"),
    ],
)
def test_a_chat_without_right_log_probabilities_is_refused(
    serve: Serve, speech: dict[str, object], reason: str
) -> None:
    with pytest.raises(ModelError, match=reason):
        first_tokens(speaking(serve, **speech))


def test_thinking_is_turned_off_for_first_tokens(serve: Serve) -> None:
    model = first_tokens(speaking(serve, thinks="tags"), thinking_tokens="0")
    assert model.answer(PROMPTS[:1])[0]["False"].logprob is not None


# By sampled replies


@pytest.mark.parametrize("several", ["right", "ignored", "copies", "two", "refused"])
def test_replies_are_independent_draws_however_many_come_at_once(
    serve: Serve, several: str, tmp_path: Path
) -> None:
    """Copies are not taken for samples, and missing replies are requested one by one."""
    server = speaking(serve, several=several)
    model = sampled(server, samples=40)
    assert model.description["several_at_once"] == (several == "right")
    assert bool(model.description["refused"]) == (several != "right")
    (votes,) = Engine(model, Store(tmp_path)).ask(PROMPTS[:1])
    assert votes.parsed + votes.unparsed == 40
    shares = opinions(PROMPTS[0].text)
    readable = shares["True."] + shares["False"]
    # Four standard deviations of 40 draws.
    assert abs(votes.parsed / 40 - readable) < 4 * math.sqrt(readable * (1 - readable) / 40)
    asked = server.about(PROMPTS[0].text)
    assert len(asked) == (3 if several == "right" else 40)
    assert len({request["seed"] for request in asked}) == len(asked)


@pytest.mark.parametrize("all_tokens", [-1, None])
def test_servers_that_cut_off_unlikely_words_are_told_not_to(
    serve: Serve, tmp_path: Path, all_tokens: int | None
) -> None:
    """Unless they refuse the settings, which is reported: unlikely words then have no votes."""
    share = {"True": 0.9, "False": 0.1}
    speech = {"trims": 0.5, "all_tokens": all_tokens}
    server = speaking(
        serve, **speech, replies=lambda text: share if "7" in text else opinions(text)
    )
    model = sampled(server, 200)
    (votes,) = Engine(model, Store(tmp_path)).ask(PROMPTS[:1])
    reported = "may never sample unlikely words" in " ".join(model.description["refused"])
    if all_tokens is None:
        assert (reported, votes.counts["False"]) == (True, 0)
        return
    assert votes.counts["False"] == pytest.approx(20, abs=4 * math.sqrt(200 * 0.1 * 0.9))
    assert model.description["identity"]["uncut"]["top_k"] == all_tokens
    assert not reported


@pytest.mark.slow
def test_the_same_seeds_give_the_same_votes(serve: Serve, tmp_path: Path) -> None:
    """And another seed others; a run that goes on with more samples keeps the first."""
    server = speaking(serve, several="ignored")
    votes = [
        Engine(sampled(server, 10, seed=seed), Store(tmp_path / name)).ask(PROMPTS)
        for seed, name in ((0, "a"), (0, "b"), (1, "c"))
    ]
    assert votes[0] == votes[1] != votes[2]
    more = Engine(sampled(server, 20), Store(tmp_path / "a")).ask(PROMPTS)
    fresh = Engine(sampled(server, 20), Store(tmp_path / "d")).ask(PROMPTS)
    assert more == fresh


@pytest.mark.parametrize(
    ("seeds", "limit"), [("ignored", "max_tokens"), ("refused", "max_completion_tokens")]
)
def test_a_server_s_own_words_are_found(serve: Serve, seeds: str, limit: str) -> None:
    server = speaking(serve, seeds=seeds, limit=limit)
    model = sampled(server)
    asked = len(server.requests)
    assert asked <= MOST_CALLS
    model_said = model.description["refused"]
    assert bool(model_said) == (seeds == "refused")
    lengths = [request.get(limit, 0) for request in server.requests]
    assert sum(length > 16 for length in lengths) == 1  # the one that is allowed to end


def test_without_a_temperature_of_0_a_change_of_the_model_is_not_detected(serve: Serve) -> None:
    blind = sampled(speaking(serve, greedy=False, logprobs=False))
    assert "a change of its model cannot be detected" in " ".join(blind.description["refused"])


@pytest.mark.parametrize(("changed", "known"), [(3, True), (4, False)])
def test_a_few_other_words_are_rounding_and_more_another_model(
    *, changed: int, known: bool
) -> None:
    """Three in four of the likeliest replies have to be those of then."""
    then = {str(number): "so" for number in range(12)}
    now = {text: "no" if at < changed else "so" for at, text in enumerate(then)}
    assert same_replies(then, now) is known
    assert same_replies(then, dict(list(now.items())[changed:]))  # the others were refused
    assert not same_replies({}, now)


# Models that think


UNLIMITED = "reasons before it answers: limit the reasoning"
ENDLESS = {"thinks": "hidden", "thought": lambda _: 150, "own_limit": 120}


def long(draw: int) -> int:
    """Thoughts that do not end in a short reply."""
    return 40 + draw % 10


@pytest.mark.parametrize(
    ("thinks", "thinking"),
    [("field", 100), ("tags", "all"), ("begun", 100), ("counted", "all"), ("hidden", 100)],
)
def test_the_reply_is_read_behind_the_thought(
    serve: Serve, tmp_path: Path, thinks: str, thinking: int | str
) -> None:
    """However the server tells of it; the votes are those of a model that does not think."""
    model = sampled(
        speaking(serve, thinks=thinks, several="ignored"), 200, thinking_tokens=thinking
    )
    (votes,) = Engine(model, Store(tmp_path)).ask(PROMPTS[:1])
    shares = opinions(PROMPTS[0].text)
    expected = shares["True."] / (shares["True."] + shares["False"])
    deviation = math.sqrt(expected * (1 - expected) / votes.parsed)
    assert votes.truncated == 0
    assert votes.share("True") == pytest.approx(expected, abs=4 * deviation)


def test_one_hidden_thought_in_many_is_told(serve: Serve) -> None:
    """Else only the replies behind short thoughts would be counted."""
    # Three thoughts in four are too short for a reply to be cut before it begins.
    speech = {"thinks": "hidden", "thought": lambda draw: 30 * (draw % 4 == 0), "several": "right"}
    with pytest.raises(ModelError, match=UNLIMITED):
        sampled(speaking(serve, **speech))
    model = sampled(speaking(serve, **speech), thinking_tokens="100")
    assert model.description["several_at_once"]


@pytest.mark.parametrize("thinks", ["field", "begun", "hidden"])
def test_a_thought_that_is_cut_is_counted_apart(serve: Serve, tmp_path: Path, thinks: str) -> None:
    # One thought in three is of 40 words, the others of none; 16 more are left for the reply.
    speech = {"thinks": thinks, "thought": lambda draw: 40 * (draw % 3 == 0)}
    model = sampled(speaking(serve, **speech, several="ignored"), 60, thinking_tokens="10")
    (votes,) = Engine(model, Store(tmp_path)).ask(PROMPTS[:1])
    assert 8 <= votes.truncated <= 34
    assert votes.truncated <= votes.unparsed
    assert votes.parsed + votes.unparsed == 60


@pytest.mark.parametrize(
    ("speech", "thinking", "reason"),
    [
        *(({"thinks": thinks}, None, UNLIMITED) for thinks in ("tags", "field", "counted")),
        *(({"thinks": how, "thought": long}, None, UNLIMITED) for how in ("begun", "hidden")),
        ({"thinks": "tags", "stops": "ignored"}, 0, "reasons although --thinking-tokens is 0"),
        ({"stops": "refused"}, 0, "it may not support turning reasoning off"),
        # Replies in which nothing is to be seen are no reason to speak of a cache.
        (ENDLESS, 100, "returns no answer within 100 reasoning tokens"),
        (ENDLESS, "all", "before the server's own limit on the reply ends the reasoning"),
    ],
)
def test_thinking_that_was_not_asked_for_or_does_not_end_is_refused(
    serve: Serve, speech: dict[str, object], thinking: int | str | None, reason: str
) -> None:
    with pytest.raises(ModelError, match=reason):
        sampled(speaking(serve, **speech), thinking_tokens=thinking)


def test_thinking_can_be_turned_off(serve: Serve, tmp_path: Path) -> None:
    server = speaking(serve, thinks="tags")
    model = sampled(server, 4, thinking_tokens="0")
    (votes,) = Engine(model, Store(tmp_path)).ask(PROMPTS[:1])
    assert votes.truncated == 0
    assert all(request["max_tokens"] <= 16 for request in server.about(PROMPTS[0].text))


@pytest.mark.parametrize(
    ("said", "begun", "reply", "state"),
    [
        (ChatReply("True", "", cut=False), False, "True", "whole"),
        (ChatReply("True, as it", "", cut=True), False, "True, as it", "cut"),
        (ChatReply("<think>\nhm</think>\n\nTrue", "", cut=False), False, "True", "whole"),
        (ChatReply("<think>hm, tr", "", cut=True), False, "", "thinking"),
        (ChatReply("", "hm, tr", cut=True), False, "", "thinking"),
        (ChatReply("", "hm, true", cut=False), False, "", "whole"),
        (ChatReply("hm </think> True", "", cut=False), True, "True", "whole"),
        (ChatReply("True, but", "", cut=True), True, "", "thinking"),
        (ChatReply("No, wait", "", cut=False), True, "", "thinking"),
        (ChatReply(" ", "", cut=True), False, "", "cut"),
    ],
)
def test_what_is_thought_is_no_reply(said: ChatReply, begun: bool, reply: str, state: str) -> None:  # noqa: FBT001 - a row of the table
    sample = said.sample(begun=begun, meant=False)
    assert (sample.reply, sample.state) == (reply, state)
    if said.silent:
        assert said.sample(begun=False, meant=True).state == "thinking"


# What is asked for


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"samples": 0}, "samples is 0"),
        ({"thinking_tokens": "-1"}, "thinking_tokens is '-1'"),
        ({"timeout": math.inf}, "timeout is inf"),
        ({"tokenizer": Path("none")}, "--tokenizer applies only to a completions server"),
        ({"thinking_tokens": "100"}, "requires sampled replies"),
        ({"api": "completions", "samples": 3}, "require --api chat"),
        ({"api": "completions", "thinking_tokens": "0"}, "require --api chat"),
    ],
)
def test_options_that_mean_nothing_are_refused(given: dict[str, object], reason: str) -> None:
    with pytest.raises(RequestError, match=reason):
        check_address("http://host/v1", ServerOptions(**{"api": "chat", **given}))  # type: ignore[arg-type] # its own fields


def test_a_model_that_thinks_is_waited_for_longer() -> None:
    assert ServerOptions().patience == ServerOptions(thinking_tokens="0").patience == 120
    for thinking in ("50", "all"):
        assert ServerOptions(thinking_tokens=thinking).patience == 600
    assert ServerOptions(thinking_tokens="all", timeout=7.5).patience == 7.5
