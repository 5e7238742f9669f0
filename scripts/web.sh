#!/usr/bin/env bash
# Builds the laboratory for browsers: the engine, web/engine/lab.wasm, the page, python/bufferlab/web/page, and the widget. Where it cannot,
# it says why and ends well: the rest of Bufferlab needs neither.
set -euo pipefail
cd "$(dirname "$0")/.."
PATH=$PATH:$HOME/.cargo/bin
unset MAKEFLAGS # names a jobserver that make keeps from this script
target=wasm32-unknown-unknown

without() {
  printf 'setup: %s\n' "$@" "the page for browsers is left out, and its tests are skipped"
  exit 0
}

rm -rf web/engine python/bufferlab/web/page python/bufferlab/web/widget
has_target() { [ -d "$(rustc --print sysroot)/lib/rustlib/$target/lib" ]; }
if ! has_target; then
  rustup target add "$target" >/dev/null 2>&1 && has_target ||
    without "Rust cannot compile for WebAssembly here. To add it: rustup target add $target"
fi
# no names of functions: a third of the size
RUSTFLAGS="-C strip=symbols" cargo build --quiet --locked --release --target "$target" --package bufferlab-web
mkdir -p web/engine
cp "${CARGO_TARGET_DIR:-target}/$target/release/bufferlab_web.wasm" web/engine/lab.wasm

cd web
command -v npm >/dev/null || without "there is no Node (npm). On Debian and Ubuntu: sudo apt-get install nodejs npm"
node -e 'const [major, minor] = process.versions.node.split(".").map(Number); process.exit(major > 20 || (major === 20 && minor >= 19) ? 0 : 1)' ||
  without "Node $(node --version) is too old for the page, 20.19 or newer is needed: https://nodejs.org"
npm ci --silent --ignore-scripts || without "npm could not install the page's packages; its message is above"
npx vite build --logLevel warn
npx vite build --config vite.widget.config.ts --logLevel warn
