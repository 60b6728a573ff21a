#!/usr/bin/env bash
# Builds the image for x86-64 and ARM64, and pushes it with provenance and a software bill of materials (SBOM), which
# buildx attaches. Resolves each base image of the Dockerfile to a digest once, so that all stages and platforms are
# built from the same image, and the log names it. IMAGE is the name of the image with the host of its registry. Runs in the release workflow.
set -eu
cd "$(dirname "$0")/../.."
: "${IMAGE:?Set IMAGE to the name of the image.}"
image=${IMAGE,,} # names of images have no capital letters
version=$(node -p 'require("./package.json").version')
pins=()
for base in $(sed -En 's/^FROM (--platform=[^ ]+ )?([^ ]+).*/\2/p' Dockerfile | sort -u); do
  digest=$(docker buildx imagetools inspect "$base" --format '{{.Manifest.Digest}}')
  [[ $digest == sha256:* ]] || { echo "$base has no digest: $digest" >&2; exit 1; }
  echo "$base is $digest"
  pins+=(--build-context "$base=docker-image://$base@$digest")
done
docker buildx build . --push "${pins[@]}" \
  --platform linux/amd64,linux/arm64 \
  --provenance mode=max --sbom true \
  --build-arg VERSION="$version" \
  --build-arg REVISION="$(git rev-parse HEAD)" \
  --build-arg CREATED="$(git log -1 --format=%cI)" \
  --build-arg SOURCE="${GITHUB_SERVER_URL:-}/${GITHUB_REPOSITORY:-}" \
  --tag "$image:$version" --tag "$image:latest"
