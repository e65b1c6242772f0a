# Two commands on a fresh machine, each with its own whole set-up: `make run` and `make test`.
# They need python3 (3.11 or newer, with venv), g++ and make; all else comes into .venv.

PYTHON ?= python3
BIN := .venv/bin
# More arguments for pytest or for the benchmark: make test ARGS="-k host --cov"
ARGS ?=
# Which benchmark: the name of a file in bench/, as in make bench BENCH=lines
BENCH ?= normalize
# For how long: make soak SECONDS=3600
SECONDS ?= 600

# The stamp is made last. With .venv itself as the target, a failed build would look finished.
INSTALLED := .venv/installed
COMPILED := .venv/compiled
PACKAGE := pyproject.toml CMakeLists.txt constraints.txt $(wildcard cpp/*)
# Most of what is installed is never imported here, so nothing is compiled ahead (--no-compile).
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --constraint constraints.txt
# Compiled on first import and kept: a test run starts the command again and again, and without that
# each start takes three times as long.
unexport PYTHONDONTWRITEBYTECODE
# Many a test waits for a server, a browser or a timer: three for two cores keep the cores at work.
WORKERS := $(shell expr \( $$(nproc) \* 3 + 1 \) / 2)

# What does not depend on each other is set up at the same time.
SIDE_BY_SIDE := $(MAKE) --no-print-directory --jobs=3

.DEFAULT_GOAL := help
.PHONY: help run test js coverage mutation stranger lint format stub bench soak docs clean FORCE

help:
	@echo "make run       build, then the main job on the sample crawl; writes rules.json, report.html"
	@echo "make test      build if needed, then the tests          (ARGS=… goes to pytest)"
	@echo "make coverage  the same, and how much of src they run (fails below 92 %)"
	@echo "make mutation  small faults in our own code, and how many the tests notice (a quarter of an hour)"
	@echo "make stranger  follows the README in a fresh clone with an empty HOME, then installs archive and wheel"
	@echo "make lint      ruff and mypy; 'make format' repairs what ruff can"
	@echo "make bench     undust beside other libraries            (BENCH=lines: ten million URLs)"
	@echo "make js        the canonicalizer as WebAssembly, into js/ (the npm package)"
	@echo "make soak      every fuzz target for SECONDS=600 together"
	@echo "make docs      the documentation as HTML, into site/"
	@echo "make stub      writes src/undust/_core.pyi again after a change of the core's border"
	@echo "make clean     removes everything that was built, .venv included"

run:
	@$(SIDE_BY_SIDE) $(INSTALLED)
	@$(BIN)/python examples/tour.py

test:
	@$(SIDE_BY_SIDE) $(COMPILED) js
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder $(ARGS)

# Without this each of the workers would compile all tests, and all that they import, for itself.
$(COMPILED): $(INSTALLED)
	@for half in "tests/[a-j]*" "tests/[k-z]*"; do \
	  $(BIN)/python -m pytest --collect-only -qq $$half >/dev/null 2>&1 & done; wait; touch $@

# Compiled when a source, the suffix list or the compiler changed. It does not need the core of Python.
js: .venv/packages
	@$(BIN)/python -m tools.wasm

lint: $(INSTALLED)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

format: $(INSTALLED)
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

stub: $(INSTALLED)
	$(BIN)/python -m nanobind.stubgen --quiet --module undust._core --output-file src/undust/_core.pyi

# In a fresh clone with an empty HOME; all of it, or without the longest: ARGS="--without 'make test'"
stranger:
	$(PYTHON) -m tools.stranger $(ARGS)
	$(PYTHON) -m tools.clean_install

coverage:
	@$(SIDE_BY_SIDE) $(INSTALLED) js
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder --cov --cov-fail-under=92 $(ARGS)

mutation: $(INSTALLED)
	$(BIN)/python -m tools.mutate $(ARGS)

bench: .venv/installed-bench
	$(BIN)/python -m bench.$(BENCH) $(ARGS)

soak: $(INSTALLED)
	$(BIN)/python -m tools.soak --seconds $(SECONDS) $(ARGS)

docs: .venv/installed-docs
	$(BIN)/mkdocs build --quiet --strict

clean:
	rm -rf .venv site dist build .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage

# What an interrupted set-up left behind is repaired rather than trusted, hence --clear.
.venv/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "undust needs Python 3.11 or newer and $(PYTHON) is older; name another: make PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
	  { echo "$(PYTHON) cannot make virtual environments; on Debian: apt-get install python3-venv" >&2; exit 1; }
	@command -v $${CXX:-g++} >/dev/null || \
	  { echo "there is no C++ compiler; on Debian: apt-get install g++" >&2; exit 1; }
	@echo "making .venv (once)"
	@$(PYTHON) -m venv --clear .venv
	@$(PIP_INSTALL) pip
	@touch $@

# An editable install knows the modules it was made with, so a new one has to be made known; this list
# changes only when they do.
.venv/modules: .venv/python FORCE
	@find src -name '*.py' | LC_ALL=C sort > $@.new; cmp -s $@.new $@ && rm $@.new || mv $@.new $@
FORCE:

# Two programs of pip at a time, if make may start two: one waits for the compiler, the other unpacks.
$(INSTALLED): .venv/core .venv/packages
	@touch $@

.venv/core: .venv/python .venv/modules $(PACKAGE)
	@echo "building undust and installing what its tests need (a minute or two)"
	@$(PIP_INSTALL) --build-constraint constraints.txt --config-settings=cmake.define.CMAKE_UNITY_BUILD=ON \
	  --no-deps --editable .
	@touch $@

.venv/packages: .venv/python pyproject.toml constraints.txt
	@$(BIN)/python tools/requirements.py >.venv/requirements
	@$(PIP_INSTALL) --group test --group lint --requirement .venv/requirements
	@touch $@

.venv/installed-%: $(INSTALLED)
	@$(PIP_INSTALL) --group $*
	@touch $@
