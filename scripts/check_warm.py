#!/usr/bin/env python3
"""Records programs on the CPU, warms what they need, and runs them again where nothing may be compiled.

usage: check_warm.py [--bundle FILE] [--arch LIST] [--cpu LIST] [--device NAME] [--run-only] TARRY -- PROGRAM [ARGUMENT...] [-- PROGRAM ...]

Every kernel must compile for every target. The second run reads the bundle from another place, by a read-only file, with
TARRY_REQUIRE_CACHED=1, and the counters that TARRY_LOG=info prints at its end must show no compile. --bundle keeps the
bundle; --run-only takes it from there: so a machine without a GPU records and warms, and one with a GPU runs
(--run-only --device cuda). --device goes into TARRY_DEVICE and replaces what follows --device in a program's arguments.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile


def programs(words):
    commands = [[]]
    for word in words:
        if word == "--":
            commands.append([])
        else:
            commands[-1].append(word)
    return [command for command in commands if command]


def on_device(command, device):
    return [device if before == "--device" else word for before, word in zip([None, *command], command)]


def run(command, settings):
    keep = {name: value for name, value in os.environ.items() if not name.startswith("TARRY_") or name == "TARRY_NVRTC"}
    done = subprocess.run(command, env={**keep, **settings}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return done


def record(commands, manifest):
    for command in commands:
        run(on_device(command, "cpu"), {"TARRY_DEVICE": "cpu", "TARRY_RECORD": str(manifest), "TARRY_CACHE_DIR": "off"})


def warm(tarry, manifest, bundle, options):
    if json.loads(run([tarry, "info", "--json"], {}).stdout)["nvrtc"].startswith("none"):
        print("no NVRTC here: nothing is warmed for " + options.arch)
        options.arch = ""
    done = run([tarry, "warm", str(manifest), "--arch", options.arch, "--cpu", options.cpu, "--out", str(bundle), "--json"], {})
    report = json.loads(done.stdout)
    targets = len([name for name in f"{options.arch},{options.cpu}".split(",") if name])
    if report["failed"] or report["compiled"] != report["kernels"] or report["kernels"] < targets:
        sys.exit(f"not every kernel was made: {report}")
    print(f"warmed {report['kernels']} kernels of {report['evaluates']} evaluates for {targets} targets "
          f"in {report['seconds']:.1f} s: {bundle.stat().st_size} bytes")


def run_cached(command, bundle, device):
    done = run(on_device(command, device), {"TARRY_DEVICE": device, "TARRY_CACHE_DIR": "off", "TARRY_CACHE_PATH": str(bundle),
                                             "TARRY_REQUIRE_CACHED": "1", "TARRY_LOG": "info"})
    counters = re.search(r"(\d+) disk hits, (\d+) compiled", done.stderr)
    if not counters or int(counters[1]) == 0 or int(counters[2]) != 0:
        sys.exit(f"{command[0]} did not run from the bundle alone:\n{done.stderr}")
    print(f"{pathlib.Path(command[0]).name} on {device}: {counters[0]}")


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--bundle", type=pathlib.Path)
    parser.add_argument("--arch", default="sm_80,sm_90,sm_100")
    parser.add_argument("--cpu", default="v3,v4")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--run-only", action="store_true")
    parser.add_argument("tarry")
    split = sys.argv.index("--")
    options = parser.parse_args(sys.argv[1:split])
    commands = programs(sys.argv[split + 1:])
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        bundle = options.bundle or folder / "made.bundle"
        if not options.run_only:
            record(commands, folder / "run.manifest")
            warm(options.tarry, folder / "run.manifest", bundle, options)
        shipped = folder / "shipped" / "kernels.bundle"
        shipped.parent.mkdir()
        shutil.copy(bundle, shipped)
        shipped.chmod(0o444)
        for command in commands:
            run_cached(command, shipped, options.device)


if __name__ == "__main__":
    main()
