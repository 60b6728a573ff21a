#!/usr/bin/env bash
# Tests the built server in headless Chromium. PERCH_BROWSER is the path of the browser. If it is not set, the
# script uses Debian's `chromium`, and installs it if necessary.
set -eu
cd "$(dirname "$0")/.."
if [ -z "${PERCH_BROWSER:-}" ]; then
  if ! command -v chromium >/dev/null; then
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends chromium >/dev/null
  fi
  PERCH_BROWSER=$(command -v chromium)
fi
export PERCH_BROWSER
npm run --silent build
# One browser at a time, because the tests wait for rendering.
exec npx vitest run --no-file-parallelism test/browser "$@"
