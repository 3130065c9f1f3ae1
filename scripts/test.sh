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
cmake --preset "$preset" > "configure.$$.log" 2>&1 || { cat "configure.$$.log"; rm -f "configure.$$.log"; exit 1; }
rm -f "configure.$$.log"
echo "build: build/$preset"
cmake --build "build/$preset" -j "$jobs"
echo "test: build/$preset"
ctest --test-dir "build/$preset" --output-on-failure -j "$jobs" "$@"
