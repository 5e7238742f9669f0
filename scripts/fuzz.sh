#!/usr/bin/env bash
# Throws inputs at the readers of scenarios, overrides, plans and captures, and at the analysis of these, guided by coverage
# (libFuzzer; a stable compiler will do).
#
#   scripts/fuzz.sh [--seconds N] [--runs N] [--seed N] [TARGET ...]
#
# New inputs are kept in target/fuzz/TARGET, so that the next time goes on from there; what fails is there as crash-... or
# timeout-.... The committed corpus (crates/fuzz/corpus) only begins it.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=60 runs=-1 seed=1
targets=()
while [ $# -gt 0 ]; do
  case $1 in
    --seconds) seconds=$2; shift ;;
    --runs) runs=$2; shift ;;
    --seed) seed=$2; shift ;;
    -*) echo "fuzz: unknown option $1; accepted: --seconds N, --runs N, --seed N, then targets" >&2; exit 2 ;;
    *) targets+=("$1") ;;
  esac
  shift
done
[ ${#targets[@]} -gt 0 ] || targets=(scenario overrides plan capture observation)

# what clang's -fsanitize=fuzzer asks of the compiler
flags="--cfg fuzzing -Cpasses=sancov-module -Ccodegen-units=1 -Cllvm-args=-sanitizer-coverage-level=4"
flags+=" -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table"
flags+=" -Cllvm-args=-sanitizer-coverage-trace-compares"
build=${CARGO_TARGET_DIR:-$PWD/target}/fuzz-build
RUSTFLAGS=$flags cargo build --quiet --locked --release --manifest-path fuzz/Cargo.toml --target-dir "$build" \
  --target "$(rustc -vV | sed -n 's/^host: //p')"

# the words of scenarios and plans, as libFuzzer wants them
words=$build/words.txt
cat docs/scenario.schema.json crates/simulator/tests/plans/*.json | grep -oE '"[a-z][a-z_0-9-]+"' | sort -u >"$words"

for target in "${targets[@]}"; do
  kept=target/fuzz/$target
  mkdir -p "$kept"
  seeds=("crates/fuzz/corpus/$target")
  [ "$target" != scenario ] || seeds+=(examples)
  [ "$target" != observation ] || seeds=(crates/fuzz/corpus/capture)
  [ "$target" != plan ] || seeds+=(crates/simulator/tests/plans)
  echo "== $target"
  "$build"/*/release/"$target" "$kept" "${seeds[@]}" -max_total_time="$seconds" -runs="$runs" -seed="$seed" -timeout=20 \
    -rss_limit_mb=4096 -max_len=20000 -dict="$words" -artifact_prefix="$kept/" -print_final_stats=1 2>&1 |
    grep -E '^(stat::|SUMMARY|==|Done)|crash-|timeout-|oom-|panicked' || true
  if compgen -G "$kept/crash-*" >/dev/null || compgen -G "$kept/timeout-*" >/dev/null || compgen -G "$kept/oom-*" >/dev/null; then
    echo "fuzz: $target fails with the inputs in $kept" >&2
    exit 1
  fi
done
