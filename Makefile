# make demo       see it work: sample memories in two languages, imported, indexed, searched
# make test       every test but the packaging and the thorough ones
# make thorough   further ways to stop and to fail at every durable step
# make packaging  build the package, install it into a fresh environment, use it there
# make hnsw       build the optional HNSW library (needs a C++ compiler), run its tests
# make docs       write the completions and the manual pages anew from the command tree
# make bench      measure speed and memory against floors of this machine (some 15 minutes)
# make schemas    write the JSON Schemas of the commands anew from their types
# make check      all of it, with lint and types
# make clean      remove what the above has made

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DEMO_STATE := .demo-state
SAMPLE := tests/data/sample
OPENCLAW := $(BIN)/openclaw

.PHONY: demo test thorough hnsw packaging docs schemas bench lint types check clean
.DELETE_ON_ERROR:

$(VENV)/pyvenv.cfg:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	    echo "make: Python 3.11 or newer is needed; name one with: make PYTHON=python3.11" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

# The package is installed in place: a changed source needs no new installation.
$(VENV)/installed: $(VENV)/pyvenv.cfg pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@$(BIN)/python -m compileall -q openclaw_cli # else each start compiles where no caches are written
	@touch $@

$(VENV)/developing: $(VENV)/pyvenv.cfg pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@ $(VENV)/installed

demo: export OPENCLAW_STATE_DIR := $(DEMO_STATE)
demo: $(VENV)/installed
	@rm -rf $(DEMO_STATE)
	$(OPENCLAW) --version
	$(OPENCLAW) memory import $(SAMPLE)/madial_zh.jsonl
	$(OPENCLAW) memory import $(SAMPLE)/madial_en.jsonl --no-embed
	$(OPENCLAW) memory add "用户偏好 TypeScript，不喜欢 Java" --category preference --user 123456789
	$(OPENCLAW) memory index
	$(OPENCLAW) memory search "他收到过什么生日礼物" --top-k 3
	$(OPENCLAW) memory search "what made him anxious before an exam" --top-k 3
	$(OPENCLAW) memory search "Bart 喜欢的 programming language 是 TypeScript 吗" --top-k 3 --explain
	$(OPENCLAW) memory search "阿拉斯加" --mode lexical --top-k 3
	$(OPENCLAW) memory list --limit 3
	$(OPENCLAW) memory status

test: $(VENV)/developing
	$(BIN)/python -m pytest -q -n 2 -m "not slow and not thorough"

thorough: $(VENV)/developing
	$(BIN)/python -m pytest -q -n 2 -m thorough

hnsw: $(VENV)/developing
	HNSWLIB_NO_NATIVE=1 $(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[hnsw]'
	$(BIN)/python -m pytest -q tests/index/file

packaging: $(VENV)/developing
	$(BIN)/python -m pytest -q -m slow

docs: $(VENV)/installed
	$(OPENCLAW) generate .

# One row, small stores: .venv/bin/python -m tests.bench --only lexical --sizes 1000,10000
bench: $(VENV)/developing
	$(BIN)/python -m tests.bench --json .bench/result.json

schemas: $(VENV)/developing
	$(BIN)/python -m tests.contract.regenerate

lint: $(VENV)/developing
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/developing
	$(BIN)/mypy

check: lint types test packaging demo

clean:
	rm -rf $(VENV) $(DEMO_STATE) .bench build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
