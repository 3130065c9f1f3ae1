#!/bin/sh
# Builds the Python module from a preset's objects and tests it: scripts/test_python.sh [PRESET] [pytest arguments].
# Needs pip to reach an index for nanobind, NumPy and pytest; says so where it does not, and tests nothing then.
set -eu
cd "$(dirname "$0")/.."
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
fi
echo "python: build/$preset/python"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
cmake --preset "$preset" -DTARRY_BUILD_PYTHON=ON -DPython_EXECUTABLE="$venv/bin/python" > "$log" 2>&1 ||
  { cat "$log"; exit 1; }
cmake --build "$build" --target tarry_python -j "${TARRY_JOBS:-$(nproc)}"
export PYTHONPATH="$build/python" TARRY_CACHE_DIR="$build/tests/kernel_cache"
"$venv/bin/python" -m pytest -q -p no:cacheprovider python/tests "$@"
for example in examples/python/*.py; do
  echo "python: $example"
  "$venv/bin/python" "$example" > "$log" || { cat "$log"; exit 1; }
done
