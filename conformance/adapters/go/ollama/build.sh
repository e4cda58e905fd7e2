#!/bin/sh
# Build the adapter for ollama into ../bin. The package with its stops cannot be built from the proxy of Go: a second file
# in it, for probabilities, needs all of llama.cpp, and the module has not all headers of that. So the file with the stops
# is taken out of the module as it is, into a package of its own.
set -e
cd "$(dirname "$0")"
go mod download github.com/ollama/ollama
mkdir -p common
cp -f "$(go list -m -f '{{.Dir}}' github.com/ollama/ollama)/runner/common/stop.go" common/
chmod u+w common/stop.go
go build -o ../bin/ollama "$@" .
