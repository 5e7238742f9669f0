#!/usr/bin/env bash
# Random plans until the time is over: with debug assertions against the slow engine, and with fields gone wild.
#
#   scripts/soak.sh [--seconds N] [--seed N] [--cases N]
#
# Each turn has the next seed, and CASES plans of each test; what fails says its seed and the plan, made as small as may be.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=600 seed=1 cases=500
while [ $# -gt 0 ]; do
  case $1 in
    --seconds) seconds=$2 ;;
    --seed) seed=$2 ;;
    --cases) cases=$2 ;;
    *) echo "soak: unknown option $1; accepted: --seconds N, --seed N, --cases N" >&2; exit 2 ;;
  esac
  shift 2
done

cargo test --quiet --locked --no-run -p bufferlab-simulator --test suite
turns=0 end=$((SECONDS + seconds))
while [ "$SECONDS" -lt "$end" ]; do
  PROPTEST_RNG_SEED=$seed PROPTEST_CASES=$cases \
    cargo test --quiet --locked -p bufferlab-simulator --test suite -- differential:: wild:: laws:: busy:: ||
    { echo "soak: seed $seed fails: scripts/soak.sh --seed $seed --cases $cases" >&2; exit 1; }
  seed=$((seed + 1)) turns=$((turns + 1))
done
echo "soak: $turns turns of $cases plans a test, the next seed is $seed"
