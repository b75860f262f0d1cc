# One door to everything. `make help` lists it.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
HOME_DEMO ?= .demo
HOME_GATE ?= .gate
GATE := eval gate --baseline bench/gate/baseline.json --data bench/gate/company_zh_en
SHELL := /bin/bash

.PHONY: help demo test test-fast check format lint types layers deps docs docs-check gate gate-baseline bench bench-quick train-reranker lock clean

help:  ## List the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*##/\t/' | expand -t 14

$(VENV)/.run: requirements/run.lock pyproject.toml
	@echo "Setting up in $(VENV): about 290 MB to download, 800 MB on disk, a few minutes."
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements/run.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -e .
	@touch $@

$(VENV)/.dev: $(VENV)/.run requirements/dev.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements/dev.lock
	@touch $@

demo: $(VENV)/.run  ## Set up, take in the bundled documents, answer four questions; no key, and no network once set up
	@$(BIN)/kaijuan --home $(HOME_DEMO) demo

test: $(VENV)/.dev  ## Set up and pass the tests
	$(BIN)/python -m pytest

test-fast: $(VENV)/.dev  ## The tests without the slow ones
	$(BIN)/python -m pytest -m "not slow"

check: lint types layers deps docs-check test gate  ## All that CI runs

format: $(VENV)/.dev  ## Format the code and mend what can be mended
	$(BIN)/ruff format src tests bench docs
	$(BIN)/ruff check --fix src tests bench docs

lint: $(VENV)/.dev  ## Formatting and lint
	$(BIN)/ruff format --check src tests bench docs
	$(BIN)/ruff check src tests bench docs

types: $(VENV)/.dev  ## mypy, strict
	$(BIN)/mypy

layers: $(VENV)/.dev  ## Arrows between the rooms point one way
	$(BIN)/lint-imports

deps: $(VENV)/.dev  ## Declared and used dependencies agree
	$(BIN)/deptry src

docs: $(VENV)/.dev  ## Generate the reference pages
	$(BIN)/python docs/make_reference.py
	$(BIN)/python docs/make_cli.py

docs-check: $(VENV)/.dev  ## The generated pages are fresh
	$(BIN)/python docs/make_reference.py --check
	$(BIN)/python docs/make_cli.py --check

gate: $(VENV)/.dev  ## The bundled questions are answered by the right sections as well as before
	@$(BIN)/kaijuan --home $(HOME_GATE) $(GATE)

gate-baseline: $(VENV)/.dev  ## Write what they score now as what they must score from now on
	@$(BIN)/kaijuan --home $(HOME_GATE) $(GATE) --write

bench: $(VENV)/.dev  ## Print every number that the docs quote (takes hours)
	$(BIN)/python -m bench.run

bench-quick: $(VENV)/.dev  ## The same on smaller data (under ten minutes)
	$(BIN)/python -m bench.run --quick

TRAINING := .training
SHARED ?= ../shared/data
COLLECT = $(BIN)/python -m bench.candidates --home $(TRAINING)/home --into $(TRAINING)/candidates

train-reranker: $(VENV)/.dev  ## Train the onboard reranker anew and judge it (an hour; needs the shared sets)
	$(COLLECT) $(addprefix $(SHARED)/,mtrag_un_en clapnq_en)
	$(COLLECT) $(SHARED)/xquad_zh_en --questions 400
	$(COLLECT) $(SHARED)/stard_law_zh --documents 2000 --questions 250
	$(COLLECT) $(SHARED)/rgb_news_zh --documents 2000 --questions 150
	$(COLLECT) $(addprefix $(SHARED)/,cosqa_code_en medfaq_zh hotpot_en) --documents 1500 --questions 250
	$(COLLECT) $(SHARED)/cmrc2018_zh --documents 700 --questions 200
	$(COLLECT) $(addprefix $(SHARED)/,drcd_zht pubmedqa_en) --documents 500 --questions 150
	$(COLLECT) $(SHARED)/financebench_en --documents 250
	$(BIN)/python -m bench.train_reranker --from $(TRAINING)/candidates --cache $(TRAINING) --write > bench/results/train_reranker.json

audit:  ## Ask the database of known faults about every locked version (needs pip-audit and the network)
	pip-audit --disable-pip --no-deps -r requirements/run.lock
	pip-audit --disable-pip --no-deps -r requirements/dev.lock

lock:  ## Renew the lock files (needs uv)
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-annotate \
	  pyproject.toml -o requirements/run.lock
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-annotate \
	  --extra code --extra cross-encoder --extra eval --extra heif --extra otel --extra s3 --extra sql pyproject.toml requirements/dev.in -c requirements/run.lock -o requirements/dev.lock

clean:  ## Remove what was built
	rm -rf $(VENV) $(HOME_DEMO) $(HOME_GATE) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
