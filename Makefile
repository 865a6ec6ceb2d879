# `make demo` and `make test` do all set-up themselves, in .venv, from a fresh clone.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: help demo test quality bench format clean
.DEFAULT_GOAL := help

help:
	@echo "make demo     a whole campaign on a miniature engine: its cause, confirmed in minutes"
	@echo "make test     style, types, floors and all tests, under 10 minutes"
	@echo "make quality  does it find the culprit? long seeded suites, under 30 minutes"
	@echo "make bench    the long tables of tests/bench/tables"
	@echo "make format   rewrite the sources in the house style"
	@echo "make clean    remove .venv and all caches"

demo: $(VENV)/.runtime
	@PATH="$(CURDIR)/$(BIN):$$PATH" workbench demo demo

# Side by side, since most tests wait for processes; `quality` alone, since it measures loads.
test: $(VENV)/.development
	$(BIN)/python -m pytest --numprocesses logical --maxprocesses 8 --dist worksteal

quality: $(VENV)/.development
	$(BIN)/python -m pytest -m quality

bench: $(VENV)/.development
	$(BIN)/python -m tests.bench

format: $(VENV)/.development
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Python 3.11 or newer is needed: make PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.runtime: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) --editable .
	@touch $@

$(VENV)/.development: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) --editable '.[dev,llamacpp,notebook,serve]'
	@touch $@ $(VENV)/.runtime
