VENV ?= .venv
BENCH_VENV ?= .bench-venv
PYTHON ?= python3
BIN := $(VENV)/bin
BENCH := $(BENCH_VENV)/bin
# one thread per process: the machines this runs on are small, and timings are compared as ratios
ONE := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 NUMBA_NUM_THREADS=1

.PHONY: demo test lint slow bench bench-matrix bench-quality bench-lab bench-storage clean

$(VENV)/made:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --upgrade pip
	touch $@

$(VENV)/demo: $(VENV)/made pyproject.toml
	$(BIN)/python -m pip install -q -e '.[report]'
	touch $@

$(VENV)/dev: $(VENV)/made pyproject.toml
	$(BIN)/python -m pip install -q -e '.[dev]'
	touch $@

$(BENCH_VENV)/made: pyproject.toml
	$(PYTHON) -m venv $(BENCH_VENV)
	$(BENCH)/python -m pip install -q --upgrade pip
	$(BENCH)/python -m pip install -q -e '.[dev]' vowpalwabbit scikit-surprise || \
	$(BENCH)/python -m pip install -q -e '.[dev]' vowpalwabbit
	touch $@

# The main job on the data shipped here: three learners, a table, a picture.
demo: $(VENV)/demo
	$(BIN)/python bench/demo.py

# Lint, types, import rules, doctests and tests.
test: $(VENV)/dev lint
	$(ONE) $(BIN)/python -m pytest -n 2 --dist worksteal

lint: $(VENV)/dev
	$(BIN)/ruff check .
	$(BIN)/lint-imports
	$(BIN)/mypy

# The long versions: ten thousand rounds for every function and loss.
slow: $(VENV)/dev
	$(ONE) $(BIN)/python -m pytest -n 2 -m slow

bench: $(BENCH_VENV)/made
	$(ONE) $(BENCH)/python bench/engine.py
	$(ONE) $(BENCH)/python bench/readers.py
	$(ONE) $(BENCH)/python bench/speed_text.py
	$(ONE) $(BENCH)/python bench/memory.py
	$(ONE) $(BENCH)/python bench/scaling.py

bench-matrix: $(BENCH_VENV)/made
	$(ONE) $(BENCH)/python bench/matrix.py

bench-quality: $(BENCH_VENV)/made
	$(ONE) $(BENCH)/python bench/quality.py
	$(ONE) $(BENCH)/python bench/experts.py

bench-lab: $(BENCH_VENV)/made
	$(ONE) $(BENCH)/python bench/verify.py
	$(ONE) $(BENCH)/python bench/sharp.py
	$(ONE) $(BENCH)/python bench/discovery.py

bench-storage: $(BENCH_VENV)/made
	$(ONE) $(BENCH)/python bench/storage.py

clean:
	rm -rf $(VENV) $(BENCH_VENV) out build dist
