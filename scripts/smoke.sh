#!/usr/bin/env bash
# Starts the built server as `npm start` does, in an empty folder, and runs the requests of the README.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
port=$((20000 + RANDOM % 12000))
export XDG_DATA_HOME="$work/share"
(cd "$work" && exec env PORT=$port node "$root/dist/main.js") >"$work/log" 2>&1 &
server=$!
trap 'kill "$server" 2>/dev/null || true; rm -rf "$work"' EXIT
base="http://localhost:$port"

for _ in $(seq 100); do
  curl -fs "$base/health/ready" >/dev/null 2>&1 && break
  sleep 0.1
done

fail() { printf 'smoke: %s\n' "$*"; cat "$work/log"; exit 1; }
expect() { # expect NEEDLE CURL-ARGUMENTS…
  local needle=$1
  shift
  curl -s "$@" | grep -qF -- "$needle" || fail "the response does not contain $needle: curl $*"
}

expect '"status":"ready"' "$base/health/ready"
expect '# Thread by' "$base/ada.example/status/1900000000000000001"
expect '"postCount":' "$base/api/v1/posts?handle=ada.example&id=1900000000000000001&format=json"
expect '---' "$base/ada.example/status/1900000000000000001?format=obsidian"
expect '# Ada Fenwick (@ada.example)' "$base/ada.example"
expect '# Followers of @ada.example' "$base/api/v1/profiles/ada.example/followers"
expect '"resource":"following"' "$base/ada.example/following?format=json"
expect '# Search: heron' "$base/search?q=heron&platform=sample"
expect '"type":"rich"' "$base/oembed?url=$base/ada.example/status/1900000000000000001"
expect '"code":"invalid_cursor"' "$base/ada.example?cursor=nonsense"
expect '"code":"invalid_path"' "$base/api/v1/posts?url=https://x.com/jack"
expect '"code":"route_not_found"' "$base/no/route"
PORT=$port node "$root/dist/main.js" read "$base/ada.example/status/1900000000000000001" >"$work/page"
grep -qF '# Thread by' "$work/page" || fail 'perch read did not print the post'
PORT=$port node "$root/dist/main.js" search heron --platform sample --all --json >"$work/lines"
[ "$(wc -l <"$work/lines")" -gt 5 ] || fail 'perch search printed fewer than 6 lines'

kill -TERM "$server"
code=0
wait "$server" || code=$?
[ "$code" -eq 0 ] || fail "exit code $code after SIGTERM"
printf 'smoke: ok\n'
