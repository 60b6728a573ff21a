#!/usr/bin/env bash
# Runs the tests of several instances on a Valkey or Redis server, and fails if there is none. If neither
# valkey-server nor redis-server is on PATH, the script installs Debian's `redis-server`. With PERCH_TEST_INSTANCES=N,
# it runs the contract tests of sessions, with each request at a random one of N instances.
set -eu
cd "$(dirname "$0")/.."
find_server() {
  command -v valkey-server || command -v redis-server
}
find_server >/dev/null || bash scripts/install-programs.sh redis-server
server=$(find_server)
printf 'Engine: %s, %s\n' "$server" "$("$server" --version)"
export PERCH_ENGINE_REQUIRED=1
paths=(test/suites/stores test/suites/instances test/suites/session-{room,store}.test.ts)
if [ -n "${PERCH_TEST_INSTANCES:-}" ]; then
  paths=(test/contract/session-{acceptance,errors,service,stream,turns}.test.ts)
fi
exec npx vitest run "${paths[@]}" "$@"
