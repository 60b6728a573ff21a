#!/usr/bin/env bash
# Runs the steps of the Dockerfile without a container engine: the commands of the build stage in one folder, the
# copies to another one, and the entry point there as an ordinary user.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
build="$work/build" final="$work/final" data="$work/data"
port=$((20000 + RANDOM % 20000))
trap 'kill "${server:-0}" 2>/dev/null || true; rm -rf "$work"' EXIT
fail() { printf 'dockerfile: %s\n' "$*"; cat "$work/log" 2>/dev/null; exit 1; }

mkdir -p "$build" "$final" "$data"
cp "$root/package.json" "$root/package-lock.json" "$root/.npmrc" "$root/tsconfig.json" "$build"
cp -r "$root/src" "$build/src"
mkdir "$build/scripts"
cp "$root"/scripts/{build,bundle,licences}.ts "$build/scripts"
# `npm ci` has already run for this tree. Its result is copied to save a minute.
cp -r "$root/node_modules" "$build/node_modules"
(cd "$build" && npm run --silent build && npm prune --omit=dev --silent --no-audit --no-fund) || fail 'the build stage failed'

cp -r "$build/package.json" "$build/node_modules" "$build/dist" "$final"
cp -r "$root/LICENSE" "$root/README.md" "$root/assets" "$root/docs" "$root/openapi" "$root/resources" "$final"
[ ! -e "$final/node_modules/typescript" ] || fail 'development packages are in the image'
user=$(id -un nobody)
chown "$user" "$data"
chmod 755 "$work"

# The full path is used, because PATH is not the same for every user.
node=$(command -v node)
(cd "$final" && exec setpriv --reuid="$user" --clear-groups env -i NODE_ENV=production HOST=0.0.0.0 PORT=$port \
  PERCH_DATA_DIR="$data" "$node" dist/main.js serve) >"$work/log" 2>&1 &
server=$!
health="fetch('http://127.0.0.1:$port/health/ready').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"
for _ in $(seq 100); do
  node -e "$health" && break
  sleep 0.1
done
node -e "$health" || fail 'the health check failed'
curl -fs "http://127.0.0.1:$port/ada.example/status/1900000000000000001" >/dev/null || fail 'a post of the sample could not be read'
curl -fs "http://127.0.0.1:$port/openapi.json" | grep -qF '"openapi":"3.1' || fail 'the OpenAPI description could not be read'
# The image must contain the OpenAPI description, because questions are answered from it.
(cd "$final" && "$node" dist/main.js ask 'PostReply' --corpus openapi --json) | grep -qF 'perch.json' || fail 'a question was not answered from the OpenAPI description'
[ -s "$data/archive.db" ] || fail 'the data volume is empty'
kill -TERM "$server"
code=0
wait "$server" || code=$?
[ "$code" -eq 0 ] || fail "exit code $code after SIGTERM"
printf 'dockerfile: ok\n'
