from pathlib import Path

import pytest
from safetensors import safe_open

from tacit.errors import RequestError
from tacit.models.options import DescribedOptions, parameters_in
from tests.models import sizes, tiny

OPT = "facebook/opt-350m"
SERVER = "http://127.0.0.1:8000/v1?a=b"


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("350M", 350_000_000),
        ("1.3B", 1_300_000_000),
        (" 1.5 t ", 1_500_000_000_000),
        ("124439808", 124_439_808),
    ],
)
def test_numbers_of_parameters(text: str, number: int) -> None:
    assert parameters_in(text) == number


@pytest.mark.parametrize("text", ["", "-5M", "0", "1.5", "1,300,000", "3G", "1e9", "0.0001K"])
def test_what_is_no_number_of_parameters(text: str) -> None:
    with pytest.raises(RequestError, match=r"350M, 1\.3B") as refused:
        parameters_in(text)
    assert repr(text) in str(refused.value)


def test_a_model_is_named_as_given_or_by_the_last_part() -> None:
    """An address may hold an equals sign."""
    given = DescribedOptions(["opt-350m=opt", f"{SERVER}=gpt"], [f"{OPT}=350M"])
    found = given.of([OPT, SERVER])
    assert found == {OPT: {"family": "opt", "parameters": 350_000_000}, SERVER: {"family": "gpt"}}
    assert DescribedOptions().of([OPT]) == {OPT: {}}


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        (["opt-125m=opt"], "names 'opt-125m', but no model is named so; expected one of"),
        (["twin=opt"], "several models are named so"),
        (["opt"], "without a model's name or without a value"),
        ([f"{OPT}="], "without a model's name or without a value"),
        ([f"{OPT}=opt", "opt-350m=t5"], f"given twice for {OPT}"),
    ],
)
def test_a_wrong_name_is_refused(entries: list[str], message: str) -> None:
    with pytest.raises(RequestError, match=message) as refused:
        DescribedOptions(entries).of([OPT, "a/twin", "b/twin"])
    assert refused.value.exit_code == 2


def stored(folder: Path) -> int:
    """The number of weights in a checkpoint's file; tied weights are stored once."""
    total = 0
    with safe_open(folder / "model.safetensors", "pt") as file:
        for name in file.keys():  # noqa: SIM118 - not a mapping
            count = 1
            for length in file.get_slice(name).get_shape():
                count *= length
            total += count
    return total


def test_a_checkpoint_says_its_family_and_its_parameters(tmp_path: Path) -> None:
    """``model_type`` of its config; as many as its file of weights holds."""
    folders = sizes.save_sizes(tmp_path)
    folders |= {f"{name}-": tiny.save(name, tmp_path / name) for name in ("t5", "roberta")}
    for name, folder in folders.items():
        description = tiny.load(folder).description
        assert description["family"] == name.rpartition("-")[0]
        assert description["parameters"] == stored(folder)
