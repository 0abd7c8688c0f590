# Every target has one line of `make help`. What a target needs beyond Go, gcc, git and make it
# installs or builds itself, at the versions that go.mod and tools/*/go.mod pin.

SHELL       := /bin/bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS   += --no-print-directory

# One way to compile for build, tests, checks and tools: what one of them has compiled the others find
# in Go's cache, and so does a clone in another folder.
export GOFLAGS := $(filter-out -trimpath,$(GOFLAGS)) -trimpath

# The database of run and migrate: make migrate db=postgres://…
db ?= sqlite:stint.db

# What test and soak take: make test pkg=./server/jobs args='-run Claim -v'. go test begins in this
# order: with the packages that take longest, so that none of them is alone at the end.
pkg  ?= ./server/e2e ./cmd/stint ./...
args ?=

# What runs in this process; the other tests start the built binary, which a race detector in the
# test would not see. SQLite's translated C is about ten times slower under it, and must not be left
# out: generic code of the standard library that is compiled without it hides what orders goroutines.
race_pkg ?= ./client ./cmd/stint/internal/... ./schema ./server ./server/control ./server/jobs \
	./server/console ./server/fsck ./server/keyset ./server/metrics ./server/ops ./server/records ./server/repos ./server/runs \
	./server/sources ./server/store ./server/web

version = $(shell git describe --tags --always --dirty 2>/dev/null)
ldflags = -s -w$(if $(version), -X main.buildVersion=$(version))

# A tool of tools/, built from its own modfile: gcc is not needed.
tool = CGO_ENABLED=0 go tool -modfile=tools/$(1)/go.mod

# Hand-written Go: gen/ is the generators', testdata/ holds what tests feed to tools.
go_files = { git ls-files -co --exclude-standard -- '*.go' ':!gen' ':!**/testdata/**' | xargs -r ls -d 2>/dev/null || true; }

.PHONY: help
help: ## Show this list
	@sed -nE 's/^([a-z-]+):.*## (.*)/  make \1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 24

# ---- use

.PHONY: run
run: build ## Build the server and start it on a SQLite file (db=…)
	exec bin/stint serve --db '$(db)'

.PHONY: build
build: ## Build bin/stint, one static binary
	CGO_ENABLED=0 go build -ldflags '$(ldflags)' -o bin/stint ./cmd/stint

.PHONY: migrate
migrate: ## Bring a database to this build's schema (db=…)
	CGO_ENABLED=0 go run ./cmd/stint migrate up --db '$(db)'

# ---- prove

# What the example workers of docs/examples need, which tests run.
programs := curl jq python3

# tested CGO,VARIABLE,FLAGS: go test with FLAGS on the packages of VARIABLE. args is handed on as it
# was typed: a $ in it is the pattern's. It comes last, since a flag of the test itself, as -update, ends
# go's list of packages.
define tested
	@CGO_ENABLED=0 go build -o bin/runtests ./tools/runtests
	CGO_ENABLED=$(1) tools/with-programs $(programs) -- tools/with-postgres bin/runtests 'make $@ $(2)' go test $(3) $($(2)) $(value args)
endef

# More tests at once than there are cores: those that take long wait, for leases and for time-outs.
.PHONY: test
test: ## Run every test on SQLite and a throw-away PostgreSQL (pkg=… args=…)
	$(call tested,0,pkg,-timeout 10m -parallel 6)

.PHONY: race
race: ## Run the tests that work in one process under the race detector (race_pkg=… args=…)
	$(call tested,1,race_pkg,-race -timeout 20m)

# One package at a time: each of them wants the machine for itself. With a TMPDIR the databases, which
# are large, are on the disk.
soak bench: export TMPDIR := $(or $(TMPDIR),/tmp)
.PHONY: soak
soak: ## Run the long tests, at full speed (pkg=… args=…)
	$(call tested,0,pkg,-tags soak -run Soak -count=1 -p 1 -timeout 60m)

.PHONY: bench
bench: build ## Measure the queue on both engines, on throw-away databases (args=…)
	dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && bin/stint bench --db "sqlite:$$dir/bench.db" $(args)
	tools/with-postgres sh -c 'bin/stint bench --db "$$STINT_TEST_POSTGRES" $(args)'

# Each step tells what it took. The first run on a machine compiles sqlc and staticcheck.
checks = check-gen check-documents check-format check-vet check-staticcheck check-modules build

