#!/usr/bin/env bash
# Installs the Debian packages of those programs that are not on PATH, with one call of apt-get.
# Usage: install-programs.sh PROGRAM[=PACKAGE]… (the package has the name of the program by default)
set -eu
packages=()
for entry in "$@"; do
  command -v "${entry%%=*}" >/dev/null || packages+=("${entry#*=}")
done
[ "${#packages[@]}" -gt 0 ] || exit 0
export DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 # in this run level, packages start no services
apt-get update -qq
apt-get install -y -qq --no-install-recommends "${packages[@]}" >/dev/null
