#!/usr/bin/env bash
# Tests the MCP endpoint of the built server with published clients: the SDKs of the protocol, mcp-remote, and the
# libraries of model vendors. The clients are installed into a temporary folder. They run on the Node.js 24 in
# PERCH_NODE24, a folder that scripts/install-node24.sh has filled, or on one that is installed beside them.
# Arguments: paths of the endpoint to test in place of /mcp and /mcp/.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
port=$((20000 + RANDOM % 12000))
paths=("$@")
[ $# -gt 0 ] || paths=(/mcp /mcp/)
trap 'kill "${server:-0}" 2>/dev/null || true; rm -rf "$work"' EXIT

cd "$root"
[ -e dist/main.js ] || npm run --silent build
# The setting in this project's `.npmrc`, which `npm run` passes on, does not apply to these packages.
export npm_config_strict_allow_scripts=false
node=${PERCH_NODE24:+$PERCH_NODE24/bin/node}
packages=()
[ -x "$node" ] || packages=(node@24)
npm install --prefix "$work" --no-audit --no-fund --loglevel=error "${packages[@]}" \
  @modelcontextprotocol/sdk@1.32.2 \
  @modelcontextprotocol/client@2.4.0 \
  mcp-remote@0.15.1 \
  ai@6.0.326 @ai-sdk/mcp@1.0.102 @ai-sdk/google@3.0.141 \
  @langchain/mcp-adapters@1.1.4 @langchain/core@1.4.0 \
  @openai/agents@0.20.0 \
  zod@4.6.7
[ -x "$node" ] || node=$(find "$work/node_modules" -path '*/bin/node' -type f | grep linux | head -1)

(cd "$work" && exec env PORT=$port PERCH_BASE_URL="http://localhost:$port" PERCH_DATA_DIR=:memory: \
  PERCH_PROVIDERS=archive PERCH_PUBLIC_ALLOWANCE=100000 node "$root/dist/main.js" serve) >"$work/log" 2>&1 &
server=$!
for _ in $(seq 300); do
  curl -fs "http://localhost:$port/health/ready" >/dev/null 2>&1 && break
  sleep 0.1
done

# The clients are imported by name, so the tests must be below the folder with the packages.
cp -r test/clients "$work/clients"
printf '{ "type": "module" }\n' >"$work/clients/package.json"
"$node" "$work/clients/mcp/run.ts" "http://localhost:$port" "${paths[@]}" || { tail -5 "$work/log"; exit 1; }
