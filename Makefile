# make demo    run the demo            make check     lint, format, types, layers, names
# make test    run the quick tests     make test-all  run the slow ones as well
# make peers   compare with other people's programs
# make real    test two pretrained models of scripts/real_models.py, or those of TACIT_REAL_MODELS
# make bench   measure speed           make docs    build the documentation site
# Each sets up .venv the first time, with the versions in constraints.txt, and not again.

PYTHON ?= python3
BIN := .venv/bin
PYTEST = HF_HUB_OFFLINE=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses auto --dist loadfile
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --constraint constraints.txt

.PHONY: demo test test-all check peers real bench docs clean

demo: .venv/ready-demo
	$(BIN)/tacit demo

test: .venv/ready
	$(PYTEST) -m 'not slow'

test-all: test
	$(PYTEST) -m slow

check: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --config pyproject.toml
	$(BIN)/python scripts/check_words.py

peers: .venv/ready-peers
	$(PYTEST) tests/peers

real: .venv/ready-peers
	$(PYTEST) -rs tests/real

bench: .venv/ready-peers
	$(BIN)/python benchmarks/repair.py
	HF_HUB_OFFLINE=1 $(BIN)/python benchmarks/scoring.py $(SOURCES)

docs: .venv/ready
	mkdir -p build/notebooks
	cd build/notebooks && HF_HUB_OFFLINE=1 NO_MKDOCS_2_WARNING=1 ../../$(BIN)/mkdocs build --config-file ../../mkdocs.yml

clean:
	rm -rf .venv

.venv/ready-demo: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(PIP) --editable '.[local]'
	touch $@

.venv/ready: .venv/ready-demo
	$(PIP) --editable '.[local,gguf,server,ray,dev,docs]'
	touch $@

.venv/ready-peers: .venv/ready
	$(PIP) --editable '.[peers]'
	touch $@
