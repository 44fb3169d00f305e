# Everything a contributor runs. `make help` lists it.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
CORE   := $(VENV)/.core
STAMP  := $(VENV)/.ready
PYTEST := $(BIN)/python -m pytest
# Two workers: the tests start processes of their own, so more only makes them wait for each other.
JOBS   ?= 2

.DEFAULT_GOAL := help
.PHONY: help venv demo test check format test-suites test-hostile test-chaos test-local-model bench docs clean

help: ## Say what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-18s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# Made again only when pyproject.toml changed, or the environment is gone. The demo needs the core and pytest alone.
$(CORE): pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e . 'pytest>=8,<10'
	@touch $@

$(STAMP): $(CORE)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@

venv: $(STAMP) ## Make .venv with the project and its tools; quick when nothing changed

demo: $(CORE) ## Run the reference case from end to end: with a script, then diagnosed without one
	$(BIN)/rootproof demo
	$(BIN)/rootproof diagnose --root examples/login-redirect/python --python $(BIN)/python

test: $(STAMP) ## All tests that can run here, in at most 10 minutes
	$(PYTEST) -q -n $(JOBS) --dist loadfile

check: $(STAMP) ## What a change must pass: format, lint, strict types, spelling, tests, docs, budgets
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/codespell
	$(MAKE) --no-print-directory test

format: $(STAMP) ## Bring the code into form
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: $(STAMP) ## Write the generated pages and blocks again: errors, schemas, command line help
	$(BIN)/python -m tests.architecture.generated

test-suites: $(STAMP) ## Long: the bug suites with the detective
	$(PYTEST) -q -m suites

test-hostile: $(STAMP) ## Long: every attack on every containment level of this machine
	$(PYTEST) -q -m hostile_full

test-chaos: $(STAMP) ## Long: kills, full disks and lost leases at random
	$(PYTEST) -q -m chaos

test-local-model: $(STAMP) ## Long: the small local model, which must be installed (extra `local`)
	$(PYTEST) -q -m local_model

bench: $(STAMP) ## What a step of the controller costs, beside others
	$(BIN)/python benchmarks/controller.py

clean: ## Remove the environment and caches
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist
