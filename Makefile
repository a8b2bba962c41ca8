# `make` lists the targets. The first target that needs it creates .venv with everything that the project needs.

# The first of these that is Python 3.11 or newer. `make PYTHON=...` names another.
PYTHON ?= $(firstword $(foreach name,python3 python3.14 python3.13 python3.12 python3.11 python,\
	$(shell $(name) -c 'import sys; sys.version_info >= (3, 11) and print("$(name)")' 2>/dev/null)))
WERROR ?= OFF
VENV := .venv
BIN := $(VENV)/bin
CORE := $(wildcard core/*/*)
PACKAGE := $(wildcard src/markone/*.py* src/markone/*/*.py src/markone/*/page/* src/markone/play/page/*/*)
INSTALLED := $(VENV)/installed
PEERS := $(VENV)/peers
SANITIZED := .venv-sanitize/installed
UNDER_SANITIZERS = PYTHONPATH= ASAN_OPTIONS=detect_leaks=0:quarantine_size_mb=64:allocator_may_return_null=1 \
	LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libubsan.so)"
TESTS_UNDER_SANITIZERS = $(UNDER_SANITIZERS) \
	.venv-sanitize/bin/pytest -q -n auto -p no:cacheprovider -k "not memory_stays_flat and not little_memory" --ignore=tests/play --ignore=tests/server/test_page.py
FUZZ_FILES ?= 100000
FUZZ_MINUTES ?= 5
FUZZED := tests/test_text.py tests/test_lines.py tests/test_tables.py tests/test_sources.py tests/test_container.py \
	tests/test_model_file.py tests/test_sentences.py
PIP := -m pip --disable-pip-version-check --quiet
BUILD := --config-settings=cmake.define.MARKONE_TESTS=ON --config-settings=cmake.define.MARKONE_WERROR=$(WERROR)
CXX_FILES := $(filter-out core/text/unicode_tables.h,$(filter %.h %.cpp,$(CORE)))

.DEFAULT_GOAL := help
.PHONY: help demo test test-slow test-cluster check format docs bench sanitize fuzz fuzz-ci cross oldest browser links wheel wheels release-check clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

demo: $(INSTALLED) ## from files to explained models, on generated data
	$(BIN)/markone demo

test: $(INSTALLED) ## run the tests on all cores, in about a minute
	$(BIN)/pytest -q -n auto --dist worksteal

test-slow: $(INSTALLED) ## also run the tests that need much time or memory, with more random examples
	HYPOTHESIS_PROFILE=thorough $(BIN)/pytest -q -m "not cluster"

test-cluster: $(INSTALLED) ## run the tests on clusters of Dask and Ray, with kills and hosts in network namespaces
	$(BIN)/python $(PIP) install ray pyspark
	$(BIN)/pytest -q -m "" tests/test_cluster*.py tests/test_addresses.py tests/test_query_engines.py

