import json
from pathlib import Path
from typing import Any

import pytest

from tests.golden.scores import FILE, computed

TOLERANCE = 5e-4


def approximately(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    if isinstance(value, dict):
        return {key: approximately(one) for key, one in value.items()}
    if isinstance(value, list):
        return [approximately(one) for one in value]
    return pytest.approx(value, abs=TOLERANCE) if isinstance(value, float) else value


def test_models_score_as_they_did(tmp_path: Path) -> None:
    """Log-probabilities, tokens and ranks; ``python -m tests.golden.scores`` records them anew."""
    known = json.loads(FILE.read_text(encoding="utf-8"))
    found = json.loads(json.dumps(computed(tmp_path)))
    assert list(found) == list(known)
    for kind, answers in known.items():
        assert found[kind] == approximately(answers), kind
