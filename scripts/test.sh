#!/bin/sh
# Builds and tests everything: scripts/test.sh [PRESET] [ctest arguments]. The preset is `release` unless named.
set -eu
cd "$(dirname "$0")/.."

preset=release
case "${1:-}" in
  "" | -*) ;;
  *) preset=$1; shift ;;
esac
jobs=${TARRY_JOBS:-$(nproc)}

scripts/install_dependencies.sh
echo "configure: preset $preset"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
cmake --preset "$preset" > "$log" 2>&1 || { cat "$log"; exit 1; }
echo "build: build/$preset"
cmake --build "build/$preset" -j "$jobs"
echo "test: build/$preset"
ctest --test-dir "build/$preset" --output-on-failure -j "$jobs" "$@"
