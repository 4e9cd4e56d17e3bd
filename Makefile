# The targets a user needs are `demo` and `test`; each installs what it needs into .venv.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test lint docs experiments benchmarks clean

.venv/ready: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable ".[plot,cli,dev]"
	touch $@

.venv/ready-docs: .venv/ready
	$(BIN)/python -m pip install --quiet --editable ".[docs]"
	touch $@

.venv/ready-experiments: .venv/ready
	$(BIN)/python -m pip install --quiet --editable ".[experiments]"
	touch $@

# Tests run in two processes of one thread each: more threads than processors wait for one another.
test: export OMP_NUM_THREADS ?= 1

demo: .venv/ready
	$(BIN)/protolearn demo

test: .venv/ready
	$(BIN)/python -m pytest --numprocesses 2 --dist worksteal --quiet

lint: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: .venv/ready-docs
	$(BIN)/sphinx-build -W --keep-going -b html docs docs/_build/html
	@echo "Open docs/_build/html/index.html"

experiments: .venv/ready-experiments
	$(BIN)/python -m experiments

benchmarks: .venv/ready
	$(BIN)/python -m benchmarks

clean:
	rm -rf .venv .venv-* demo docs/_build docs/gallery docs/api/generated
