# Two commands do all the set-up: `make audit` and `make test`. Both need only Python 3.11+ and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
MODEL ?= local/smollm2
# Eight profiles of one use case with one axis and their controls, 192 prompts: an interval needs four in each language.
ARGS ?= --use-case salary_estimation --axis gender --design profiles-once --limit 8 --controls

SOURCES := $(shell find dataset_builder metric scripts -type f -not -name "*.pyc") dataset_card.md
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: audit test setup lint types unit soak lock wheel bench clean
.DEFAULT_GOAL := audit

audit: setup
	$(BIN)/rupeebias audit --model $(MODEL) $(ARGS)

# Types are checked beside the tests; what mypy says stands below theirs only if it finds something.
test: setup lint
	@mkdir -p build
	@$(MAKE) types >build/types.txt 2>&1 & types=$$!; \
	$(MAKE) --no-print-directory unit; status=$$?; \
	wait $$types || { cat build/types.txt; exit 1; }; \
	exit $$status

setup: rupeebias/README.md

lint:
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types:
	$(BIN)/mypy scripts dataset_builder metric tests benchmarks

unit:
	$(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder

# The dataset and the metric, so that load_dataset("rupeebias") and evaluate.load("rupeebias_metric") work here.
rupeebias/README.md: $(VENV)/installed
	$(BIN)/rupeebias build

$(VENV)/installed: $(VENV)/locked pyproject.toml $(SOURCES)
	$(PIP) install --no-deps --no-build-isolation --force-reinstall .
	touch $@

# Each lock names everything, so there is nothing to resolve. All cores compile, but nothing that is never imported
# here: tests, LiteLLM's own server, and what is there as machine code.
$(VENV)/locked: requirements-pip.lock requirements.lock scripts/models/requirements-local.lock
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Python 3.11 or newer is needed: make PYTHON=...")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install --require-hashes --requirement requirements-pip.lock
	$(PIP) install --require-hashes --no-deps --no-compile --requirement requirements.lock
	$(PIP) install --require-hashes --no-deps --no-compile --requirement scripts/models/requirements-local.lock
	$(BIN)/python -m compileall -qq -j 0 -x '/(tests|proxy|devtools|mypyc?)/' $(VENV) || true
	touch $@

# Maintainers: newest versions that pyproject.toml allows, for every supported Python, with hashes.
lock: $(VENV)/locked
	$(PIP) install uv
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --extra dev pyproject.toml -o requirements.lock
	echo "pip>=25" | $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header - -o requirements-pip.lock

wheel: $(VENV)/locked
	$(BIN)/python -m build --no-isolation --outdir build/dist

# A full-size run against a server with faults, killed twice in the middle.
soak: setup
	$(BIN)/python benchmarks/soak.py
	$(BIN)/python -m pytest -m slow

bench: setup
	$(BIN)/python benchmarks/score.py
	$(BIN)/python benchmarks/parse.py
	$(BIN)/python benchmarks/coverage.py
	$(BIN)/python benchmarks/generate.py

clean:
	rm -rf $(VENV) build rupeebias rupeebias_metric
