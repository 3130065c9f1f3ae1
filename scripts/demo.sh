#!/bin/sh
# Builds and runs three examples, two of them beside NumPy: scripts/demo.sh [options of black_scholes, e.g. --device cuda].
# Builds no tests. Its preset is quick to build: sources are compiled 16 at a time, at -O1. Kernels are compiled as ever.
set -eu
cd "$(dirname "$0")/.."

echo "demo: downloads what is missing of 122 MB of Debian packages, then builds the library and three programs."
echo "The first time that takes about 4 CPU-minutes, 2 minutes on two cores; then it starts within seconds."
scripts/install_dependencies.sh demo
echo "configure: preset demo"
cmake --preset demo > /dev/null
echo "build: build/demo"
cmake --build build/demo -j "$(nproc)" --target quickstart black_scholes standard_deviation

build/demo/bin/quickstart
echo
# The interpreter that Debian's python3-numpy belongs to; another python3 on PATH may not have NumPy.
numpy=$(/usr/bin/python3 bench/numpy_black_scholes.py --n 4000000)
build/demo/bin/black_scholes --n 4000000 --numpy "$numpy" "$@"
echo
build/demo/bin/standard_deviation --n 4000000 "$@"
