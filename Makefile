# Targets of everyday work; `make help` lists them. CMake presets and tools/ do the work.
.DEFAULT_GOAL := help
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
MAKEFLAGS += --no-print-directory
.PHONY: help setup build demo test test-long check format clean distclean

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

build: setup  ## set up and build; then .venv/bin/wherry is there
	@flock .cache/build.lock tools/build "$(JOBS)"

demo: build  ## run real programs with and without Wherry; writes out/report.html
	@.venv/bin/python tools/demo.py

test: build  ## run every test; ends with the line "N passed, N failed"
	@.venv/bin/python tools/run_tests.py

test-long: build  ## run 100,000 random schedules of calls on windows, here and on two MPIs
	@WHERRY_TEST_SCHEDULES=100000 build/release/tests/unit/test_window --test-case='*random schedules*'
	@WHERRY_TEST_SCHEDULES=33334 .venv/bin/python -m pytest -q 'tests/api/test_windows.py::test_schedules[openmpi-2]' \
	  'tests/api/test_windows.py::test_schedules[mpich-2]'

check: setup  ## formatting, lint, types and layers, without building
	@tools/check

format: setup  ## format all C++ and Python sources in place
	@git ls-files -z -co --exclude-standard '*.cpp' '*.hpp' '*.h' | xargs -0 -r clang-format -i
	@ruff format -q .
	@ruff check -q --fix .

clean:  ## remove what was built; the environments stay
	rm -rf build out

distclean: clean  ## remove the environments too
	rm -rf .venv .mpi .cache
