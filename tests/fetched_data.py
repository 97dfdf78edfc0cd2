"""Other people's data sets: tests that read them are skipped where they are not."""

import os
from pathlib import Path

import pytest

DATA = Path(os.environ.get("TACIT_TEST_DATA", Path(__file__).parents[1] / "../shared/data"))
PARROT = DATA / "parrot"
CSQA = DATA / "csqa" / "dev.jsonl"
SAMPLE = DATA / "conceptnet" / "assertions-sample.csv"
BUCHANAN = DATA / "norms" / "buchanan-features.tsv"

needs_parrot, needs_csqa, needs_sample, needs_buchanan = (
    pytest.mark.skipif(not path.exists(), reason=f"{path} is not here")
    for path in (PARROT, CSQA, SAMPLE, BUCHANAN)
)
