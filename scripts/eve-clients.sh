#!/usr/bin/env bash
# Lets published eve clients use the built server. They need a newer Node than Perch does, so both are
# installed into a scratch folder. Arguments: releases of eve, instead of those below.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
releases=("$@")
[ $# -gt 0 ] || releases=(0.24.6 0.30.8 0.52.5 0.80.1)
packages=()
for release in "${releases[@]}"; do packages+=("eve-$release@npm:eve@$release"); done

cd "$root"
[ -e dist/main.js ] || npm run --silent build
# Each of the oldest releases wants another preview of their peer `ai`: hence --force.
# `npm run` passes on the setting of this project's `.npmrc`, which is not about these packages.
export npm_config_strict_allow_scripts=false
npm install --prefix "$work" --no-audit --no-fund --loglevel=error --force node@24 "${packages[@]}"
bin=$(dirname "$(find "$work/node_modules" -path '*/bin/node' -type f | grep linux | head -1)")
"$bin/node" test/clients/run.ts "$(command -v node)" "$work" "${releases[@]}"
