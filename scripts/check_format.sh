#!/bin/sh
# Checks the layout of every C++ file against .clang-format: scripts/check_format.sh [--fix].
# Versions of clang-format differ, so one is pinned; it is installed into build/clang-format.
set -eu
cd "$(dirname "$0")/.."
version=19.1.7
tool=build/clang-format/bin/clang-format
[ "$("$tool" --version 2> /dev/null | grep -o '[0-9.]*' | head -n 1)" = "$version" ] || {
  python3 -m venv build/clang-format
  build/clang-format/bin/pip install --quiet "clang-format==$version"
}
case "${1:-}" in
  --fix) mode=-i ;;
  "") mode="--dry-run --Werror" ;;
  *) echo "usage: scripts/check_format.sh [--fix]" >&2; exit 2 ;;
esac
git ls-files '*.h' '*.cpp' | xargs "$tool" $mode
