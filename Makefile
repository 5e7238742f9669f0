# One vocabulary for developers, for users and for CI; every target sets up what it needs.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help

export PATH := $(PATH):$(HOME)/.cargo/bin
export PYO3_PYTHON := $(CURDIR)/.venv/bin/python
BIN := .venv/bin
# Where cargo builds, unless the user has said it
export CARGO_TARGET_DIR ?= target
# Tests start Python a thousand times: what it has compiled is kept, whatever the environment says
unexport PYTHONDONTWRITEBYTECODE
# Examples: make reproduce ARGS="splitbuff/fig1 --quick", make validate ARGS=--quick, make test PYTEST="-k sizing"
ARGS ?=
PYTEST ?=
# One more than processors: tests wait a third of their time, for browsers, disks and kernels
WORKERS ?= $(shell echo $$(($$(getconf _NPROCESSORS_ONLN) + 1)))

.PHONY: help
help: ## Lists the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: setup
setup: ## Makes .venv with all that running needs (every target below does so itself)
	@scripts/setup.sh

.PHONY: run
run: setup ## Says which queue and buffer the link of examples/published-link.toml needs, plots into results/
	@mkdir -p results
	@$(BIN)/bufferlab advise examples/published-link.toml --plot results/published-link.png $(ARGS)

.PHONY: validate
validate: setup ## Compares the simulator with ns-2 and with theory
	@$(BIN)/bufferlab validate $(ARGS)

.PHONY: reproduce
reproduce: setup ## Figures and tables of the published documents, into results/
	@$(BIN)/bufferlab reproduce $(ARGS)

.PHONY: lint lint-rust lint-python generated
lint: ## Formatting, lints, types
	@scripts/setup.sh checks
	@$(MAKE) lint-rust generated lint-python

lint-rust:
	cargo fmt --all --check
	nice cargo clippy --quiet --locked --workspace --all-targets -- -D warnings

lint-python:
	$(BIN)/python scripts/reference.py --check
	$(BIN)/ruff check --quiet
	$(BIN)/ruff format --quiet --check
	$(BIN)/mypy --no-error-summary

# `make test` checks this in crates/dev/tests: alone, cargo would build the engine a second time, with other features
generated:
	cargo run --quiet --locked --package bufferlab-dev -- generate-all --check

.PHONY: quick
quick: setup ## What a change forgets most often, in a minute: formats, generated files, names, layers
	@scripts/setup.sh checks
	cargo fmt --all --check
	cargo run --quiet --locked --package bufferlab-dev -- generate-all --check
	$(BIN)/ruff check --quiet
	$(BIN)/ruff format --quiet --check
	$(BIN)/mypy --no-error-summary
	@$(BIN)/pytest -q tests/test_*.py tests/run/test_core.py

.PHONY: test test-rust python-ready
test: ## All checks and tests, as CI runs them
	@scripts/setup.sh compilers
	@$(MAKE) --jobs=2 --output-sync=target test-rust python-ready
	@$(BIN)/pytest -q --numprocesses=$(WORKERS) --dist=worksteal $(PYTEST)

# Beside each other: the engine is linked on one core. What leads to pytest takes longer, so the rest gives way to it
# No examples: lints have checked them, and linking the engine into one tests nothing
test-rust: lint-rust
	nice cargo test --quiet --locked --workspace --lib --bins --tests
	nice cargo test --quiet --locked --workspace --doc

python-ready:
	@scripts/setup.sh checks
	@$(MAKE) lint-python
# The workers of pytest find the tests compiled, else each compiles all; what is wrong with them is said then
	@$(BIN)/pytest -q --collect-only >/dev/null || true

.PHONY: dist
dist: setup ## Builds the source distribution and a wheel for every Python into dist/ (minutes)
	@nice scripts/dist.sh

.PHONY: dist-test
dist-test: dist ## Installs both into environments of their own, with each Python that is here, and runs a little
	@nice scripts/dist-test.sh

