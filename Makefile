# Everything a developer runs. Needs only Python 3.11 or newer and make; what is missing goes into .venv.

VENV := .venv
BIN := $(VENV)/bin
BOT := $(VENV)/.bot
STAMP := $(VENV)/.installed
# More than most machines have cores, since tests of real processes mostly wait.
WORKERS := 4
CODE := core adapters bots config tests benchmarks

# The first Python that is new enough and can make environments, else the first that is new enough.
PYTHON = $(shell for module in ensurepip sys; do for python in python3.13 python3.12 python3.11 python3 python; do \
	"$$python" -c "import sys, $$module; sys.exit(sys.version_info < (3, 11))" 2>/dev/null \
	&& echo "$$python" && exit; done; done)

.DEFAULT_GOAL := help
.PHONY: help chat test check soak format lint types translations schema install clean

help: ## Show this list
	@grep -E '^[a-z]+:.*## ' Makefile | sed 's/:.*## /\t/' | expand -t 10

chat: $(BOT) ## Talk to the bot here (ARGS='--as anna' for more)
	@$(BIN)/keepmind chat $(ARGS)

test: $(STAMP) ## Run the tests (ARGS='-k name' for some)
	@$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m "not soak" $(ARGS)

check: format-check lint types test ## Run all that must pass: format, lint, types, tests

soak: $(STAMP) ## Run the long tests
	@HYPOTHESIS_PROFILE=soak $(BIN)/python -m pytest -m soak --timeout 3600 $(ARGS)

format: $(STAMP) ## Format the code
	@$(BIN)/ruff format $(CODE)
	@$(BIN)/ruff check --fix $(CODE)

.PHONY: format-check
format-check: $(STAMP)
	@$(BIN)/ruff format --check $(CODE)

lint: $(STAMP) ## Look for mistakes
	@$(BIN)/ruff check $(CODE)

types: $(STAMP) ## Check the types
	@$(BIN)/mypy

translations: $(STAMP) ## Bring the catalogues of translations up to date with the code (ARGS=de for a new one)
	@$(BIN)/python -m tests.catalogues $(ARGS)

.PHONY: lock
lock: $(STAMP) # Write down the newest versions that fit, for the image
	@$(BIN)/python -m uv pip compile --quiet --upgrade --universal --generate-hashes --python-version 3.11 --no-annotate \
		--custom-compile-command "make lock" --extra postgres pyproject.toml -o requirements.lock

schema: $(STAMP) ## Write the schema of exports, docs/export.schema.json, anew
	@$(BIN)/python -m tests.export_schema

.PHONY: configuration
configuration: $(STAMP) # Write the file of default settings and docs/configuration.md anew
	@$(BIN)/python -m tests.configuration

.PHONY: licences
licences: $(STAMP) # Write the licences of what the image holds, docs/licences.md, anew
	@$(BIN)/python -m tests.licences

.PHONY: audit
audit: $(STAMP) # Look for known vulnerabilities of what the image holds (asks PyPI)
	@$(BIN)/python -m uv tool run pip-audit --disable-pip --require-hashes -r requirements.lock

install: $(STAMP) ## Install into .venv, with all that a developer needs

clean: ## Remove all that was made
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -prune -exec rm -rf {} +

$(BOT): pyproject.toml
	@sh .ci/install "$(PYTHON)" $(VENV)
	@touch $@

$(STAMP): $(BOT)
	@sh .ci/install "$(PYTHON)" $(VENV) dev
	@touch $@
