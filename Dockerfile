# Builds Perch and copies the result to an image without the tools of the build:
#   docker build -t perch . && docker run -p 8080:8080 -v perch-data:/data perch
# The container writes only to /data, so it also runs with `--read-only --tmpfs /tmp`.

# The bundle is the same for all architectures, so it is built on the architecture of the machine.
FROM --platform=$BUILDPLATFORM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY tsconfig.json ./
COPY scripts/build.ts scripts/build-stamp.ts scripts/bundle.ts scripts/licences.ts ./scripts/
COPY clients/typescript/src ./clients/typescript/src
COPY src ./src
RUN npm run build

# Packages with native modules. This image contains a compiler, in case there is no compiled module to download.
FROM node:24-bookworm AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev

FROM node:24-bookworm-slim
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080 PERCH_DATA_DIR=/data
WORKDIR /app
COPY --from=packages /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY package.json LICENSE README.md CHANGELOG.md ./
COPY assets ./assets
COPY docs ./docs
COPY openapi ./openapi
COPY resources ./resources
RUN mkdir /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=5s CMD ["node", "dist/main.js", "health"]
ENTRYPOINT ["node", "dist/main.js"]
CMD ["serve"]
# Last, because each of these values starts a new layer of metadata. scripts/release/image.sh sets them.
ARG VERSION REVISION CREATED SOURCE
LABEL org.opencontainers.image.title="Perch" \
  org.opencontainers.image.description="Reads public social posts and returns them as Markdown, JSON, web pages or feeds" \
  org.opencontainers.image.licenses="MIT" \
  org.opencontainers.image.version="$VERSION" \
  org.opencontainers.image.revision="$REVISION" \
  org.opencontainers.image.created="$CREATED" \
  org.opencontainers.image.source="$SOURCE"
