#!/bin/sh
# Builds the Python module from a preset's objects and tests it: scripts/test_python.sh [PRESET] [pytest arguments].
# Needs pip to reach an index for nanobind, NumPy and pytest; says so where it does not, and tests nothing then.
# --prepare [PRESET] only installs them, which can go on beside a build.
# The pictures that the examples draw are left in build/PRESET/gallery.
set -eu
cd "$(dirname "$0")/.."
root=$PWD
prepare=no
if [ "${1:-}" = --prepare ]; then
  prepare=yes
  shift
fi
preset=${1:-release}
[ $# -eq 0 ] || shift
build=$PWD/build/$preset
venv=$build/venv

if ! "$venv/bin/python" -c "import nanobind, numpy, pytest, hypothesis" 2> /dev/null; then
  "${TARRY_PYTHON:-python3}" -m venv "$venv"
  if ! "$venv/bin/pip" install -q --disable-pip-version-check "nanobind>=3,<4" numpy pytest hypothesis; then
    echo "python: not tested, since pip reaches no index to install nanobind, NumPy and pytest from"
    exit 0
  fi
  # Libraries that take arrays of the standard; without them their tests say that they did not run.
  "$venv/bin/pip" install -q --disable-pip-version-check array-api-compat array-api-extra scipy scikit-learn \
    "dask[array]" distributed ||
    echo "python: libraries beside NumPy are not tested, since pip did not install them"
  "$venv/bin/pip" install -q --disable-pip-version-check numba mpi4py mpich mypy ||
    echo "python: Numba, MPI and the stubs are not tested, since pip did not install what that takes"
fi
"$venv/bin/python" -c "import matplotlib" 2> /dev/null ||
  "$venv/bin/pip" install -q --disable-pip-version-check --retries 1 matplotlib ||
  echo "python: the examples draw no pictures, since pip did not install Matplotlib"
[ "$prepare" = no ] || exit 0
echo "python: build/$preset/python"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
cmake --preset "$preset" -DTARRY_BUILD_PYTHON=ON -DPython_EXECUTABLE="$venv/bin/python" > "$log" 2>&1 ||
  { cat "$log"; exit 1; }
jobs=${TARRY_JOBS:-$(nproc)}
cmake --build "$build" --target tarry_python tarry_stubs -j "$jobs"
unset TARRY_JOBS TARRY_PYTHON  # the library would say that they are no switches of its own
export PYTHONPATH="$build/python" TARRY_CACHE_DIR="$build/tests/kernel_cache"
"$venv/bin/python" -m pytest -q -p no:cacheprovider python/tests "$@"
rm -rf "$build/gallery"
mkdir -p "$build/gallery"
cd "$build/gallery"  # where the examples draw
export MPLBACKEND=Agg
# shellcheck disable=SC2016  # the inner shell's
printf '%s\n' "$root"/examples/python/*.py | xargs -n 1 -P "$jobs" sh -c '
  output=$("$0" "$1" 2>&1) || { echo "$output"; echo "python: $1 failed"; exit 1; }
  echo "python: examples/python/${1##*/}"' "$venv/bin/python"
echo "python: $(find . -name "*.png" | wc -l) pictures in build/$preset/gallery"
