# The targets a user needs are `demo` and `test`; each installs what it needs into .venv.
PYTHON ?= python3
BIN := .venv/bin
PYTEST := pytest --numprocesses 2 --dist worksteal --quiet

# Many tests start processes of their own, which would compile every imported module anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-arithmetics test-oldest test-wheel repeatability lint docs docs-quick gallery experiments benchmarks clean

.venv/ready: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --no-compile --editable ".[plot,cli,dev]"
	touch $@

.venv-oldest/ready: pyproject.toml tests/oldest.txt
	$(PYTHON) -m venv .venv-oldest
	.venv-oldest/bin/python -m pip install --quiet --upgrade pip
	.venv-oldest/bin/python -m pip install --quiet --constraint tests/oldest.txt --editable ".[plot,cli,dev]"
	touch $@

.venv/ready-docs: .venv/ready
	$(BIN)/python -m pip install --quiet --no-compile --editable ".[docs]"
	touch $@

.venv/ready-experiments: .venv/ready
	$(BIN)/python -m pip install --quiet --editable ".[experiments]"
	touch $@

# Tests run in two processes of one thread each: more threads than processors wait for one another.
test: export OMP_NUM_THREADS ?= 1

demo: .venv/ready
	$(BIN)/protolearn demo

test: .venv/ready
	$(BIN)/python -m $(PYTEST)

test-oldest: .venv-oldest/ready
	.venv-oldest/bin/python -m $(PYTEST)

# The wheel is built from the sdist, and tested where nothing else of protolearn can be imported.
test-wheel: .venv/ready
	rm -rf dist .venv-wheel
	$(BIN)/python -m build --outdir dist
	$(PYTHON) -m venv .venv-wheel
	.venv-wheel/bin/python -m pip install --quiet --upgrade pip
	.venv-wheel/bin/python -m pip install --quiet "$$(ls dist/*.whl)[plot,cli,dev]"
	.venv-wheel/bin/python -c "import protolearn; assert 'site-packages' in protolearn.__file__, protolearn.__file__"
	.venv-wheel/bin/python -m $(PYTEST) --pyargs protolearn tests README.md docs/quickstart.md docs/guide docs/tutorials docs/coming_from

# The tests as other processors would run them, as far as this one can imitate them.
test-arithmetics: .venv/ready
	$(BIN)/python -m arithmetics

repeatability: .venv/ready
	$(BIN)/python -m arithmetics.repeatability

lint: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: .venv/ready-docs
	$(BIN)/sphinx-build -W --keep-going -b html docs docs/_build/html
	@echo "Open docs/_build/html/index.html"

# The check of all pages and links: the same without running the gallery, whose pictures may be missing then, and without
# writing HTML. In one process, as it runs beside the tests.
docs-quick: .venv/ready-docs
	$(BIN)/sphinx-build -q -W --keep-going -D plot_gallery=0 -D suppress_warnings=image.not_readable \
		-b dummy docs docs/_build/quick

gallery: .venv/ready
	$(BIN)/python docs/run_gallery.py

experiments: .venv/ready-experiments
	$(BIN)/python -m experiments

benchmarks: .venv/ready
	$(BIN)/python -m benchmarks

clean:
	rm -rf .venv .venv-* .arithmetics dist demo docs/_build docs/_static/live docs/gallery docs/gallery_src/index.rst \
		docs/api/generated