check: $(INSTALLED) docs ## check style, types, spelling, imports and the documentation
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/clang-format --dry-run --Werror $(CXX_FILES)
	ls core/*/*.cpp | grep -Ev 'core/(python|tests)/' | xargs -P $$(nproc) -n 1 $(BIN)/clang-tidy --quiet -p build --extra-arg=-Wno-error
	$(BIN)/lint-imports
	$(BIN)/codespell *.md docs examples src
	$(BIN)/python docs/check_prose.py

format: $(INSTALLED) ## format the code
	$(BIN)/ruff check --fix-only --quiet .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(CXX_FILES)

docs: $(INSTALLED) ## build the documentation in docs/_build/html
	$(BIN)/python docs/make_pictures.py
	$(BIN)/python docs/make_lectures.py
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going --fresh-env -b html docs docs/_build/html

bench: $(PEERS) ## compare with other libraries, and write benchmarks/RESULTS.md and SERVING.md
	$(BIN)/python -m benchmarks
	$(BIN)/python -m benchmarks.serving

sanitize: $(SANITIZED) ## run the tests on a core with the address and undefined-behaviour sanitizers
	HYPOTHESIS_PROFILE=thorough $(TESTS_UNDER_SANITIZERS) tests

fuzz: $(SANITIZED) ## test damaged and hostile input and 100,000 model files, with the sanitizers
	HYPOTHESIS_PROFILE=fuzz $(TESTS_UNDER_SANITIZERS) $(FUZZED)
	$(UNDER_SANITIZERS) .venv-sanitize/bin/python -m tests.fuzz --files $(FUZZ_FILES)

fuzz-ci: $(INSTALLED) ## test such files for five minutes, without the sanitizers
	$(BIN)/python -m tests.fuzz --minutes $(FUZZ_MINUTES)

cross: $(INSTALLED) ## compile the core for other systems: Linux and macOS on ARM, Windows, and with Clang
	.ci/cross

oldest: .venv-oldest/installed ## run the tests with the oldest supported versions of all dependencies
	.venv-oldest/bin/pytest -q -n auto -p no:cacheprovider tests

browser: ## install Chromium and Node, with which the tests run pages and modules, if they are absent
	@if command -v chromium chromium-browser google-chrome >/dev/null && command -v node >/dev/null; then echo "There are a Chromium and a Node."; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then apt-get update -q && apt-get install -qy --no-install-recommends chromium nodejs; \
	else echo "Install Chromium and Node, for example: sudo apt-get install chromium nodejs. Without them, some tests are skipped."; fi

links: $(INSTALLED) ## check that the links of the documentation lead to pages and headings that are there
	$(BIN)/pytest -q tests/test_docs.py -k links

release-check: check links test test-slow oldest sanitize fuzz cross wheels bench ## run all that a release needs, one after the other
	$(BIN)/python .ci/licences.py --check
	@sed '/^## /Q' benchmarks/RESULTS.md

wheel: $(INSTALLED) ## build a wheel in dist/
	$(BIN)/python $(PIP) wheel --no-deps --wheel-dir dist .

wheels: $(INSTALLED) ## build the source distribution and from it the wheel, twice the same bytes, and test both
	.ci/wheels

clean: ## remove everything that can be built again
	rm -rf .venv .venv-* build dist docs/_build docs/_notebooks docs/_pictures .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache

$(INSTALLED): pyproject.toml CMakeLists.txt $(CORE)
	@test -x $(BIN)/python || test -n "$(PYTHON)" || { echo "Markone needs Python 3.11 or newer, and there is none. If its name is unusual: make PYTHON=..."; exit 2; }
	@command -v "$${CXX:-c++}" >/dev/null || { echo "Markone's core is written in C++20, and there is no compiler. Install one, for example: sudo apt-get install g++"; exit 2; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python $(PIP) install --editable '.[dev]' $(BUILD)
	ln -sf "$$(cd build && ls -t cp*/compile_commands.json | head -1)" build/compile_commands.json
	touch $@

$(PEERS): $(INSTALLED)
	$(BIN)/python $(PIP) install --editable '.[bench]' $(BUILD)
	touch $@

$(SANITIZED): pyproject.toml CMakeLists.txt $(CORE) $(PACKAGE)
	test -x .venv-sanitize/bin/python || $(PYTHON) -m venv .venv-sanitize
	.venv-sanitize/bin/python $(PIP) install '.[test]' --config-settings=cmake.define.MARKONE_SANITIZE=ON \
		--config-settings=build-dir=build/sanitize --config-settings=install.strip=false $(BUILD)
	touch $@

.venv-oldest/installed: pyproject.toml CMakeLists.txt $(CORE) $(PACKAGE)
	test -x .venv-oldest/bin/python || $(PYTHON) -m venv .venv-oldest
	.venv-oldest/bin/python $(PIP) install '.[test]' 'numpy==1.26.*' 'scipy==1.11.*' 'scikit-learn==1.6.*' 'pandas==2.1.*' 'pyarrow==16.*' 'safetensors==0.4.3' 'xxhash==3.4.*' 'pytest==8.*' 'matplotlib==3.8.*' 'pyparsing==3.1.*'
	touch $@
