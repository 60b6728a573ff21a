#!/usr/bin/env bash
# Packs the npm package, installs it globally into an empty folder, and uses it in another folder as an ordinary
# user would: it must serve, read and answer, and leave nothing in that folder. Then does the same with the package of
# the TypeScript client, in a project of its own.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
port=$((20000 + RANDOM % 12000))
trap '[ -z "${server:-}" ] || kill "$server" 2>/dev/null || true; rm -rf "$work"' EXIT
fail() { printf 'package: %s\n' "$*"; cat "$work/log" 2>/dev/null; exit 1; }

cd "$root"
package="$work/$(npm pack --silent --pack-destination "$work")"
others=$(tar -tzf "$package" | grep -vE '^package/(assets|deploy|dist|docs|man|openapi|resources)/|^package/(CHANGELOG|CONTRIBUTING|README)\.md$|^package/(LICENSE|package\.json)$' || true)
[ -z "$others" ] || fail "the package contains $others"
! tar -tzf "$package" | grep -F .build.json || fail 'the package contains the stamp of the build'

# The compiled module comes from this checkout, as a download would.
bash scripts/pack-native-module.sh "$root/node_modules" "$work/native"
npm_config_better_sqlite3_local_prebuilds="$work/native" npm install --global --prefix "$work/prefix" \
  --no-audit --no-fund --silent "$package" || fail 'the installation failed'
installed="$work/prefix/lib/node_modules/perch"
[ ! -e "$installed/node_modules/fastify" ] || fail 'npm installed a package that is part of the bundle'
[ -e "$work/prefix/share/man/man1/perch.1" ] || fail 'the manual page is not installed'
printf 'packed: %s, installed: %s in %s packages\n' "$(du -h "$package" | cut -f1)" "$(du -sh "$installed" | cut -f1)" \
  "$(find "$installed/node_modules" -name package.json -path '*/node_modules/*/package.json' | wc -l)"

mkdir "$work/home" "$work/empty"
cd "$work/empty"
perch=(env -i PATH="$work/prefix/bin:$PATH" HOME="$work/home" PORT=$port perch)
"${perch[@]}" --version | grep -qF "perch $(node -p "require('$root/package.json').version")" || fail 'perch --version'
"${perch[@]}" serve >"$work/log" 2>&1 &
server=$!
for _ in $(seq 100); do
  "${perch[@]}" health >/dev/null 2>&1 && break
  sleep 0.1
done
curl -fs "http://localhost:$port/ada.example/status/1900000000000000001" | grep -qF '# Thread by' || fail 'the server returned no post'
for format in json html obsidian; do
  curl -fs "http://localhost:$port/ada.example/status/1900000000000000001?format=$format" -o /dev/null || fail "the server returned no $format"
done
for format in rss atom; do
  curl -fs "http://localhost:$port/ada.example?format=$format" -o /dev/null || fail "the server returned no $format"
done
curl -fs "http://localhost:$port/docs/deploy" | grep -qF '<html' || fail 'the server returned no documentation'
"${perch[@]}" read ada.example --limit 1 | grep -qF '# Ada Fenwick' || fail 'perch read'
"${perch[@]}" search heron --platform sample | grep -qF '# Search: heron' || fail 'perch search'
"${perch[@]}" ask 'How do I change the port?' | grep -qF 'PORT' || fail 'perch ask'
"${perch[@]}" ask 'How do I contribute?' | grep -qF 'CONTRIBUTING.md' || fail 'perch ask about a page for developers'
"${perch[@]}" completion bash | bash -n || fail 'perch completion'

# The client reads from the server. Its package contains types, and nothing of its sources.
client="$work/$(npm --prefix "$root" pack --silent --workspace perch-client --pack-destination "$work")"
others=$(tar -tzf "$client" | grep -vE '^package/dist/[a-z]+\.(js|d\.ts)$|^package/(LICENSE|README\.md|package\.json)$' || true)
[ -z "$others" ] || fail "the package of the client contains $others"
mkdir "$work/project"
(cd "$work/project" && npm init --yes >/dev/null && npm install --no-audit --no-fund --silent "$client") || fail 'the client cannot be installed'
[ "$(find "$work/project/node_modules" -mindepth 1 -maxdepth 1 -not -name '.*' | wc -l)" = 1 ] || fail 'the client has dependencies'
cat >"$work/project/program.mjs" <<'JS'
import { createPerch, ProblemError } from 'perch-client';
const perch = createPerch({ baseUrl: process.argv[2] });
let count = 0;
for await (const { id } of perch.profiles.followers('ada.example', { limit: 5 })) count += id ? 1 : 0;
const error = await perch.posts.get({ handle: 'ada.example', id: '1' }).catch((cause) => cause);
const turn = await perch.sessions.ask('How do I change the port?');
console.log(count, error instanceof ProblemError && error.code, (await turn.answer()).message.includes('PORT'));
JS
[ "$(node "$work/project/program.mjs" "http://localhost:$port")" = '11 not_found true' ] || fail 'the installed client'

kill -TERM "$server"
code=0
wait "$server" || code=$?
[ "$code" -eq 0 ] || fail "exit code $code after SIGTERM"
left=$(find "$work/empty" -mindepth 1)
[ -z "$left" ] || fail "files in the working folder: $left"
others=$(find "$work/home" -type f -not -path "$work/home/.local/share/perch/*")
[ -z "$others" ] || fail "files in the home folder: $others"

# The bill of materials lists what is bundled and what was installed.
cd "$root"
npm run --silent sbom >"$work/sbom.json"
node -e '
  const { components } = JSON.parse(require("node:fs").readFileSync(process.argv[1], "utf8"));
  const names = components.map(({ name }) => name);
  for (const name of ["better-sqlite3", "fastify"]) if (!names.includes(name)) throw new Error(`no ${name}`);
  if (names.includes("typescript")) throw new Error("typescript is listed");
' "$work/sbom.json" || fail 'the bill of materials is wrong'
printf 'package: ok\n'
