#!/usr/bin/env bash
# Runs the steps of the Dockerfile with Node.js 24, without a container engine. Each stage is a folder. The server then
# runs as an ordinary user, which can write only to the data folder and to folders that are open to all users.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
user=54321 # an ID without a name, a home folder or files
port=$((20000 + RANDOM % 12000))
trap '[ -z "${server:-}" ] || kill "$server" 2>/dev/null || true; rm -rf "$work"' EXIT
fail() { printf 'dockerfile: %s\n' "$*"; cat "$work/log" 2>/dev/null; exit 1; }

node24=${PERCH_NODE24:-$work/node24}
bash "$root/scripts/install-node24.sh" "$node24"
export PATH="$node24/bin:$PATH"
bash "$root/scripts/pack-native-module.sh" "$node24/perch/node_modules" "$work/native"
export npm_config_better_sqlite3_local_prebuilds="$work/native" npm_config_audit=false npm_config_fund=false

# instructions: prints the instructions of the Dockerfile, one per line.
instructions() { sed -e '/^ *#/d' -e ':a' -e '/\\$/N; s/ *\\\n */ /; ta' "$root/Dockerfile" | sed '/^$/d'; }

# copy [--from=STAGE] SOURCE… TARGET
copy() {
  local base=$root target=${!#} source
  if [[ $1 = --from=* ]]; then base="$work/${1#--from=}"; shift; fi
  mkdir -p "$folder/$target"
  for source in "${@:1:$#-1}"; do
    # A folder is copied with its content, and a file into the target.
    if [ -d "$base/$source" ]; then cp -r "$base/$source/." "$folder/$target"; else cp "$base/$source" "$folder/$target"; fi
  done
}

# run COMMAND: the paths of the image become paths in the folder of the stage.
run() {
  local command=$1
  command=${command//' /'/" $work/$stage/"}
  command=${command//node:node/$user:$user}
  case $command in
    # `npm ci` has already run for this tree. Its result is linked to save time.
    'npm ci --ignore-scripts') cp -al "$node24/perch/node_modules" "$folder/node_modules" ;;
    *) (cd "$folder" && bash -euc "$command" >"$work/log" 2>&1) || fail "failed: RUN $1" ;;
  esac
}

environment=() health='' entry='' arguments=''
while read -r word rest; do
  case $word in
    FROM)
      case $rest in *node:24-*) ;; *) fail "the Node.js version is not 24: FROM $rest" ;; esac
      case $rest in *' AS '*) stage=${rest##* AS } ;; *) stage=final ;; esac
      environment=()
      ;;
    WORKDIR) folder="$work/$stage$rest" && mkdir -p "$folder" ;;
    COPY) read -ra words <<<"$rest" && copy "${words[@]}" ;;
    RUN) run "$rest" ;;
    ENV) read -ra environment <<<"$rest" ;;
    HEALTHCHECK) health=${rest#*CMD } ;;
    ENTRYPOINT) entry=$rest ;;
    CMD) arguments=$rest ;;
    USER) [ "$rest" = node ] || fail "the user is $rest" ;;
    ARG | EXPOSE | LABEL | STOPSIGNAL | VOLUME) ;;
    *) fail "unknown instruction $word" ;;
  esac
done < <(instructions)

[ ! -e "$folder/node_modules/typescript" ] || fail 'development packages are in the image'
[ ! -e "$folder/node_modules/fastify" ] || fail 'bundled packages are in the image'
printf 'node_modules: %s, in all: %s\n' "$(du -sh "$folder/node_modules" | cut -f1)" "$(du -sh "$folder" | cut -f1)"
data="$work/final/data"
chmod 755 "$work"
# The user must reach the program, which can be in a private folder.
mkdir "$work/bin" && cp -L "$node24/bin/node" "$work/bin"

# become JSON…: replaces the shell with a command of the image, given as JSON lists of words, as its user.
become() {
  local words
  mapfile -t words < <(node -e 'for (const list of process.argv.slice(1)) for (const word of JSON.parse(list)) console.log(word)' "$@")
  cd "$folder"
  exec setpriv --reuid=$user --regid=$user --clear-groups env -i PATH="$work/bin:/usr/bin:/bin" \
    "${environment[@]}" PORT=$port PERCH_DATA_DIR="$data" "${words[@]}"
}

become "$entry" "$arguments" >"$work/log" 2>&1 &
server=$!
for _ in $(seq 100); do
  curl -fs "http://127.0.0.1:$port/health/ready" >/dev/null && break
  sleep 0.1
done
(become "$health") || fail 'the health check failed'
curl -fs "http://127.0.0.1:$port/ada.example/status/1900000000000000001" >/dev/null || fail 'a post of the sample could not be read'
curl -fs "http://127.0.0.1:$port/openapi.json" | grep -qF '"openapi":"3.1' || fail 'the OpenAPI description could not be read'
# The image must contain the OpenAPI description, because questions are answered from it.
(become "$entry" '["ask", "PostReply", "--corpus", "openapi", "--json"]') | grep -qF 'perch.json' || fail 'a question was not answered from the OpenAPI description'
[ -s "$data/archive.db" ] || fail 'the data volume is empty'
kill -TERM "$server"
code=0
wait "$server" || code=$?
[ "$code" -eq 0 ] || fail "exit code $code after SIGTERM"
(become "$health") 2>/dev/null && fail 'the health check passed without a server'
# The root file system can be read-only if nothing was written to it.
written=$(find /tmp /var/tmp /dev/shm -uid $user -not -path "$data*" 2>/dev/null || true)
[ -z "$written" ] || fail "files outside the data folder: $written"
printf 'dockerfile: ok\n'
