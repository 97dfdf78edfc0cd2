"""Scores and rankings of five kinds of local model, in nats: ``python -m tests.golden.scores``.

The weights are the bundled demo models' or are drawn from a seed. Log-probabilities depend a little
on the processor, so the values themselves are kept, and compared within a tolerance.
"""

import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tacit import LoadOptions, Prompt, Ranking, RankingPrompt, Scores, Vocabulary, load_model
from tacit.models.registry import folder_of
from tests.models import tiny

FILE = Path(__file__).with_name("scores.json")
Golden = dict[str, list[dict[str, Any]]]

_ANSWERS = ("Yes", "No", "true", "a bird", "a large animal, with fur", "Bär")
_CONTINUED = (
    Prompt("Is a bear an animal?", ("Yes", "No", "yes", "Yes, it is.")),
    Prompt("Is a bear an animal? Is a bird an animal? A bear is", _ANSWERS),
    Prompt("Is a bear an animal? Is a bird an animal? A bear", ("has fur", "is big"), ""),
    Prompt("Question: Does a tree have roots?\nAnswer:", ("yes", "no", "the trunk"), "\n"),
    Prompt("", ("A bird has wings.", "A"), ""),
    Prompt("It is called a ___", ("bird", "birdhouse")),
    Prompt("A cat is", tuple("abcdef")),
)
_FILLED = (
    Prompt("A ___ has fur, is big, and has claws.", ("bear", "bird", "large animal", "🐻")),
    Prompt("___ is above the roots.", ("The trunk", "It")),
    Prompt("Is a bear an animal?", ("Yes", "No", "yes, it is")),
)
_WORDS = ("bear", "bird", "tree", "cat", "dog", "wings", "egg yolk", "unbelievable", "Yes", "🐻")
_RANKED = (
    RankingPrompt("A ___ has fur, is big, and has claws.", Vocabulary(_WORDS), ("bear",)),
    RankingPrompt("Something that has wings is called a ___", Vocabulary(_WORDS), ("bird",)),
)
_TEMPLATE = (
    "{% for m in messages %}{{ m.role + ': ' + m.content + '\\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ 'assistant:' }}{% endif %}"
)


def computed(folder: Path) -> Golden:
    """The answers of all five kinds; files of models are written to the folder."""
    # Of a causal model, all candidates stand at the end; a masked model takes both prompts.
    ranked = _RANKED[1:], _RANKED
    chatting = folder / "chatting"
    shutil.copytree(folder_of("demo"), chatting)
    (chatting / "chat_template.jinja").write_text(_TEMPLATE, encoding="utf-8")
    return {
        "causal": _answers("demo", _CONTINUED),
        "masked": _answers("demo-masked", _FILLED),
        "seq2seq": _answers(str(tiny.save("t5", folder / "t5")), [*_CONTINUED[:3], *_FILLED]),
        "chat": _answers(str(chatting), _CONTINUED[:4], LoadOptions(chat=True)),
        "ranking": _answers("demo", ranked[0]) + _answers("demo-masked", ranked[1]),
    }


def _answers(
    name: str, requests: Sequence[Prompt | RankingPrompt], options: LoadOptions | None = None
) -> list[dict[str, Any]]:
    return [_plain(answer) for answer in load_model(name, options).answer(requests)]


def _plain(answer: Scores | Ranking) -> dict[str, Any]:
    if isinstance(answer, Ranking):
        counts = {"several": answer.several, "missing": answer.missing}
        (target,) = answer.targets
        return {"rank": target.rank, **dict(answer.top), "sum": answer.normaliser, **counts}
    return {one.answer: [one.logprob, one.tokens, one.spanned] for one in answer.answers}


if __name__ == "__main__":
    os.environ["HF_HUB_OFFLINE"] = "1"
    with TemporaryDirectory() as made:
        text = json.dumps(computed(Path(made)), indent=1)
    FILE.write_text(text + "\n", encoding="utf-8")
