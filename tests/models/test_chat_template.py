"""Prompts put to models in this process as a chat."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tacit.errors import ModelError, PromptError
from tacit.models.huggingface.chat_template import Chat
from tacit.requests import Prompt, RankingPrompt, Vocabulary
from tests.models import chatting, plain, tiny
from tests.models.chatting import STYLES, THINKER, Style, Talk

if TYPE_CHECKING:
    from tests.models.conftest import FolderOf

    Folders = Callable[[str], Path]

TOLERANCE = 1e-4
ANSWERS = ("True", "False", "Trues", "the egg yolk", "claws", "unbelievable bird")
PROMPTS = [
    Prompt("In a tree, the trunk is above the roots. True or false?", ANSWERS, "\n"),
    Prompt("In a tree, the trunk is above the branches. True or false?", ANSWERS),
    Prompt("Something that has wings is called a ___, is it?", ("bird", "bear"), ""),
    Prompt("A bear has", ("claws", "fur")),
]


@pytest.fixture(scope="module")
def styled(tmp_path_factory: pytest.TempPathFactory) -> Folders:
    root = tmp_path_factory.mktemp("chats")

    @cache
    def made(name: str) -> Path:
        return chatting.save(name, root / name)

    return made


@pytest.mark.parametrize("name", STYLES)
def test_scores_equal_those_of_a_chat_with_its_reply(name: str, styled: Folders) -> None:
    """The template writes the whole chat; it is cut behind the answer and computed alone."""
    model, talk = tiny.load(styled(name), chat=True), Talk.load(styled(name))
    assert model.description["packs"] == (name != "bloom")
    for prompt, scores in zip(PROMPTS, model.answer(PROMPTS), strict=True):
        for one in scores.answers:
            expected, tokens = talk.score(prompt, one.answer)
            assert one.logprob == pytest.approx(expected, abs=TOLERANCE), (prompt, one)
            assert (one.tokens, one.spanned) == (tokens, False)


def test_the_space_before_a_reply_is_scored(styled: Folders) -> None:
    """Whether the template writes it into its prompt for a reply or only before the reply."""
    models = [tiny.load(styled("llama-2"), chat=True), tiny.load(styled("llama-2"), chat=True)]
    chat = models[1]._chat
    assert chat is not None
    moved = chat.template.replace("+ ' [/INST]'", "+ ' [/INST] '").replace("{{ ' ' + m", "{{ m")
    models[1]._chat = replace(chat, template=moved, opening="")
    for model in models:
        for answer, scored in (("bird", ["▁bird"]), (",", ["▁", ","])):
            (shown,) = model.inputs(Prompt("Is it?", (answer,)), answer)
            assert [shown.tokens[at] for at in shown.scored] == scored
        assert not model.answer([Prompt("Is it?", ("bird",))])[0]["bird"].spanned


def test_a_ranking_agrees_with_the_scores(styled: Folders) -> None:
    model = tiny.load(styled("gemma"), chat=True)
    words = ("True", "False", "bird", "claws", "the egg")
    asked = RankingPrompt(PROMPTS[0].text, Vocabulary(words), targets=words)
    scores = model.answer([Prompt(PROMPTS[0].text, words)])[0]
    for standing in model.answer([asked])[0].targets:
        expected = scores[standing.target].logprob
        assert standing.logprob == pytest.approx(expected, abs=TOLERANCE)


def test_a_chat_has_a_fingerprint_of_its_own(styled: Folders) -> None:
    """So the store never mixes them; another template is another chat."""
    folder = styled("chatml")
    bare, chat = tiny.load(folder), tiny.load(folder, chat=True)
    assert bare.description["elicitation"] == "log-probabilities of whole answers"
    assert chat.description["elicitation"] == "log-probabilities of whole answers, in chat"
    assert bare.description["chat"] is None
    other = Chat.of("m", chatting.tokenizer_of(STYLES["mute"]))
    same = Chat.of("m", chatting.tokenizer_of(STYLES["chatml"]))
    assert chat.description["chat"] == same.description
    assert len({bare.fingerprint, chat.fingerprint}) == 2
    assert same.scorer != other.scorer
    assert same.scorer in chat.description["scorer"]


def test_a_thought_that_the_template_begins_is_ended() -> None:
    chat = chat_of(THINKER)
    assert chat.render("Hm?") == "<|user|>Hm?<|assistant|><think>\n\n</think>\n\n"
    assert chat.description["thought"] == "closed"


def test_today_is_always_the_same_day() -> None:
    """A template's date would make every score another one tomorrow."""
    chat = chat_of(
        "{{ strftime_now ( '%d %B %Y' ) }}{% for m in messages %}{{ m.content }}{% endfor %}"
    )
    assert chat.render(" yes") == "26 July 2024 yes"


