#!/usr/bin/env bash
# Runs the tests that use sockets, files, databases and workers on Node.js 24, in a copy of the committed tree. Other
# code does not depend on the Node.js version. PERCH_NODE24 is a folder that scripts/install-node24.sh has filled or
# will fill; by default, the script uses a temporary folder.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
node24=${PERCH_NODE24:-$work}
bash "$root/scripts/install-node24.sh" "$node24"
cd "$node24/perch"
export PATH="$node24/bin:$PATH"
export PERCH_FIXTURES=absent # the recorded answers do not depend on the version
node --version
npx vitest run test/e2e/{start,cli,keys,session-crash,session-streams,mcp,ssrf,shared-cache}.test.ts \
  test/suites/session-store.test.ts test/unit/{access,lib,archive,sessions,answers/worker}
