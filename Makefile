# Everything is set up by the target that needs it: `make demo` and `make test` work in a fresh clone.

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready

# The Python that makes .venv: python3 if it is 3.10 or newer, else the newest of the others. `make PYTHON=...` decides.
NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 10))
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python3.10; do \
	"$$p" -c '$(NEW_ENOUGH)' >/dev/null 2>&1 && { echo "$$p"; break; }; done)

# Tests with Spark mostly wait for commits: two sessions side by side take 6 GB and two thirds of the time of one.
TWO := -n 2

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-unit test-random test-histories test-faults test-races test-jobs test-stream test-sql \
	test-connect test-graph test-cluster bench lint format clean

help: ## This list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 20

setup: $(STAMP) ## Make .venv with all packages, and fetch the Delta jars

$(STAMP): setup.cfg pyproject.toml
	@if [ -z "$(PYTHON)" ]; then echo "No Python 3.10 or newer found. Install one, or say make PYTHON=/path/to/python3" >&2; exit 1; fi
	@"$(PYTHON)" -c '$(NEW_ENOUGH)' 2>/dev/null || { echo "$(PYTHON) does not run or is older than 3.10. Say make PYTHON=/path/to/python3" >&2; exit 1; }
	@echo "Installing packages into $(VENV) (about a minute, once)"
	@test -x $(BIN)/python || "$(PYTHON)" -m venv $(VENV) || { rm -rf $(VENV); echo "Cannot make $(VENV). On Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[demo,test]'
	@$(BIN)/python -m banyan.spark_session
	@touch $@

demo: $(STAMP) ## A first look: build an index, match events, explain a match
	@$(BIN)/banyan demo

test: lint ## All checks: lint, then tests without Spark, then tests with Spark
	@$(BIN)/python -m pytest tests/unit
	@$(BIN)/python -m pytest tests/spark -m "not slow" $(TWO) --dist loadfile

test-unit: $(STAMP) ## Tests without Spark (seconds)
	@$(BIN)/python -m pytest tests/unit

test-random: $(STAMP) ## Ten million random decisions against Spark's WHERE (about ten minutes)
	@BANYAN_RANDOM_SEED=1000 BANYAN_RANDOM_ROUNDS=5 BANYAN_RANDOM_EVENTS=2000 BANYAN_RANDOM_EXPRESSIONS=1000 \
		$(BIN)/python -m pytest tests/spark/test_match_against_spark.py -k where

test-histories: $(STAMP) ## Fifty random histories of an index on Delta against fresh builds (about half an hour)
	@BANYAN_HISTORIES=$${BANYAN_HISTORIES:-50} BANYAN_HISTORIES_SEED=$${BANYAN_HISTORIES_SEED:-100} \
		$(BIN)/python -m pytest tests/spark/test_histories.py $(TWO) --dist worksteal

test-faults: $(STAMP) ## Writers killed at every point between commits, and at random times (about half an hour)
	@BANYAN_FAULTS=$${BANYAN_FAULTS:-all} $(BIN)/python -m pytest tests/spark/test_faults.py $(TWO) --dist worksteal

test-races: $(STAMP) ## Three processes with nine writers on one index (about five minutes)
	@BANYAN_RACES=all $(BIN)/python -m pytest tests/spark/test_races.py

test-jobs: $(STAMP) ## Jobs that follow tables, killed at every point (about a quarter of an hour)
	@BANYAN_FOLLOWING=jobs $(BIN)/python -m pytest tests/spark/test_following.py -k "not killed_stream" $(TWO) --dist worksteal

test-stream: $(STAMP) ## Streams killed at every point (about five minutes)
	@BANYAN_FOLLOWING=stream $(BIN)/python -m pytest tests/spark/test_following.py -k killed_stream $(TWO) --dist worksteal

test-sql: $(STAMP) ## The written-out match in a process without Banyan and in the spark-sql shell (about five minutes)
	@$(BIN)/python -m pytest tests/spark/test_sql.py

test-connect: $(STAMP) ## The tests with Spark once more, over Spark Connect (long)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[connect]'
	@BANYAN_CONNECT=1 $(BIN)/python -m pytest tests/spark

test-graph: $(STAMP) ## GraphFrames of an index: fetches package and jar (73 MB) if they are not there
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[graph]'
	@$(BIN)/python -c "import os; from banyan.jars import graph_jars; print(*graph_jars({}, os.environ))"
	@$(BIN)/python -m pytest tests/spark/test_graph.py

test-cluster: $(STAMP) ## Builds and matches on two executors, of which one is killed (about ten minutes)
	@$(BIN)/python -m pytest tests/cluster

bench: $(STAMP) ## The benchmark, short form (under 10 minutes); all of it: banyan bench --full
	@$(BIN)/banyan bench

lint: $(STAMP) ## Check style and format
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

format: $(STAMP) ## Mend what lint can mend
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

clean: ## Remove everything that make made
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .ruff_cache .hypothesis
	rm -rf banyan-demo bench-out spark-warehouse metastore_db derby.log
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
