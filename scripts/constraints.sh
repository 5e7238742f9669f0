#!/usr/bin/env bash
# Writes constraints.txt: the newest versions that satisfy pyproject.toml, tried in an environment of their own.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
.venv/bin/python scripts/requirements.py >"$room/requirements.txt"
.venv/bin/python -m venv "$room/venv"
"$room/venv/bin/python" -m pip install --quiet --disable-pip-version-check -r "$room/requirements.txt"
{
  # shellcheck disable=SC2016
  echo '# Exact versions for the development environment; `make constraints` renews them.'
  "$room/venv/bin/python" -m pip freeze
} >"$room/constraints.txt"
mv "$room/constraints.txt" constraints.txt
