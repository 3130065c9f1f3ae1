#!/bin/sh
# Builds the examples and runs them beside NumPy: scripts/demo.sh [options of black_scholes, e.g. --device cuda].
set -eu
cd "$(dirname "$0")/.."

scripts/install_dependencies.sh
cmake --preset release > /dev/null
cmake --build build/release -j "$(nproc)" --target black_scholes standard_deviation

# The interpreter that Debian's python3-numpy belongs to; another python3 on PATH may not have NumPy.
numpy=$(/usr/bin/python3 bench/numpy_black_scholes.py --n 4000000)
build/release/bin/black_scholes --n 4000000 --numpy "$numpy" "$@"
echo
build/release/bin/standard_deviation --n 4000000 "$@"
