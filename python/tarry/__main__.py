"""python -m tarry: what the machine has, and kernels before they are needed."""

import argparse
import sys

from . import Error, describe_system, warm

_WARM = """\
A manifest is what TARRY_RECORD=file or tarry.Recording(file) wrote. An interrupted run goes on where it stopped.
Exit status 1 if any kernel failed.

  TARRY_RECORD=app.manifest python app.py
  python -m tarry warm app.manifest --arch sm_80,sm_90 --cpu v3 --out app.bundle
  TARRY_CACHE_PATH=app.bundle TARRY_REQUIRE_CACHED=1 python app.py
"""


def _names(text):
    return [name for name in text.split(",") if name]


def _progress(state):
    done = state.hits + state.compiled + state.failed
    text = f"{done} of {state.kernels} kernels" if state.kernels else f"planning, {state.plans_left} left"
    print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def _info(arguments):
    print(describe_system(), end="")


def _cache(arguments):
    lines = describe_system().splitlines()
    print("\n".join(line for line in lines if line.startswith(("cache:", "cache below:"))))


def _warm(arguments):
    watched = sys.stderr.isatty()
    report = warm(arguments.manifest, targets=arguments.arch + arguments.cpu,
                  out=arguments.out, all_extents=arguments.extents == "all", jobs=arguments.jobs,
                  progress=_progress if watched else None)
    if watched:
        print("\r\033[K", end="", file=sys.stderr)
    for failure in report.failures:
        print(f"failed: {failure.kernel or 'plan'} for {failure.target}\n  {failure.ops}\n  {failure.message}",
              file=sys.stderr)
    print(f"{report.evaluates} evaluates, {report.kernels} kernels: {report.hits} there already, {report.compiled} "
          f"compiled, {report.failed} failed; {report.bytes} bytes in {report.seconds:.2f} s")
    return 1 if report.failed else 0


def _parser():
    parser = argparse.ArgumentParser(prog="python -m tarry", description=__doc__)
    commands = parser.add_subparsers(dest="command")
    parser.set_defaults(run=_info)
    commands.add_parser("info", help="devices, compilers and kernel cache; why something is missing"
                        ).set_defaults(run=_info)
    commands.add_parser("cache", help="the directories and bundles of kernels, and how much each holds"
                        ).set_defaults(run=_cache)
    command = commands.add_parser("warm", help="compile the kernels of recorded programs; needs no GPU",
                                  formatter_class=argparse.RawDescriptionHelpFormatter, epilog=_WARM)
    command.add_argument("manifest", nargs="+")
    command.add_argument("--arch", type=_names, default=[], help="GPUs: sm_80,sm_90")
    command.add_argument("--cpu", type=_names, default=[],
                         help="CPUs: v2, v3, v4 (of x86-64), armv8-a; without --arch and --cpu: this machine")
    command.add_argument("--out", default="", help="directory, or FILE.bundle; default TARRY_CACHE_DIR")
    command.add_argument("--extents", choices=["seen", "all"], default="seen",
                         help="extents to build for: those seen, or all classes of them")
    command.add_argument("--jobs", type=int, default=0, help="threads; default one per core")
    command.set_defaults(run=_warm)
    return parser


def main():
    """Runs a command; errors are a line."""
    arguments = _parser().parse_args()
    try:
        return arguments.run(arguments)
    except Error as error:
        print(f"tarry: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
