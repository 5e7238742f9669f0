#!/usr/bin/env bash
# Builds the engine for browsers: web/engine/lab.wasm. Says why and ends well where it cannot.
set -euo pipefail
cd "$(dirname "$0")/.."
PATH=$PATH:$HOME/.cargo/bin
target=wasm32-unknown-unknown

without() {
  printf 'setup: %s\n' "$@" "the laboratory in a browser is left out, and its tests are skipped"
  rm -f web/engine/lab.wasm
  exit 0
}

has_target() { [ -d "$(rustc --print sysroot)/lib/rustlib/$target/lib" ]; }
if ! has_target; then
  rustup target add "$target" >/dev/null 2>&1 && has_target ||
    without "Rust cannot compile for WebAssembly here. To add it: rustup target add $target"
fi

# no names of functions: a third of the size
RUSTFLAGS="-C strip=symbols" cargo build --quiet --locked --release --target "$target" --package bufferlab-web
mkdir -p web/engine
cp "${CARGO_TARGET_DIR:-target}/$target/release/bufferlab_web.wasm" web/engine/lab.wasm
