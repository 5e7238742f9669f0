#!/usr/bin/env bash
# Builds into dist/ what is given to others: the source distribution, and a wheel for every Python from 3.11 on, with the page for
# browsers, manual pages, shell completions, bills of materials and all licenses. The same sources give the same bytes, wherever they are.
set -euo pipefail
cd "$(dirname "$0")/.."

root=$PWD
# archives have the time of the last commit
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 315532800)}
export SOURCE_DATE_EPOCH
# no path of this machine in the compiled module; a target folder of its own, as all is compiled anew for that
export RUSTFLAGS="--remap-path-prefix=$root=/bufferlab --remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=/cargo"
export CARGO_TARGET_DIR=$root/target/dist

compatible=()
if [ "$(uname -s)" = Linux ]; then
  # links against the glibc of 2014, so that the wheel runs on any distribution of today
  .venv/bin/pip install --quiet --disable-pip-version-check ziglang==0.17.1
  compatible=(--zig --compatibility manylinux2014)
fi
rm -rf dist bufferlab._core.data
trap 'rm -rf "$root/bufferlab._core.data"' EXIT
.venv/bin/python scripts/manual.py bufferlab._core.data/data # where maturin looks
mkdir -p "$CARGO_TARGET_DIR"
.venv/bin/python scripts/licenses.py bufferlab._core.data/data "$CARGO_TARGET_DIR/page.cyclonedx.json"
boms=() # beside the one of crates, which maturin makes
[ ! -e python/bufferlab/web/page ] || boms=(--sbom-include "$CARGO_TARGET_DIR/page.cyclonedx.json")
.venv/bin/maturin sdist --out dist
PATH=$root/.venv/bin:$PATH .venv/bin/maturin build --out dist "${compatible[@]}" "${boms[@]}"
.venv/bin/python scripts/pathless.py dist/*.whl "$root"
(cd dist && sha256sum ./* | tee SHA256SUMS)