.PHONY: check
check: ## Check what CI checks besides tests; says how long each step took
	@took=; trap 'printf "make check, seconds by step:%s\n" "$$took"' EXIT; for step in $(checks); do \
		SECONDS=0; rc=0; $(MAKE) $$step || rc=$$?; took+=" $$step $$SECONDS"; ((rc == 0)) || exit $$rc; \
	done

.PHONY: check-gen
check-gen: gen ## Fail if gen/ is not what make gen writes
	@git diff --exit-code -- gen || { echo 'gen/ is not current: commit what make gen wrote' >&2; exit 1; }
	@new=$$(git ls-files --others --exclude-standard -- gen); [[ -z $$new ]] || \
		{ printf 'gen/ has files that git does not know:\n%s\n' "$$new" >&2; exit 1; }

# What generators for other languages would refuse is found here.
.PHONY: check-documents
check-documents: ## Check the API's documents as OpenAPI 3.1 and 3.0
	cd tools/oapi && CGO_ENABLED=0 go run ./validate ../../gen/openapi.json ../../gen/openapi-3.0.json

.PHONY: check-format
check-format: ## Check that hand-written Go is formatted
	@unformatted=$$($(go_files) | xargs -r gofmt -s -l); [[ -z $$unformatted ]] || \
		{ printf 'not gofmt -s, make fmt mends it:\n%s\n' "$$unformatted" >&2; exit 1; }

# The tags soak and record add test files only. nextmigration changes a package that nearly all others
# import, so it is checked apart: they need not be compiled once more.
.PHONY: check-vet
check-vet: ## Run go vet, with every build tag
	CGO_ENABLED=0 go vet -tags soak,record ./...
	CGO_ENABLED=0 go vet -tags nextmigration ./schema

.PHONY: check-staticcheck
check-staticcheck: ## Run staticcheck, with every build tag
	$(call tool,lint) staticcheck -tags soak,record ./...
	$(call tool,lint) staticcheck -tags nextmigration ./schema

.PHONY: check-modules
check-modules: ## Check that every go.mod and go.sum is tidy and unaltered
	@for dir in . tools/*/; do \
		[[ -f $$dir/go.mod ]] || continue; \
		echo "go mod tidy -diff, go mod verify: $$dir"; \
		go -C "$$dir" mod tidy -diff; \
		go -C "$$dir" mod verify; \
	done

# ---- change

.PHONY: gen
gen: gen-sql gen-api ## Write gen/ anew: accessors, model, API document, client

# The folders are emptied first: sqlc neither removes nor notices files of queries that are gone.
.PHONY: gen-sql
gen-sql: ## Write gen/postgres, gen/sqlite and gen/model from schema/ and queries/
	rm -rf gen/postgres gen/sqlite gen/model
	$(call tool,sqlc) sqlc generate
	CGO_ENABLED=0 go run ./cmd/twin

# The command that emits the document imports the client, so the client of before stays in place
# until it is replaced: change the server, make gen, then change what calls the client.
.PHONY: gen-api
gen-api: ## Write gen/openapi.json and gen/openapi-3.0.json from the server, gen/client from the document
	mkdir -p bin gen/client
	CGO_ENABLED=0 go build -o bin/openapi ./cmd/stint
	bin/openapi openapi > bin/openapi.json
	bin/openapi openapi --openapi 3.0 > bin/openapi-3.0.json
	mv bin/openapi.json bin/openapi-3.0.json gen
	$(call tool,oapi) oapi-codegen -config tools/oapi/config.yaml gen/openapi.json

# Not part of gen, for a fresh machine has no npm. The first line tells of which document the types are,
# and a test of server/ compares it.
.PHONY: gen-types
gen-types: ## Write gen/types.ts from gen/openapi.json; needs npm
	cd tools/types && npm ci --no-audit --no-fund --silent
	@sum=$$(sha256sum gen/openapi.json | cut -d' ' -f1) && { echo "// sha256 of openapi.json: $$sum" && \
		tools/types/node_modules/.bin/openapi-typescript gen/openapi.json; } > bin/types.ts && mv bin/types.ts gen/types.ts

.PHONY: migration
migration: ## Write an empty migration for both engines (name=…)
	@[[ -n '$(name)' ]] || { echo 'usage: make migration name=what_it_does' >&2; exit 2; }
	CGO_ENABLED=0 go run ./cmd/stint migrate new '$(name)'

.PHONY: fmt
fmt: ## Format the hand-written Go
	$(go_files) | xargs -r gofmt -s -w

.PHONY: clean
clean: ## Remove bin/ and the SQLite file that make run made
	rm -rf bin
	rm -f stint.db stint.db-wal stint.db-shm stint.db.token stint.db.lock stint.db.server
