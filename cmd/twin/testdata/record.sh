#!/bin/sh
# Records what the pinned sqlc makes of each case: <case>/queries becomes
# <case>/gen. After an upgrade of sqlc run `go generate ./cmd/twin` and then the
# tests: a case that no longer fails shows a mistake that sqlc no longer makes.
set -eu
cd "$(dirname "$0")"
root=$(cd ../../.. && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for queries in ${*:-*/queries}; do
    case=${queries%/queries}
    rm -rf "${work:?}"/* "$case/gen"
    cp -r sqlc.yaml schema "$case/queries" "$work"
    mkdir -p "$work/queries/shared" "$work/queries/postgres" "$work/queries/sqlite"
    (cd "$root" && CGO_ENABLED=0 go tool -modfile=tools/sqlc/go.mod sqlc generate -f "$work/sqlc.yaml") ||
        { echo "record: sqlc refuses $case by itself now" >&2; continue; }
    cp -r "$work/gen" "$case/gen"
done
