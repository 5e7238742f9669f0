#!/usr/bin/env bash
# Installs what is in dist/ as users do, each into an environment of its own without Rust and Node: the wheel with every Python from
# 3.11 on that is here, and the source distribution, which compiles, with one. Runs a little with each.
set -euo pipefail
cd "$(dirname "$0")/.."

root=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat > "$work/tiny.toml" <<'TOML'
run = { duration = "2 s", warmup = "1 s" }
bottleneck = { rate = "10 Mbps", buffer = "20 packets" }
flows = [{ rtt = "20 ms" }]
TOML

# installed PYTHON FILE PATH: FILE can be installed and used where there are the programs of PATH only
installed() {
  echo "installing ${2##*/} with $("$1" --version)"
  "$1" -m venv --clear "$work/venv"
  rm -rf "$work/cache"
  SECONDS=0
  (
    cd "$work"  # lest the working copy be found
    export PATH=$3 XDG_CACHE_HOME=$work/cache  # no run is known
    venv/bin/pip install --quiet --disable-pip-version-check --constraint "$root/constraints.txt" "$2"
    local took=$SECONDS
    venv/bin/bufferlab --version
    venv/bin/python "$root/scripts/sbom.py"
    venv/bin/bufferlab run tiny.toml --json | venv/bin/python -c \
      'import json, sys; assert json.load(sys.stdin)["queues"][0]["utilization"] > 0.5'
    [[ $2 == *.whl ]] || return 0
    SECONDS=0
    venv/bin/bufferlab advise "$root/examples/home-gateway.toml" --quick > advice.txt 2> steps.txt
    grep -q fq_codel advice.txt
    echo "pip took $took s, the first advice $SECONDS s"
    for made in man/man1/bufferlab.1 man/man1/bufferlab-advise.1 bash-completion/completions/bufferlab \
      zsh/site-functions/_bufferlab fish/vendor_completions.d/bufferlab.fish doc/bufferlab/third-party-licenses.txt; do
      [ -s "venv/share/$made" ] || { echo "there is no share/$made" >&2; exit 1; }
    done
    [ ! -e "$root/python/bufferlab/web/page" ] || { rm -rf page && venv/bin/bufferlab serve --export page; }
  )
}

wheel=$(echo "$root"/dist/*.whl)
tried=" "
for python in python3.11 python3.12 python3.13 python3.14 "${PYENV_ROOT:-$HOME/.pyenv}"/versions/*/bin/python3 python3; do
  version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null) || continue
  case $version in 3.[0-9] | 3.10 | 2.*) continue ;; esac
  [[ $tried != *" $version "* ]] || continue
  tried+="$version "
  installed "$("$python" -c 'import sys; print(sys.executable)')" "$wheel" /usr/bin:/bin
done
[ "$tried" != " " ] || { echo "there is no Python from 3.11 on" >&2; exit 1; }
installed "$(command -v python3)" "$(echo "$root"/dist/*.tar.gz)" "$PATH"
echo "both can be installed, and run"
