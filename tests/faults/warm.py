"""A process that has everything imported, and forks a child for each command line it is given.

Reads a JSON object per line: ``folder`` to work in, ``setup`` to be executed first, ``arguments``.
Answers with the child's exit status, and what it wrote to standard error. Nothing is computed
before a fork but what loading a model does, in one thread, so that a child is as good as a new
process; polars, whose threads would not survive it, is imported and not used.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))


def main() -> None:
    _prepare()
    for line in sys.stdin:
        answer = _ran(json.loads(line))
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


def _prepare() -> None:
    import polars as pl  # noqa: F401
    import scipy.optimize  # noqa: F401
    import torch

    import tacit.cli.run
    import tacit.engine.store
    import tacit.models.openai.loading
    import tacit.probes.parts.probe
    import tacit.runs.figures
    import tacit.runs.workflow  # noqa: F401
    from tacit.models.loading import load_model
    from tacit.present.progress import silence_libraries

    torch.set_num_threads(1)
    silence_libraries()
    load_model("demo")


def _ran(command: dict[str, Any]) -> dict[str, Any]:
    said = Path(command["folder"]) / ".said"
    child = os.fork()
    if child == 0:
        _run(command, said)
    _, status = os.waitpid(child, 0)
    text = said.read_text(encoding="utf-8")
    said.unlink()
    return {"status": os.waitstatus_to_exitcode(status), "said": text}


def _run(command: dict[str, Any], said: Path) -> None:
    """The child's life; it never returns."""
    import torch

    from tacit.cli import main as tacit

    torch.set_num_threads(1)  # replaces the parent's pool, before two threads try to at once
    code = 1
    try:
        os.chdir(command["folder"])
        for stream, target in ((1, os.devnull), (2, str(said)), (0, os.devnull)):
            handle = os.open(target, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o644)
            os.dup2(handle, stream)
        sys.argv = ["tacit", *command["arguments"]]
        exec(command["setup"], {"__name__": "setup"})  # noqa: S102 - the tests' own
        tacit()
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(bool(ended.code))
    except BaseException:  # noqa: BLE001 - a child ends here, whatever happened
        import traceback

        traceback.print_exc()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
