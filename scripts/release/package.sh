#!/usr/bin/env bash
# Publishes the npm packages of Perch and of its client with provenance, and creates the GitHub release with the package,
# its software bill of materials (SBOM) and the section of the changelog. Runs in the release workflow, with GH_TOKEN.
set -eu
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
npm run --silent build
npm run --silent sbom >"$work/sbom.cdx.json"
npx tsx scripts/release/notes.ts >"$work/notes.md"
package="$work/$(npm pack --silent --pack-destination "$work")"
npm publish "$package" --provenance
npm publish --workspace perch-client --provenance
gh release create "$GITHUB_REF_NAME" --verify-tag --title "Perch ${GITHUB_REF_NAME#v}" --notes-file "$work/notes.md" \
  "$package" "$work/sbom.cdx.json"
