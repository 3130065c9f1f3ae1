#!/bin/sh
# Builds and runs the address, undefined and thread sanitizer presets: check_sanitizers.sh [PRESET...] [-- ctest arguments].
# Each preset holds planted bugs that its sanitizer must report, so a run that checks nothing fails.
set -eu
cd "$(dirname "$0")/.."

presets=""
while [ $# -gt 0 ]; do
  if [ "$1" = -- ]; then
    shift
    break
  fi
  presets="$presets $1"
  shift
done
for preset in ${presets:-asan ubsan tsan}; do
  scripts/test.sh "$preset" "$@"
done
