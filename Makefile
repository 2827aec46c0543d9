# Every target works alone in a fresh clone; `make help` lists them.

SNAPSHOT ?= data/sample.waypost
PORT ?= 8080
SAMPLE_POINTS := 5000
SAMPLE_SEED := 1

.PHONY: help serve test soak build check bench data clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

serve: build ## install, build and serve the sample data (SNAPSHOT=file, PORT=8080, MEDIA=folder); times without offset are of Europe/Helsinki
	@echo "Try 'http://127.0.0.1:$(PORT)/rest/map_data_points/?coordinates=60.166,24.951,1000&format=api'"
	node dist/src/main.js serve --snapshot $(SNAPSHOT) --port $(PORT) --time-zone Europe/Helsinki $(if $(MEDIA),--media $(MEDIA))

test: build ## install, build and run every test
	node dist/test/run.js

soak: build ## install, build and run for minutes what a fault shows in late
	node dist/test/run.js --soak

build: node_modules/.package-lock.json ## install what is missing and compile
	node_modules/.bin/tsc

check: node_modules/.package-lock.json ## lock file, format, lint and types, changing nothing
	node .ci/lock.mjs
	node_modules/.bin/biome ci .
	node_modules/.bin/tsc --noEmit

bench: build ## measure and write a report, in ten minutes at most (BENCH="--large" for 10M points, too, in an hour)
	node dist/bench/suite.js $(BENCH)

data: build ## write the sample data and the OpenAPI document again, byte for byte the same
	node dist/src/main.js generate --points $(SAMPLE_POINTS) --seed $(SAMPLE_SEED) --out data/sample.waypost
	for v in 3.0 3.1; do node dist/data/make-openapi.js $$v > assets/openapi-$$v.json; done

clean: ## remove what was built
	rm -rf dist

node_modules/.package-lock.json: package.json package-lock.json
	node .ci/lock.mjs
	npm ci --no-audit --no-fund
	@touch $@
