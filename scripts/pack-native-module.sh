#!/usr/bin/env bash
# Packs the compiled module of better-sqlite3 the way its install script expects a downloaded one, so that another
# installation needs neither a download nor a compiler:
#   npm_config_better_sqlite3_local_prebuilds=FOLDER npm ci
# The `node` on PATH must be the one for which the module was compiled.
# Usage: pack-native-module.sh NODE_MODULES FOLDER
set -eu
package="$1/better-sqlite3"
name=$(node -p "\`better-sqlite3-v\${require('$package/package.json').version}-node-v\${process.versions.modules}-\${process.platform}-\${process.arch}\`")
mkdir -p "$2"
tar -czf "$2/$name.tar.gz" -C "$package" build/Release/better_sqlite3.node