.PHONY: mutants
mutants: setup ## Plants bugs in a sample of places; which does no test notice? ARGS="--crate qdisc --count 60 --seed 1"
	@$(BIN)/pip install --quiet tree-sitter==0.26.1 tree-sitter-rust==0.24.2
	@nice $(BIN)/python -m scripts.mutants $(ARGS)

.PHONY: mutants-python
mutants-python: setup ## The same in sizing, searching, results and the store: ARGS="--part store --count 20 --seed 1"
	@scripts/setup.sh checks
	@nice $(BIN)/python scripts/mutants_python.py $(ARGS)

.PHONY: fuzz
fuzz: ## Throws inputs at all readers, guided by coverage: ARGS="--seconds 60 scenario"
	@nice scripts/fuzz.sh $(ARGS)

.PHONY: soak
soak: setup ## Random plans against the slow engine, with debug assertions: ARGS="--seconds 600 --seed 1"
	@nice scripts/soak.sh $(ARGS)

.PHONY: format
format: ## Formats Rust and Python
	@scripts/setup.sh checks
	cargo fmt --all
	$(BIN)/ruff check --quiet --fix-only
	$(BIN)/ruff format --quiet

.PHONY: bench bench-build bench-gate
bench: bench-build ## Speed against a bare loop and ns-2, memory: ratios from one run
	@$(CARGO_TARGET_DIR)/release/bufferlab-bench speed
	@echo
	@$(CARGO_TARGET_DIR)/release/bufferlab-bench controls
	@echo
	@$(CARGO_TARGET_DIR)/release/bufferlab-bench disciplines
	@echo
	@$(CARGO_TARGET_DIR)/release/bufferlab-bench memory
	@echo
	@$(CARGO_TARGET_DIR)/release/bufferlab-bench ns2
	@echo
	@$(CARGO_TARGET_DIR)/release/bufferlab-bench recording
	@echo
	@$(CARGO_TARGET_DIR)/release/bufferlab-bench observing

bench-gate: bench-build ## Instructions a packet against benchmarks/instructions.json; fails if there are 3 % more
	@$(CARGO_TARGET_DIR)/release/bufferlab-bench gate

bench-build: setup
	@cargo build --quiet --locked --release --package bufferlab-bench

.PHONY: golden
golden: bench-build ## Writes the committed tables and measurements anew: golden/, instructions a packet
	BUFFERLAB_GOLDEN=update cargo test --quiet --locked -p bufferlab-simulator --test suite golden
	@$(CARGO_TARGET_DIR)/release/bufferlab-bench gate --update

.PHONY: docs
docs: setup ## Writes the pages, the schema and Python's types that are made from declarations anew
	@cargo run --quiet --locked --package bufferlab-dev -- generate-all
	@$(BIN)/python -m bufferlab.evidence.report
	@$(BIN)/python scripts/reference.py
	@$(BIN)/python scripts/gallery.py

.PHONY: site
site: setup ## Builds the documents as a site into site/, with the page in it; no address of others is in it
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check mkdocs-material==9.8.2
	@$(BIN)/python scripts/site.py
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

.PHONY: shown
shown: setup ## Runs the commands whose output documents show, and puts what they print now in its place (minutes)
	@nice $(BIN)/python scripts/shown.py README.md docs/*.md

.PHONY: record
record: setup ## Runs all reproductions and ns-2's settings in full (hours; goes on where it ended), and renews pages
	@nice $(BIN)/bufferlab reproduce --record --out results $(ARGS)
	@nice $(BIN)/bufferlab validate --docs docs/validation.md --out results/validation
	@$(BIN)/python -m bufferlab.evidence.report

.PHONY: constraints
constraints: ## Renews constraints.txt: the newest versions of all Python packages
	@scripts/constraints.sh

.PHONY: clean
clean: ## Removes what was built: .venv, target, caches; keeps results
	rm -rf .venv target dist site .mypy_cache .ruff_cache .pytest_cache .hypothesis python/bufferlab/_core*.so
