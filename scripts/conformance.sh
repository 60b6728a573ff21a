#!/usr/bin/env bash
# Runs the official MCP conformance suite against the built server: the released version of the suite, and
# the one that supports the revision 2026-07-28. The suite requires a newer Node.js than Perch does.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
port=$((20000 + RANDOM % 12000))
npm install --prefix "$work" --no-audit --no-fund --silent \
  node@24 \
  released@npm:@modelcontextprotocol/conformance@0.1.16 \
  newer@npm:@modelcontextprotocol/conformance@0.2.0-alpha.12
(cd "$work" && exec env PORT=$port PERCH_DATA_DIR=:memory: PERCH_PROVIDERS=archive \
  PERCH_PUBLIC_ALLOWANCE=100000 node "$root/dist/main.js" serve) >"$work/log" 2>&1 &
server=$!
trap 'kill "$server" 2>/dev/null || true; rm -rf "$work"' EXIT

for _ in $(seq 100); do
  curl -fs "http://localhost:$port/health/ready" >/dev/null 2>&1 && break
  sleep 0.1
done

bin=$(dirname "$(find "$work/node_modules" -path '*/bin/node' -type f | grep linux | head -1)")
cd "$root"
for suite in released newer; do
  printf 'conformance: %s suite\n' "$suite"
  npx tsx scripts/conformance.ts "$bin/node" "$work/node_modules/$suite" "http://localhost:$port/mcp"
done
printf 'conformance: ok\n'
