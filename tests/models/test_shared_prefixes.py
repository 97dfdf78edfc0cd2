import logging
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tacit.models.huggingface import packing
from tacit.models.huggingface.packing import Rows, Tree
from tacit.requests import Prompt
from tests.models import tiny
from tests.models.conftest import Changed, FolderOf
from tests.models.passes import passes
from tests.models.test_packing import LENGTHS, every, packs_of, prefixes, read, rows
from tests.models.test_self_check import off

_PACKED = 4
KEEPING = ["gpt2-long", "opt-long", "llama-long", "mistral-long", "gemma3-long"]
WORDS = ("tree", "bird", "egg", "claws", "fur", "wings", "roots", "trunk", "crown", "beak")
ANSWERS = ("Yes", "No", "the egg yolk")


def asked(times: int, begin: str = "A bear has fur. Is it big? Yes.") -> list[Prompt]:
    questions = [f" Is a {a} a {b} {c}?" for a in WORDS for b in WORDS for c in WORDS[:2]]
    return [Prompt(" ".join([begin] * times) + question, ANSWERS) for question in questions]


@given(rows(), LENGTHS, st.integers(1, 4))
def test_what_is_kept(some: Rows, length: int, least: int) -> None:
    """A beginning of each row, shared by more than a pack's, behind which all is read."""
    tree = Tree.of(some)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packing, "LEAST", least)
        trees = tree.by_prefix(length)
    assert sorted(ids for one in trees for ids in every(one.rows)) == every(tree.rows)
    assert sorted(each for one in trees for each in read(one.rows)) == read(tree.rows)
    for one in trees:
        kept = len(one.prefix)
        (whole,) = packs_of(one, 10_000)
        assert kept + len(whole.ids) == len(prefixes(every(one.rows)))
        added = [part.rows.lengths - part.shared for part in one.cut(length)]
        packed = sum(len(pack.ids) for pack in packs_of(one, length))
        assert sum(int(own.sum()) for own in added) == kept + packed
        if kept:
            assert kept >= least
            assert {ids[:kept] for ids in every(one.rows)} == {one.prefix}
            assert (one.rows.reads.position >= kept).all()
            assert kept + len(whole.ids) > length


@pytest.mark.parametrize("name", KEEPING)
@pytest.mark.slow
def test_a_long_beginning_is_computed_once(name: str, folder_of: FolderOf) -> None:
    """The tokens are little more than the tree's, as planned, and the scores are right."""
    model = tiny.load(folder_of(name))
    questions = asked(8)
    rows = [model.inputs(prompt, a)[0].ids[:-1] for prompt in questions for a in prompt.answers]
    tree = len({ids[:at] for ids in rows for at in range(1, len(ids) + 1)})
    planned = model.cost(questions)
    model.answer(questions)  # the first packs are checked
    with passes(model) as seen:
        model.answer(questions)
    assert sum(one.tokens for one in seen) == sum(planned) <= 1.15 * tree
    assert off(name, model, folder_of, questions, 7) < 1e-4


def test_beginnings_of_several_kinds(folder_of: FolderOf) -> None:
    model = tiny.load(folder_of("gpt2-long"), batch_tokens=600)
    rest = " In a tree, the trunk is above the roots and the branches are part of the crown." * 3
    questions = [p for own in ("Is it?", "Are they?") for p in asked(2, own + rest)]
    model.answer(questions)  # the first packs are checked
    with passes(model) as seen:
        model.answer(questions)
    assert sum(not one.is_packed for one in seen) == 2
    assert off("gpt2-long", model, folder_of, questions, 7) < 1e-4


def test_a_beginning_before_capped_logits(folder_of: FolderOf) -> None:
    """That logits are no head's output is found before a pass fills the beginning's cache."""
    model, questions = tiny.load(folder_of("gemma2-long")), asked(8)
    first = model.answer(questions)
    model._passes.splits = None  # as in a model whose checks are recorded
    with passes(model) as seen:
        assert model.answer(questions) == first
    assert not all(one.is_packed for one in seen)
    assert model._passes.splits is False


@pytest.mark.parametrize("how", ["wrong", "fails"])
def test_a_model_that_cannot_go_on_so_is_found_out(
    how: str, folder_of: FolderOf, changed: Changed, caplog: pytest.LogCaptureFixture
) -> None:
    def spoil(given: dict[str, Any]) -> None:
        mask: torch.Tensor | None = given.get("attention_mask")
        if mask is not None and mask.ndim == _PACKED and mask.shape[-1] > mask.shape[-2]:
            if how == "fails":
                raise IndexError("no such column")
            given["position_ids"] = given["position_ids"] + 1

    changed("gpt2-long", spoil)
    model = tiny.load(folder_of("gpt2-long"))
    questions = asked(8)
    with caplog.at_level(logging.WARNING, "tacit"):
        assert off("gpt2-long", model, folder_of, questions, 7) < 1e-4
    assert sum("is recomputed for every pack" in message for message in caplog.messages) == 1
