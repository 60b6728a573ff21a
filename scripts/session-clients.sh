#!/usr/bin/env bash
# Tests the built server with published eve clients. The clients require a newer Node.js than Perch does, so both are
# installed into the folder PERCH_EVE_CLIENTS, or by default into a temporary folder. Arguments: releases of eve to test
# in place of the default ones.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
work=${PERCH_EVE_CLIENTS:-$temporary}
releases=("$@")
[ $# -gt 0 ] || releases=(0.24.6 0.30.8 0.52.5 0.80.1)
packages=()
for release in "${releases[@]}"; do packages+=("eve-$release@npm:eve@$release"); done

cd "$root"
[ -e dist/main.js ] || npm run --silent build
# --force is needed because the oldest releases require different previews of their peer dependency `ai`.
# The setting in this project's `.npmrc`, which `npm run` passes on, does not apply to these packages.
export npm_config_strict_allow_scripts=false
if [ ! -e "$work/complete" ]; then
  npm install --prefix "$work" --no-audit --no-fund --loglevel=error --force node@24 "${packages[@]}"
  touch "$work/complete"
fi
bin=$(dirname "$(find "$work/node_modules" -path '*/bin/node' -type f | grep linux | head -1)")
"$bin/node" test/clients/run.ts "$(command -v node)" "$work" "${releases[@]}"
