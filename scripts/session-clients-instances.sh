#!/usr/bin/env bash
# Tests two instances on one engine with published eve clients. Each request goes to a random instance.
set -eu
cd "$(dirname "$0")/.."
server=$(command -v valkey-server || command -v redis-server)
folder=$(mktemp -d)
port=$(node -e 'const s = require("node:net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close(); })')
"$server" --port "$port" --bind 127.0.0.1 --dir "$folder" --save '' --appendonly yes >"$folder/log" &
engine=$!
trap 'kill "$engine"; wait "$engine" 2>/dev/null || true; rm -rf "$folder"' EXIT
PERCH_TEST_ENGINE_URL="redis://127.0.0.1:$port" bash scripts/session-clients.sh "$@"
