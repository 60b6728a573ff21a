#!/usr/bin/env bash
# Installs Node.js 24 from the npm package `node`, a copy of the committed tree, and the tree's packages for Node.js 24
# into a folder: `bin` with the program `node`, and `perch`. Does nothing if the folder is complete.
# Usage: install-node24.sh FOLDER
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
folder=$(cd "$1" && pwd)
[ ! -e "$folder/complete" ] || exit 0
npm install --prefix "$folder/node" --no-audit --no-fund --silent node@24
program=$(find "$folder/node" -path '*/bin/node' -type f | grep linux | head -1)
ln -sfn "$(dirname "$program")" "$folder/bin"
mkdir -p "$folder/perch"
git -C "$root" archive --format=tar HEAD | tar -x -C "$folder/perch"
cd "$folder/perch"
PATH="$folder/bin:$PATH" npm_config_nodedir="$(dirname "$(dirname "$program")")" npm ci --no-audit --no-fund --silent
touch "$folder/complete"
