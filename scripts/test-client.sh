#!/usr/bin/env bash
# Generates client types from the OpenAPI description of the built server, type-checks a program that uses them, and
# runs it. openapi-typescript requires the API of TypeScript 5, so everything is installed into a temporary folder.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
port=$((20000 + RANDOM % 12000))
trap 'kill "${server:-0}" 2>/dev/null || true; rm -rf "$work"' EXIT
npm install --prefix "$work" --no-audit --no-fund --silent \
  openapi-typescript@7.13.0 openapi-fetch@0.17.0 typescript@5.9.3 @types/node@20
cp "$root"/scripts/generated-client/*.ts "$work"

(cd "$work" && exec env PORT=$port PERCH_DATA_DIR=:memory: PERCH_PROVIDERS=archive \
  PERCH_PUBLIC_ALLOWANCE=20 PERCH_ALLOWANCE_WINDOW_SECONDS=2 \
  node "$root/dist/main.js" serve) >"$work/log" 2>&1 &
server=$!
base="http://localhost:$port"
for _ in $(seq 100); do
  curl -fs "$base/health/ready" >/dev/null 2>&1 && break
  sleep 0.1
done

cd "$work"
curl -fs "$base/openapi.json" >perch.json || { cat log; exit 1; }
node_modules/.bin/openapi-typescript perch.json -o perch.d.ts >/dev/null
cat >tsconfig.json <<'JSON'
{
  "compilerOptions": {
    "target": "es2023",
    "module": "nodenext",
    "types": ["node"],
    "strict": true,
    "noUncheckedIndexedAccess": true,
    "exactOptionalPropertyTypes": true,
    "allowImportingTsExtensions": true,
    "rewriteRelativeImportExtensions": true,
    "outDir": "out"
  },
  "files": ["client.ts", "mistakes.ts"]
}
JSON
printf '{ "type": "module" }\n' >package.json
node_modules/.bin/tsc -p tsconfig.json
node out/client.js "$base" || { cat log; exit 1; }
