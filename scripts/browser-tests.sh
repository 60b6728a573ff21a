#!/usr/bin/env bash
# Tests the built server in headless Chromium. PERCH_BROWSER is the path of the browser. If it is not set, the
# script uses Debian's `chromium`, and installs it if necessary.
set -eu
cd "$(dirname "$0")/.."
if [ -z "${PERCH_BROWSER:-}" ]; then
  bash scripts/install-programs.sh chromium
  PERCH_BROWSER=$(command -v chromium)
fi
export PERCH_BROWSER
npm run --silent build
exec npx vitest run test/browser "$@"
