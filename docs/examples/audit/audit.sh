#!/bin/sh
# Audits the modules that the Go module of the present folder is built from: one job for each, four
# workers. Needs a server (stint serve) and its token, like every stint command. Run it again and
# every module is audited anew; while jobs are live they are met, not doubled.
#
#   STINT=bin/stint    the program (default: stint in PATH)
#   WORKERS=4          how many workers
set -eu

stint=${STINT:-stint}
here=$(dirname "$0")

# A job is a line. The sources lie in the module cache after a build; the module at hand has no
# version and lies here.
modules() {
    go list -deps -f '{{with .Module}}{"key":"{{.Path}}","payload":{"path":"{{.Path}}","version":"{{.Version}}","dir":"{{.Dir}}"}}{{end}}' ./... |
        sort -u
}

modules | "$stint" job enqueue --kind audit --from -

worker=1
while [ "$worker" -le "${WORKERS:-4}" ]; do
    "$stint" work --quiet --kinds audit --worker "audit-$worker" --lease 10s --exit-when-idle 3s \
        -- "$here/audit-module" &
    worker=$((worker + 1))
done
wait

"$stint" job list --kind audit --state succeeded --all -o table
