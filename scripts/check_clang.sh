#!/bin/sh
# Builds everything with clang, where a warning is an error: scripts/check_clang.sh [VERSION [build | tidy]]. The version
# is 16 unless named. Nothing is optimised and nothing runs: clang warns before that. Then clang-tidy of that version,
# where there is one, looks through the library. `build` and `tidy` do one of the two.
set -eu
cd "$(dirname "$0")/.."
version=${1:-16}
steps=${2:-build tidy}
build=build/clang-$version

echo "build: $build"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
rm -rf "$build/CMakeFiles/tarry_objects.dir/Unity"  # a unit that is no longer made has no command for clang-tidy
cmake --preset clang -B "$build" -DCMAKE_C_COMPILER="clang-$version" -DCMAKE_CXX_COMPILER="clang++-$version" \
  > "$log" 2>&1 || { cat "$log"; exit 1; }
case "$steps" in
  *build*) CCACHE_DISABLE=1 cmake --build "$build" -j "$(nproc)" ;;  # a cache would read every source twice
  *) cmake --build "$build" --target generated/prelude_text.cpp generated/matrix_text.cpp > "$log" ;;
esac

case "$steps" in *tidy*) ;; *) exit 0 ;; esac
command -v "clang-tidy-$version" > /dev/null || exit 0
echo "clang-tidy: the library"
find "$build/CMakeFiles/tarry_objects.dir/Unity" -name '*.cxx' -print0 |
  xargs -0 -n 1 -P "$(nproc)" "clang-tidy-$version" -p "$build" --quiet --warnings-as-errors='*' \
    --checks=-bugprone-suspicious-include  # of sources: that is how they are compiled as one
