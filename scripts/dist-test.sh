#!/usr/bin/env bash
# Builds the source distribution and the wheel, installs each into an environment of its own, and runs a little with it.
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

.venv/bin/maturin sdist --out "$work/dist"
.venv/bin/maturin build --out "$work/dist"
for made in "$work"/dist/*.whl "$work"/dist/*.tar.gz; do
    echo "installing ${made##*/}"
    python3 -m venv --clear "$work/venv"
    "$work/venv/bin/pip" install --quiet --constraint constraints.txt "$made"
    (
        cd "$work"  # lest the working copy be found
        venv/bin/bufferlab --version
        venv/bin/python "$root/scripts/sbom.py"
        venv/bin/bufferlab run tiny.toml --json | venv/bin/python -c \
            'import json, sys; assert json.load(sys.stdin)["queues"][0]["utilization"] > 0.5'
        if [ -e "$root/python/bufferlab/web/page" ] && [[ $made == *.whl ]]; then
            venv/bin/bufferlab serve --export page
        fi
    )
done
echo "both can be installed, and run"
