#!/usr/bin/env bash
# Drives the built server in headless Chromium. Without PERCH_BROWSER it takes Debian's `chromium`, and
# installs it where it is missing and can be.
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
# One browser at a time: the tests wait for what is painted.
exec npx vitest run --no-file-parallelism test/browser "$@"
