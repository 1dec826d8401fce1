# `make help` lists what there is.
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help run setup extra test test-fast test-long seeds ray matrix image package issues corpus check format bundles constraints audit bench record screens docs site

VENV := .venv
PYTHON := $(VENV)/bin/python
RUNTIME := $(VENV)/.requirements
DEVELOPMENT := $(VENV)/.requirements-dev
# How many processes run the tests: a number, or `auto` for one more than there are cores. Each holds a fork server.
PROCESSES ?= auto
# tests/conftest.py says which tests stay together, and which begin.
# A process that crashes is a failure: pytest-xdist gives its tests to a new one that waits for ever.
PARALLEL := --numprocesses $(PROCESSES) --maxprocesses 4 --max-worker-restart 0 --dist loadgroup --no-loadscope-reorder
# It looks at deno.json, and asks no server: neither for a newer deno nor for a package.
DENO := DENO_NO_UPDATE_CHECK=1 $(VENV)/bin/deno
CLANG_FORMAT := $(VENV)/bin/clang-format
CXX_FILES := $(wildcard core/accelerator/runtime/*.cpp core/accelerator/runtime/*.h core/accelerator/runtime/*/*.cpp)
# The extension module and the fuzzers need headers that not every machine has.
CXX_CHECK := -fsyntax-only -std=gnu++17 -pthread -fopenmp -Wall -Wextra -Wshadow -Wconversion -Werror
AUDIT := .audit/.requirements
SITE := .site-tools/.requirements
INSTALL := $(PYTHON) -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
# Writes the requirements of a group of pyproject.toml into the environment, since pip reads groups only from version 25.1.
GROUP := $(VENV)/group.txt
WRITE_GROUP := $(PYTHON) -c 'import sys, tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["dependency-groups"][sys.argv[1]], sep="\n")'
SUITABLE := import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 14))
HAS_HEADERS := import os, sys, sysconfig; sys.exit(not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")))

help:  ## List these commands
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: $(RUNTIME)  ## Set up what is missing and start the dashboard (ARGS="--server.port 8600" goes to Streamlit)
	@command -v $${CXX:-g++} >/dev/null || echo "There is no C++ compiler ($${CXX:-g++}): the dashboard starts, but the CPU backend cannot build kernels. Install g++ (apt-get install g++, xcode-select --install), or set CXX." >&2
	@$(PYTHON) -c '$(HAS_HEADERS)' || echo "Python's headers are missing, and Inductor's C++ kernels need them. Install them (apt-get install python3-dev)." >&2
	$(PYTHON) -m streamlit run dashboard.py $(ARGS)

setup: $(DEVELOPMENT)  ## Set up all that development needs, and start nothing

# Not by constraints.txt: botocore, of `archive`, takes an older python-dateutil only.
extra: $(RUNTIME)  ## Install what is optional: EXTRA=login, mcp, ray, archive or neighbours
	$(WRITE_GROUP) $(EXTRA) >$(GROUP)
	$(PYTHON) -m pip install --quiet --disable-pip-version-check --constraint requirements.txt -r $(GROUP)

test: $(DEVELOPMENT)  ## Run the tests, and of the long ones the day's sample (ARGS="-k guards" goes to pytest; PROCESSES=3 runs them in three processes, PARALLEL="" in one)
	$(PYTHON) -m pytest $(PARALLEL) $(ARGS)

test-fast: $(DEVELOPMENT)  ## Run the tests that need neither torch nor a browser, nor long: what to run after each change
	$(PYTHON) -m pytest $(PARALLEL) --fast $(ARGS)

test-long: $(DEVELOPMENT)  ## Run the tests that are marked long; `make test` runs a sample of them, another each day (half an hour)
	$(PYTHON) -m pytest $(PARALLEL) -m long $(ARGS)

seeds: $(DEVELOPMENT)  ## Check each row of docs/seeds.md, and that it fails when the code is broken (ARGS="-k S3.7" for some; hours)
	$(PYTHON) -m pytest -m seeds -n0 tests/live/test_seeds.py $(ARGS)

matrix: $(DEVELOPMENT)  ## Run the live tests with each supported torch, each in an environment of its own (ARGS="2.15.0" for one)
	$(PYTHON) -m tests.matrix $(ARGS)

ray: $(DEVELOPMENT)  ## Run the tests of the runner and of sweeps on a Ray cluster of four nodes (needs `make extra EXTRA=ray`; minutes)
	$(PYTHON) -m pytest -m "" --site ray tests/core/runs tests/core/sweep $(ARGS)
	$(PYTHON) -m pytest tests/live/test_ray.py $(ARGS)

image: $(DEVELOPMENT)  ## Carry the Dockerfile out in a bare Debian, then run it as compose.yaml says (Linux, root, minutes)
	$(PYTHON) -m pytest -m image --capture=no $(ARGS)

package: $(DEVELOPMENT)  ## Package a model by AOTInductor, and build and run the program in C++ (minutes)
	$(PYTHON) -m pytest -m package -n0 $(ARGS)

issues: $(DEVELOPMENT)  ## Report ten closed issues of PyTorch, and run the script of each report by itself (minutes)
	$(PYTHON) -m pytest -m closed -n0 $(ARGS)

corpus: $(DEVELOPMENT)  ## Take public reports to the product: what is detected, explained, cured, advised wrongly (ARGS="branch --cards"; minutes)
	$(PYTHON) -m tests.corpus $(ARGS)

check: $(DEVELOPMENT)  ## Check format, lint and types, of Python, JavaScript and C++
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m ruff check .
	$(PYTHON) -m mypy
	$(DENO) fmt --check
	$(DENO) lint
	$(DENO) check benchmarks pages tests
	$(CLANG_FORMAT) --dry-run --Werror $(CXX_FILES)
	$${CXX:-g++} $(CXX_CHECK) core/accelerator/runtime/*.cpp

format: $(DEVELOPMENT)  ## Format the code, and fix what the linters can
	$(PYTHON) -m ruff check --fix .
	$(PYTHON) -m ruff format .
	$(DENO) lint --fix
	$(DENO) fmt
	$(CLANG_FORMAT) -i $(CXX_FILES)

bundles: $(DEVELOPMENT)  ## Bundle the code editor and the script of HTML files (needs the npm registry)
	$(PYTHON) -m tests.supply.bundles

constraints: $(DEVELOPMENT)  ## Pin all that the requirements bring again, with their newest versions (needs python3.11)
	$(PYTHON) -m tests.supply.constraints

audit: $(DEVELOPMENT) $(AUDIT)  ## Look all that is pinned up among the known vulnerabilities
	$(PYTHON) -m tests.supply.audit

bench: $(DEVELOPMENT)  ## Run the benchmarks and print a table (ARGS="recording" for one of them)
	$(PYTHON) -m benchmarks $(ARGS)

record: $(DEVELOPMENT)  ## Record the tests' traces and the gallery's pictures again
	$(PYTHON) -m tests.record
	$(PYTHON) -m docs.make.thumbnails

screens: $(DEVELOPMENT)  ## Write the text of pages and commands on the recorded scenarios again (ARGS="run/runs.py" for one page)
	$(PYTHON) -m tests.screens $(ARGS)
	$(if $(ARGS),,$(PYTHON) -m tests.record_outputs)
	$(if $(ARGS),,rm -r tests/outputs/pages && RECORD_PAGES=1 $(PYTHON) -m pytest --quiet $(PARALLEL) tests/pages)
	$(PYTHON) -m tests.charts

docs: $(DEVELOPMENT)  ## Write the tables of docs/ and the browser's types again from the types and tables of Python
	$(PYTHON) -m docs.make.report_schema
	$(PYTHON) -m docs.make.trace_records
	$(PYTHON) -m docs.make.targets
	$(PYTHON) -m docs.make.options
	$(PYTHON) -m docs.make.limits
	$(PYTHON) -m docs.make.promises
	$(PYTHON) -m docs.make.architecture
	$(PYTHON) -m docs.make.wire_types
	$(PYTHON) -m docs.make.skill

site: $(SITE)  ## Build the documents as a site with search, in .site
	.site-tools/bin/python -m mkdocs build --strict

$(PYTHON):
	@for python in python3.13 python3.12 python3.11 python3; do \
		if $$python -c '$(SUITABLE)' 2>/dev/null; then \
			echo "Creating $(VENV) with $$($$python --version)"; \
			$$python -m venv $(VENV) && exit 0; \
			rm -rf $(VENV); \
			echo "$$python cannot create a virtual environment. On Debian and Ubuntu: apt-get install python3-venv" >&2; \
			exit 1; \
		fi; \
	done; \
	echo "Compileboard needs Python 3.11, 3.12 or 3.13, and none of python3.13, python3.12, python3.11 and python3 is one." >&2; \
	exit 1

# torch comes first and by itself: what depends on it must find the build that this machine's index offers.
$(RUNTIME): requirements.txt constraints.txt | $(PYTHON)
	$(INSTALL) "$$(grep '^torch==' requirements.txt)"
	$(INSTALL) -r requirements.txt
	@touch $@

$(DEVELOPMENT): pyproject.toml constraints-dev.txt $(RUNTIME)
	$(WRITE_GROUP) dev >$(GROUP)
	$(INSTALL) --constraint constraints-dev.txt -r requirements.txt -r $(GROUP)
	@touch $@

$(AUDIT): pyproject.toml | $(PYTHON)
	$(PYTHON) -m venv .audit
	$(WRITE_GROUP) audit >$(GROUP)
	.audit/bin/python -m pip install --quiet --disable-pip-version-check -r $(GROUP)
	@touch $@

$(SITE): pyproject.toml | $(PYTHON)
	$(PYTHON) -m venv .site-tools
	$(WRITE_GROUP) docs >$(GROUP)
	.site-tools/bin/python -m pip install --quiet --disable-pip-version-check -r $(GROUP)
	@touch $@
