#!/usr/bin/env bash
# Makes the development environment in .venv: compilers, Python packages, the compiled extension.
#
#   scripts/setup.sh          what running needs
#   scripts/setup.sh checks   and what the checks need: cargo fmt, cargo clippy
#   scripts/setup.sh compilers   what the checks of Rust need alone: compilers and an empty environment
#
# Does only what is missing or has changed; PYTHON names the interpreter to use. Installs system packages only as root
# on a system with apt-get; otherwise it says what to install.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
PATH=$PATH:$HOME/.cargo/bin

say() { printf 'setup: %s\n' "$*"; }
fail() {
  printf 'setup: %s\n' "$@" >&2
  exit 1
}

apt_usable() { [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; }
apt_install() {
  say "installing $* with apt-get"
  [ -n "${apt_updated:-}" ] || apt-get update -qq >/dev/null || return
  apt_updated=yes
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

# at_least HAVE WANT: versions of two numbers
at_least() {
  local have_major=${1%%.*} want_major=${2%%.*} have_minor=${1#*.} want_minor=${2#*.}
  [ "$have_major" -gt "$want_major" ] || { [ "$have_major" -eq "$want_major" ] && [ "${have_minor%%.*}" -ge "${want_minor%%.*}" ]; }
}

# Rust links with the C compiler, even where there is no C.
need_c_compiler() {
  command -v cc >/dev/null && return
  if apt_usable && apt_install gcc libc6-dev; then return; fi
  fail "there is no C compiler (cc), which Rust needs for linking. Install one, then try again:" \
    "  Debian, Ubuntu:  sudo apt-get install gcc libc6-dev" \
    "  Fedora:          sudo dnf install gcc" \
    "  macOS:           xcode-select --install"
}

need_rust() {
  local want have
  want=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
  if ! command -v cargo >/dev/null && ! command -v rustup >/dev/null && apt_usable; then
    # Older releases of Debian and Ubuntu have no such package, and their own Rust is too old.
    apt_install rustup || true
  fi
  if command -v rustup >/dev/null && ! cargo --version >/dev/null 2>&1; then
    say "installing Rust with rustup"
    { rustup toolchain install stable --profile minimal --component clippy --component rustfmt && rustup default stable; } ||
      fail "rustup could not install Rust; its message is above."
  fi
  cargo --version >/dev/null 2>&1 || fail "there is no Rust (cargo). Install it, then try again:" \
    "  curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh" \
    "(the installer that rust-lang.org documents; it needs no root)"
  have=$(rustc --version | cut -d ' ' -f 2)
  at_least "$have" "$want" || fail "Rust $have is too old, $want or newer is needed. Update it, then try again:" \
    "  rustup update stable        (or, where Rust is not from rustup, install that: https://rustup.rs)"
}

need_rust_checks() {
  cargo fmt --version >/dev/null 2>&1 && cargo clippy --version >/dev/null 2>&1 && return
  if command -v rustup >/dev/null && rustup component add clippy rustfmt; then return; fi
  fail "cargo fmt or cargo clippy is missing. Install both, then try again:" \
    "  rustup component add clippy rustfmt" \
    "  or, where Rust is from the system's packages: sudo apt-get install rust-clippy rustfmt"
}

python_version() { "$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null; }

# Sets $python
find_python() {
  local candidate version seen=""
  for candidate in ${PYTHON:-python3 python3.14 python3.13 python3.12 python3.11}; do
    version=$(python_version "$candidate") || continue
    if at_least "$version" 3.11; then
      python=$candidate
      return
    fi
    seen="$seen $candidate is $version;"
  done
  fail "Python 3.11 or newer is needed;${seen:- there is none.} Install one, or name one: make PYTHON=/path/to/python3" \
    "  Debian 12 and Ubuntu 24.04 or newer:  sudo apt-get install python3 python3-venv"
}

# Tests of captures read them with these, and are skipped without.
want_packet_tools() {
  local missing=()
  command -v tshark >/dev/null || missing+=(tshark)
  command -v tcptrace >/dev/null || missing+=(tcptrace)
  [ ${#missing[@]} -gt 0 ] || return 0
  if apt_usable && apt_install "${missing[@]}"; then return; fi
  say "tests that need ${missing[*]} will be skipped. On Debian and Ubuntu: sudo apt-get install ${missing[*]}"
}

# Tests run what `bufferlab configure` writes for Linux on this kernel with it, and are skipped without.
want_tc() {
  PATH=$PATH:/usr/sbin:/sbin command -v tc >/dev/null && return
  if apt_usable && apt_install iproute2; then return; fi
  say "tests that need tc will be skipped. On Debian and Ubuntu: sudo apt-get install iproute2"
}

# Tests use the page for browsers in it, and are skipped without.
want_browser() {
  command -v npm >/dev/null || return 0
  command -v chromium >/dev/null && return
  if apt_usable && apt_install chromium; then return; fi
  say "tests of the page for browsers will be skipped. On Debian: sudo apt-get install chromium"
}

need_venv() {
  if [ -x .venv/bin/python ] && at_least "$(python_version .venv/bin/python || echo 0.0)" 3.11 &&
    [ "$(cat .venv/place 2>/dev/null)" = "$root" ]; then
    return
  fi
  find_python
  say "making .venv with $("$python" --version)"
  rm -rf .venv
  if ! "$python" -m venv .venv >/dev/null 2>&1; then
    rm -rf .venv
    { apt_usable && apt_install python3-venv && "$python" -m venv .venv; } ||
      fail "$python -m venv does not work. On Debian and Ubuntu: sudo apt-get install python3-venv"
  fi
  printf '%s\n' "$root" >.venv/place
}

# changed STAMP WORD...: whether what the words and the files among them say has changed since `stamp STAMP`
changed() {
  fresh_stamp=$(.venv/bin/python scripts/fingerprint.py "${@:2}")
  [ "$fresh_stamp" != "$(cat ".venv/$1" 2>/dev/null)" ]
}
stamp() { printf '%s\n' "$fresh_stamp" >".venv/$1"; }

need_packages() {
  changed packages.stamp pyproject.toml constraints.txt || return 0
  say "installing Python packages"
  .venv/bin/python scripts/requirements.py >.venv/requirements.txt
  .venv/bin/python -m pip install --quiet --disable-pip-version-check -r .venv/requirements.txt -c constraints.txt ||
    fail "pip could not install the packages; its message is above."
  stamp packages.stamp
}

need_extension() {
  if ! changed extension.stamp "$(rustc --version)" pyproject.toml Cargo.toml Cargo.lock crates &&
    compgen -G 'python/bufferlab/_core*.so' >/dev/null; then
    return
  fi
  say "compiling the engine (some minutes the first time)"
  PATH=$root/.venv/bin:$PATH pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable . ||
    fail "the engine does not compile; the message is above."
  stamp extension.stamp
}

# The laboratory in a browser, which is left out where it cannot be built.
want_page() {
  changed page.stamp "$(rustc --version)" "$(node --version 2>/dev/null)" Cargo.toml Cargo.lock crates examples docs/scenario.schema.json scripts/web.sh \
    web/src web/stories web/gallery web/public web/index.html web/*.json web/*.ts web/*.js web/.npmrc || return 0
  say "building the page for browsers"
  scripts/web.sh
  stamp page.stamp
}

need_c_compiler
need_rust
[ -z "${1:-}" ] || need_rust_checks
need_venv
[ "${1:-}" != compilers ] || exit 0
if [ -n "${1:-}" ]; then
  want_packet_tools
  want_tc
  want_browser
fi
need_packages
need_extension
want_page
