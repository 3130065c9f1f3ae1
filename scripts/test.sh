#!/bin/sh
# Builds and tests everything: scripts/test.sh [--long] [PRESET] [ctest arguments]. The preset is `release` unless named.
# --long runs what takes hours instead: 100,000 random graphs, whole sweeps, all mutants (scripts/long_test.py).
set -eu
cd "$(dirname "$0")/.."

long=no
if [ "${1:-}" = --long ]; then
  long=yes
  shift
fi
preset=release
case "${1:-}" in
  "" | -*) ;;
  *) preset=$1; shift ;;
esac
jobs=${TARRY_JOBS:-$(nproc)}
export CCACHE_BASEDIR="$PWD"  # the package tests compile the same sources in folders of their own

scripts/install_dependencies.sh test
echo "configure: preset $preset"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
cmake --preset "$preset" > "$log" 2>&1 || { cat "$log"; exit 1; }
echo "build: build/$preset"
cmake --build "build/$preset" -j "$jobs"
if [ "$long" = yes ]; then
  exec scripts/long_test.py --jobs "$jobs" "$@" . "build/$preset"
fi
echo "test: build/$preset"
ctest --test-dir "build/$preset" --output-on-failure -j "$jobs" "$@"
case "$preset$*" in
  release | ci) scripts/test_python.sh "$preset" ;;  # all tests, and in a build that Python can load
esac
