#!/usr/bin/env bash
# Lints the public and the admin OpenAPI description with Redocly's recommended rules and all OpenAPI rules of Spectral. Both have many
# dependencies, so they are installed into a temporary folder. Warnings count as errors.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
npm install --prefix "$work" --no-audit --no-fund --silent @redocly/cli@2.77.0 @stoplight/spectral-cli@6.16.3

cd "$work"
# `/media/{signed}` and `/{handle}/followers` do not overlap, because a signed address has at least 32 characters.
printf 'extends: [recommended]\nrules:\n  no-ambiguous-paths: off\n' >redocly.yaml
printf 'extends: ["spectral:oas"]\n' >.spectral.yaml
export REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true SCARF_ANALYTICS=false

for name in perch admin; do
  # The linters warn about localhost, so it is replaced by a public host name.
  sed 's#http://localhost:8080#https://perch.example.org#g' "$root/openapi/$name.json" >"$name.json"
  node_modules/.bin/redocly lint --config redocly.yaml --format json "$name.json" >report.json 2>redocly.log ||
    { cat redocly.log; cat report.json; exit 1; }
  node -e '
    const { totals, problems } = JSON.parse(require("node:fs").readFileSync("report.json", "utf8"));
    for (const { ruleId, message, location } of problems) {
      console.log(`redocly: ${ruleId}: ${message} (${location[0].pointer})`);
    }
    process.exit(totals.errors + totals.warnings === 0 ? 0 : 1);
  '
  node_modules/.bin/spectral lint --ruleset .spectral.yaml --fail-severity hint "$name.json"
done
printf 'lint: ok\n'
