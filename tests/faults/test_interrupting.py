import json
from pathlib import Path

import pytest

from tacit.engine.store import Store
from tests.faults.running import PEACH, SMALL_BLOCKS, Warm, findings_of

pytestmark = pytest.mark.slow

# Is interrupted when two blocks were stored, and with "twice" again while it ends.
INTERRUPTED = """
import os, signal, time
from tacit.engine import store

append, appended = store.Store.append, 0

def interrupted(*arguments):
    global appended
    appended += 1
    if appended == 3:
        try:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(2)
        finally:
            if {twice}:
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(60)
    return append(*arguments)

store.Store.append = interrupted
"""


@pytest.mark.parametrize("twice", [False, True], ids=["once", "twice"])
def test_a_run_that_is_interrupted_goes_on(
    tmp_path: Path, warm: Warm, whole: dict[str, bytes], *, twice: bool
) -> None:
    """Once it ends in order, twice at once whatever it waits for; the store is whole both times."""
    setup = SMALL_BLOCKS + INTERRUPTED.format(twice=twice)
    ended = warm.run(tmp_path, *PEACH, "--out", "run", setup=setup)
    assert ended.status == 130
    assert "Traceback" not in ended.said
    assert ("interrupted again" if twice else "again to resume") in ended.said
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["status"] == "unfinished"
    segments = list(tmp_path.glob(".tacit/scores/*/*.parquet"))
    # What is being written is written to its end, unless it is interrupted again.
    assert len(segments) == (2 if twice else 3)
    assert Store(tmp_path / ".tacit").read(manifest["model"]["fingerprint"]).height > 0
    assert all(segment.is_file() for segment in segments), "none was damaged"
    assert warm.run(tmp_path, *PEACH, "--out", "run").status == 0
    assert findings_of(tmp_path / "run") == whole
