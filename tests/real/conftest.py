"""The models that ``scripts/real_models.py`` fetches; those that are not there are skipped."""

import os
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tacit.models.base import LanguageModel
from tacit.models.loading import load_model
from tacit.models.options import LoadOptions
from tests.models.conftest import _quiet
from tests.models.plain import Plain

__all__ = ["_quiet"]

FOLDER = Path(os.environ.get("TACIT_REAL_MODELS", Path(__file__).parents[2] / "build/real-models"))


@pytest.fixture(scope="session", params=["smollm2", "gemma"])
def folder(request: pytest.FixtureRequest) -> Path:
    place = FOLDER / str(request.param)
    if not (place / "config.json").is_file():
        pytest.skip(f"{place} is not there: python scripts/real_models.py {FOLDER} {place.name}")
    return place


@cache
def loaded(folder: Path, **options: Any) -> LanguageModel:  # noqa: ANN401 - LoadOptions' fields
    """A model, loaded once for each set of options."""
    return load_model(str(folder), LoadOptions(device="cpu", **options))


@cache
def plain(folder: Path) -> Plain:
    """The same model, computed by transformers alone, one sequence at a time."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model = AutoModelForCausalLM.from_pretrained(folder, attn_implementation="eager").eval()
    return Plain("causal", model, AutoTokenizer.from_pretrained(folder))
