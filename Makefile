VENV ?= .venv
BENCH_VENV ?= .bench-venv
SPARK_VENV ?= .spark-venv
PYTHON ?= python3
BIN := $(VENV)/bin
BENCH := $(BENCH_VENV)/bin
# one thread per process: the machines this runs on are small, and timings are compared as ratios
ONE := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 NUMBA_NUM_THREADS=1
PEERS := BURKHOLDER_BENCH_PYTHON=$(CURDIR)/$(BENCH)/python BURKHOLDER_VW_PYTHON=$(CURDIR)/$(BENCH)/python

.PHONY: demo test plain lint slow docs dist bench bench-matrix bench-quality bench-lab bench-storage bench-robust bench-serve bench-scale test-spark serve-demo clean

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

# peers that do not live well beside our own dependencies; the others come with the dev extra
$(BENCH_VENV)/made:
	$(PYTHON) -m venv $(BENCH_VENV)
	$(BENCH)/python -m pip install -q --upgrade pip
	$(BENCH)/python -m pip install -q vowpalwabbit
	touch $@

# The main job on the data shipped here: three learners, a table, a picture.
demo: $(VENV)/demo
	$(BIN)/python bench/demo.py

# Lint, types, import rules, doctests and tests.
test: $(VENV)/dev lint
	$(ONE) $(BIN)/python -m pytest -n 2 --dist worksteal

lint: $(VENV)/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/mypy

# The promises on plain numba: no instruction written by hand, no object of Python's read where it lies. Others by PLAIN=tests/…
PLAIN ?= tests/machine tests/promises
plain: $(VENV)/dev
	$(ONE) BURKHOLDER_PLAIN=1 $(BIN)/python -m pytest -n 2 --dist worksteal $(PLAIN)

# The long versions: ten thousand rounds for every function and loss.
slow: $(VENV)/dev
	$(ONE) $(BIN)/python -m pytest -n 2 -m slow

# The site, from Markdown, docstrings and executed examples; a warning is an error, and so is a link that leads nowhere.
docs: $(VENV)/dev
	$(ONE) $(BIN)/python -m sphinx -q -W --keep-going -b html docs out/docs
	$(BIN)/python docs/links.py out/docs

# Wheel and source distribution, installed in a clean environment and tried there.
dist: $(VENV)/dev
	$(BIN)/python .ci/distribution.py

bench: $(VENV)/dev $(BENCH_VENV)/made
	$(ONE) $(PEERS) $(BIN)/python bench/engine.py
	$(ONE) $(PEERS) $(BIN)/python bench/dicts.py
	$(ONE) $(PEERS) $(BIN)/python bench/readers.py
	$(ONE) $(PEERS) $(BIN)/python bench/speed_text.py
	$(ONE) $(PEERS) $(BIN)/python bench/memory.py
	$(ONE) $(PEERS) $(BIN)/python bench/scaling.py
	$(ONE) $(BIN)/python bench/report.py
	$(ONE) $(BIN)/python bench/predict.py

bench-matrix: $(VENV)/dev $(BENCH_VENV)/made
	$(ONE) $(PEERS) $(BIN)/python bench/matrix.py

bench-quality: $(VENV)/dev $(BENCH_VENV)/made
	$(ONE) $(PEERS) $(BIN)/python bench/quality.py
	$(ONE) $(PEERS) $(BIN)/python bench/experts.py

bench-lab: $(VENV)/dev $(BENCH_VENV)/made
	$(ONE) $(PEERS) $(BIN)/python bench/verify.py
	$(ONE) $(PEERS) $(BIN)/python bench/sharp.py
	$(ONE) $(PEERS) $(BIN)/python bench/discovery.py

bench-storage: $(VENV)/dev $(BENCH_VENV)/made
	$(ONE) $(PEERS) $(BIN)/python bench/storage.py

# A million spoiled lines and a hundred thousand spoiled models, in processes of their own: an hour or more.
bench-robust: $(VENV)/dev
	$(ONE) $(BIN)/python bench/robust.py

# The service: speed beside a bare echo and what people write by hand, kills, power cuts, hostile requests, memory, recovery.
$(BENCH_VENV)/serve: $(BENCH_VENV)/made
	$(BENCH)/python -m pip install -q -e '.[serve,io]' fastapi apsw
	npm install --silent --no-fund --no-audit --prefix $(BENCH_VENV)/npm autocannon
	touch $@

# Some of it: make bench-serve PARTS="speed kills"; all of it in little: PARTS="--share 0.01"
bench-serve: $(BENCH_VENV)/serve
	$(ONE) BURKHOLDER_NPM=$(CURDIR)/$(BENCH_VENV)/npm/node_modules $(BENCH)/python bench/serve.py $(PARTS)

# Spark does not live well beside the newest pandas: an environment of its own.
$(SPARK_VENV)/made: pyproject.toml
	$(PYTHON) -m venv $(SPARK_VENV)
	$(SPARK_VENV)/bin/python -m pip install -q -e '.[spark]' pytest hypothesis confluent-kafka
	touch $@

# Keyed, sharded and streaming learning on a local Spark (Java 17), bound to this machine alone; and the Kafka recipe.
test-spark: $(SPARK_VENV)/made
	$(ONE) SPARK_LOCAL_IP=127.0.0.1 $(SPARK_VENV)/bin/python -m pytest tests/spark src/burkholder/spark tests/test_docs.py -k "spark or scale"

$(SPARK_VENV)/peers: $(SPARK_VENV)/made
	$(SPARK_VENV)/bin/python -m pip install -q river statsmodels
	touch $@

# Keyed learners beside dicts of models, what keys gain by helping each other (BURKHOLDER_DATA), and Spark.
bench-scale: $(SPARK_VENV)/peers
	$(ONE) $(SPARK_VENV)/bin/python bench/keyed.py
	$(ONE) SPARK_LOCAL_IP=127.0.0.1 $(SPARK_VENV)/bin/python bench/spark.py

# A service on the shipped stream, and a client that plays it: open http://127.0.0.1:8080 meanwhile.
serve-demo: $(VENV)/made
	$(BIN)/python -m pip install -q -e '.[serve]'
	$(BIN)/python bench/serve_demo.py

clean:
	rm -rf $(VENV) $(BENCH_VENV) $(SPARK_VENV) out build dist
