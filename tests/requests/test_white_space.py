"""White space that doubles where an answer is inserted."""

from pathlib import Path
from typing import Any

import pytest

from tacit.engine.ask import Engine
from tacit.engine.store import Store
from tacit.errors import PromptError
from tacit.models.base import FIRST, IN_CHAT
from tacit.models.fake import FakeModel
from tacit.requests import KINDS, Prompt, RankingPrompt, Request, SamplingPrompt, Vocabulary

WORDS, SPACED = Vocabulary(["Rome", "Paris"]), Vocabulary(["Rome", " Paris"])

DOUBLED: dict[str, tuple[Request, str, str]] = {
    "answer": (Prompt("It is", ("Rome", " Paris")), "It is  Paris", "It is Paris"),
    "text": (Prompt("It is ", ("Paris",)), "It is  Paris", "It is Paris"),
    "line break": (Prompt("It is:\n", ("Paris",)), "It is:\n Paris", "It is:\nParis"),
    "separator": (Prompt("It is", ("\tParis",), "\n"), "It is\n\tParis", "It is\tParis"),
    "no-break space": (Prompt("It is", ("\u00a0Paris",)), "It is \u00a0Paris", "It is\u00a0Paris"),
    "before a blank": (Prompt("In ___.", (" Paris",)), "In  Paris.", "In Paris."),
    "after a blank": (Prompt("In ___ it is.", ("Paris ",)), "In Paris  it is.", "In Paris it is."),
    "candidate": (RankingPrompt("It is", SPACED), "It is  Paris", "It is Paris"),
    "text of a ranking": (RankingPrompt("It is ", WORDS), "It is  Paris", "It is Paris"),
    "candidate in a blank": (RankingPrompt("In ___.", SPACED), "In  Paris.", "In Paris."),
}
SINGLE: dict[str, Request] = {
    "usual": Prompt("It is", ("Paris", "New York")),
    "as written, answer": Prompt("It is", (" Paris",), ""),
    "as written, both": Prompt("It is ", (" Paris",), ""),
    "as written, blank": Prompt("In ___.", (" Paris",), ""),
    "blank": Prompt("In ___ it is.", ("Paris",)),
    "visible separator": Prompt("It is ", ("Paris",), ":"),
    "no text": Prompt("", ("Paris",)),
    "blank before a line break": Prompt("It is ", ("Paris",), "\n"),
    "end of the answer": Prompt("It is", ("Paris ",)),
    "ranking": RankingPrompt("It is", WORDS),
    "sampling": SamplingPrompt("It is ", (0,)),
}


class Described(FakeModel):
    def __init__(self, **about: str) -> None:
        super().__init__(lambda _prompt, _answer: -1.0)
        self.about = about

    @property
    def description(self) -> dict[str, Any]:
        return {**super().description, **self.about}


@pytest.mark.parametrize(("request_", "scored", "written"), DOUBLED.values(), ids=DOUBLED)
def test_doubled_white_space_is_shown_in_both_readings(
    request_: Request, scored: str, written: str
) -> None:
    """As it is scored, and as it is written without the separator."""
    assert KINDS[type(request_)].both_readings(request_) == (scored, written)


@pytest.mark.parametrize("request_", SINGLE.values(), ids=SINGLE)
def test_white_space_that_does_not_double_is_not_named(request_: Request) -> None:
    """Nor is any where an empty separator says that the prompt is meant as it is written."""
    assert KINDS[type(request_)].both_readings(request_) is None


def test_the_engine_warns_or_with_strict_refuses(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Before anything is asked; the answers are scored as they were."""
    prompt = Prompt("It is", (" Paris",))
    with pytest.raises(PromptError, match="doubles the white space"):
        Engine(Described(), Store(tmp_path), strict=True).ask([prompt])
    ranking = RankingPrompt("It is ", WORDS)
    requests: list[Request] = [Prompt("It is", ("Rome",)), prompt, ranking]
    scores = Engine(Described(), Store(tmp_path)).ask(requests)[1]
    assert scores[" Paris"].logprob == -1.0
    assert caplog.text.count("2 prompts double the white space") == 1
    assert "scored as in 'It is  Paris'. If 'It is Paris' is meant" in caplog.text


@pytest.mark.parametrize("about", [{"elicitation": FIRST + IN_CHAT}, {"kind": "seq2seq"}])
def test_models_that_use_no_separator_double_nothing(about: dict[str, str], tmp_path: Path) -> None:
    """Such as models in chat format, and encoders with decoders."""
    engine = Engine(Described(**about), Store(tmp_path), strict=True)
    assert engine.plan([Prompt("It is ", (" Paris",))]).prompts == 1
