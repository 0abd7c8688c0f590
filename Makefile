# Every target has one line of `make help`. What a target needs beyond Go, gcc, git and make it
# installs or builds itself, at the versions that go.mod and tools/*/go.mod pin.

SHELL       := /bin/bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS   += --no-print-directory

# Where `stint serve` and `stint migrate` look: make migrate db=postgres://…
db ?= sqlite:stint.db

# The packages that test, soak and bench take: make test pkg=./server/jobs/...
pkg ?= ./...

# More arguments for go test: make test args='-run Claim -v'
args ?=

# The race detector needs cgo, so it is on where there is a C compiler; race=0 turns it off. SQLite's
# translated C is left uninstrumented: it runs 13 times slower otherwise, and its races are not ours.
race ?= $(if $(shell command -v $${CC:-gcc}),1,0)
race_1     := CGO_ENABLED=1
race_flags_1 := -race '-gcflags=modernc.org/...=-race=false'
race_0     := CGO_ENABLED=0
race_flags_0 :=

version = $(shell git describe --tags --always --dirty 2>/dev/null)
ldflags = -s -w$(if $(version), -X main.version=$(version))

.PHONY: help
help: ## Show this list
	@sed -nE 's/^([a-z-]+):.*## (.*)/  \1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 16

.PHONY: run
run: build ## Build the server and start it on a SQLite file (db=sqlite:stint.db)
	exec bin/stint serve --db '$(db)'

.PHONY: build
build: ## Build bin/stint, one static binary
	CGO_ENABLED=0 go build -trimpath -ldflags '$(ldflags)' -o bin/stint ./cmd/stint

.PHONY: test
test: ## Run every test on SQLite and on a throw-away PostgreSQL (pkg=./… args=… race=0)
	$(race_$(race)) tools/with-postgres go test $(race_flags_$(race)) -timeout 10m $(args) $(pkg)
