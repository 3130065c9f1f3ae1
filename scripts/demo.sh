#!/bin/sh
# Builds two examples and runs them beside NumPy: scripts/demo.sh [options of black_scholes, e.g. --device cuda]. Builds no tests.
set -eu
cd "$(dirname "$0")/.."

scripts/install_dependencies.sh demo
echo "configure: preset demo"
cmake --preset demo > /dev/null
echo "build: build/demo (the first time about 11 CPU-minutes)"
cmake --build build/demo -j "$(nproc)" --target quickstart black_scholes standard_deviation

build/demo/bin/quickstart
echo
# The interpreter that Debian's python3-numpy belongs to; another python3 on PATH may not have NumPy.
numpy=$(/usr/bin/python3 bench/numpy_black_scholes.py --n 4000000)
build/demo/bin/black_scholes --n 4000000 --numpy "$numpy" "$@"
echo
build/demo/bin/standard_deviation --n 4000000 "$@"