SAID = "{% for m in messages %}{{ m.role + ': ' + m.content + '\\n' }}{% endfor %}"
TRIMMED = "{% for m in messages %}{{ '[' + m.content | trim + ']' }}{% endfor %}"
SPACED = "{% for m in messages %}{{ m.content | trim + ' ' }}{% endfor %}"


def chat_of(template: str) -> Chat:
    return Chat.of("m", chatting.tokenizer_of(Style(template, (), tiny.gpt2_like)))


UNSAID = "does not reproduce the user's message exactly"  # two opposite statements would be one
CLOCK = "current time into every prompt.*a fixed date"
NOW = "{% set f = strftime_now %}"
REFUSED: list[tuple[str | None, str]] = [
    (None, "no chat template"),
    ("{{ raise_exception('no system turn') }}", r"chat template fails \(no system turn\)"),
    ("{% for m in messages %}{% for p in m.content %}{{ p.text }}{% endfor %}{% endfor %}", UNSAID),
    ("{% for m in messages %}{{ m.content[:40] }}{% endfor %}", UNSAID),
    ("{% for m in messages %}{{ m.content | lower }}{% endfor %}", UNSAID),
    ("{% for m in messages %}{{ m.content.split() | join(' ') }}{% endfor %}", UNSAID),
    # Whatever it calls the clock.
    ("{% set f = '%H' %}{{ strftime_now(f) }}{{ messages }}", "current time"),
    (NOW + "{{ f('%H:%M') }}" + SAID, CLOCK),
    (NOW + "{% if f('%p') == 'AM' %}Good morning.{% endif %}" + SAID, CLOCK),
    ("{{ [strftime_now][0]('%Y') }}" + SAID, CLOCK),
    # Also where two draws happen to be alike.
    ("{{ [1, 1] | random }}" + SAID, "uses random numbers"),
    ("{{ lipsum(n=1) }}" + SAID, "uses random numbers"),
]


@pytest.mark.parametrize(("template", "message"), REFUSED)
def test_a_template_that_cannot_be_used_is_refused(template: str | None, message: str) -> None:
    """The program's own random numbers are not touched."""
    tokenizer, before = tiny.gpt2_like(), random.getstate()
    tokenizer.chat_template = template
    with pytest.raises(ModelError, match=message):
        Chat.of("m", tokenizer)
    assert random.getstate() == before


def test_each_prompt_is_looked_for_in_what_is_written() -> None:
    chat = chat_of(SAID.replace("m.content", "m.content.replace('claws', 'paws')"))
    assert chat.render("A bear has fur.") == "user: A bear has fur.\nassistant: "
    with pytest.raises(PromptError, match=r"does not reproduce the prompt 'A bear has claws\.'"):
        chat.begin(Prompt("A bear has claws.", ("True",)))


@pytest.mark.parametrize("template", [TRIMMED, SPACED])
@pytest.mark.parametrize("text", ["Is it? ", "\nIs it?"])
def test_white_space_around_a_text_is_not_lost_silently(template: str, text: str) -> None:
    """A template may trim it where there is none; where there is, two prompts would be one."""
    chat = chat_of(template)
    assert chat.render("Is  it?").startswith("[Is  it?]" if template == TRIMMED else "Is  it? ")
    with pytest.raises(PromptError, match="drops white space"):
        chat.render(text)
    assert text in chat_of(SAID).render(text)


def test_a_masked_model_has_no_turn(folder_of: FolderOf) -> None:
    with pytest.raises(ModelError, match="cannot chat"):
        tiny.load(folder_of("bert"), chat=True)


@pytest.mark.parametrize("name", ["t5", "bart"])
def test_a_seq2seq_model_reads_the_chat_and_writes_the_answer(
    name: str, folder_of: FolderOf, tmp_path: Path
) -> None:
    """The encoder reads what the template writes, special tokens around it and none twice."""
    template = "{% for m in messages %}{{ m.content + ' Answer:' }}{% endfor %}{{ eos_token }}"
    reference = plain.load(name, folder_of(name))
    folder = shutil.copytree(folder_of(name), tmp_path / "model")
    reference.tokenizer.chat_template = template
    reference.tokenizer.save_pretrained(folder)
    scores = tiny.load(folder, chat=True).answer([Prompt("A ___ has fur.", ("bear", "the egg"))])[0]
    # The one end token is what the tokenizer itself puts there.
    tokenizer = tiny.tokenizer_of(name)
    read = tokenizer("A ___ has fur. Answer:")["input_ids"]
    start = [reference.model.config.decoder_start_token_id, *([0] if name == "bart" else [])]
    for one in scores.answers:
        ids = start + tokenizer(one.answer, add_special_tokens=False)["input_ids"]
        values = reference._logits(read, decoder_input_ids=ids)
        expected = sum(float(values[at - 1, ids[at]]) for at in range(len(start), len(ids)))
        assert one.logprob == pytest.approx(expected, abs=TOLERANCE)
