#!/usr/bin/env bash
# Checks the files for deployment with the programs that read them: nginx, Caddy, systemd, the JSON schema of the
# Compose Specification, actionlint for workflows, promtool for the alerts, mandoc for the manual page, and the shells
# for the completions. Installs the programs from Debian if they are missing.
set -eu
cd "$(dirname "$0")/.."
PERCH_VALIDATORS=$(mktemp -d)
export PERCH_VALIDATORS PERCH_PROGRAMS_REQUIRED=1
trap 'rm -rf "$PERCH_VALIDATORS"' EXIT
bash scripts/install-programs.sh caddy fish mandoc nginx promtool=prometheus systemd-analyze=systemd zsh
bash scripts/install-validators.sh "$PERCH_VALIDATORS"
npx vitest run test/e2e/{alert-rules,deployment,deployment-files,docs-configuration,cli-completion,man-page}.test.ts "$@"
