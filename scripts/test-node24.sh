#!/usr/bin/env bash
# Runs the tests that use sockets, files, databases and workers on Node.js 24, from the npm package `node`, in a copy
# of the committed tree. Other code does not depend on the Node.js version.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
npm install --prefix "$work/node" --no-audit --no-fund --silent node@24
bin=$(dirname "$(find "$work/node" -path '*/bin/node' -type f | grep linux | head -1)")
git -C "$root" archive --format=tar HEAD | (mkdir "$work/perch" && tar -x -C "$work/perch")
cd "$work/perch"
export PATH="$bin:$PATH" npm_config_nodedir
npm_config_nodedir=$(dirname "$bin")
export PERCH_FIXTURES=absent # the recorded answers do not depend on the version
node --version
npm ci --no-audit --no-fund --silent
npx vitest run test/e2e/{start,cli,keys,session-crash,session-streams,mcp,ssrf,shared-cache}.test.ts \
  test/suites/session-store.test.ts test/unit/{access,core,archive,sessions,answers/worker}
