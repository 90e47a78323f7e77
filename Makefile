# Targets of everyday work; `make help` lists them. CMake presets and tools/ do the work.
.DEFAULT_GOAL := help
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
MAKEFLAGS += --no-print-directory
.PHONY: help setup setup-demo build demo all test test-long check format clean distclean

# cmake, ninja and the linters come from the environment that `make setup` makes.
export PATH := $(CURDIR)/.venv/bin:$(PATH)
JOBS ?= $(shell nproc)

help:  ## this list
	@echo "Wherry: MPI programs that communicate less and faster."
	@echo
	@sed -nE 's/^([a-z-]+):[^#]*## (.*)/\1|\2/p' Makefile | while IFS='|' read -r target what; do \
	  printf '  make %-10s %s\n' "$$target" "$$what"; done

setup:  ## install what is missing: Debian packages when root, .venv and .mpi/* from pinned packages
	@tools/setup

setup-demo:
	@tools/setup demo

build: setup-demo  ## set up and build Wherry: the preload, its backends, the library; then .venv/bin/wherry is there
	@flock .cache/build.lock tools/build wherry "$(JOBS)"

demo: setup-demo  ## run real programs with and without Wherry; writes out/report.html
	@flock .cache/build.lock tools/build demo "$(JOBS)"
	@.venv/bin/python tools/demo.py

all: setup  ## build all: benchmarks, applications, simulated programs and tests, too
	@flock .cache/build.lock tools/build all "$(JOBS)"

test: all  ## run every test; ends with the line "N passed, N failed"
	@.venv/bin/python tools/run_tests.py

test-long: all  ## run 100,000 random schedules of calls on windows and 1,000,000 layouts and types, here and on two MPIs
	@WHERRY_TEST_SCHEDULES=100000 build/release/tests/unit/test_window --test-case='*random schedules*'
	@WHERRY_TEST_SCHEDULES=33334 .venv/bin/python -m pytest -q 'tests/api/test_windows.py::test_schedules[openmpi-2]' \
	  'tests/api/test_windows.py::test_schedules[mpich-2]'
	@WHERRY_TEST_LAYOUTS=1000000 build/release/tests/unit/test_layout
	@WHERRY_TEST_LAYOUTS=1000000 .venv/bin/python -m pytest -q tests/mpi/test_programs.py -k test_type_layouts
	@WHERRY_TEST_TYPES=1000000 .venv/bin/python -m pytest -q tests/interpose/test_many_types.py
	@WHERRY_TEST_REPEATS=50 .venv/bin/python -m pytest -q --every-n tests/interpose/test_traps.py
	@.venv/bin/python -m pytest -q --whole-matrix tests/api/test_install.py
	@WHERRY_TEST_FP_TRAPS=1 .venv/bin/python -m pytest -q --every-n --whole-matrix tests/mpi/test_programs.py \
	  tests/interpose/test_matrix.py -k 'not -7 and not -8 and not -13'

check: setup  ## formatting, lint, types and layers, without building
	@tools/check

format: setup  ## format all C++ and Python sources in place; make those anew that come from the table of functions
	@python -B tools/generate_interface.py
	@git ls-files -z -co --exclude-standard '*.cpp' '*.hpp' '*.h' | xargs -0 -r clang-format -i
	@ruff format -q .
	@ruff check -q --fix .

clean:  ## remove what was built; the environments stay
	rm -rf build out

distclean: clean  ## remove the environments too
	rm -rf .venv .mpi .cache
