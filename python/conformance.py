#!/usr/bin/env python3
"""Runs the array API standard's own test suite on tarry.

usage: conformance.py SUITE [--max-examples N] [--report FILE] [pytest arguments]

SUITE is a checkout of data-apis/array-api-tests at the commit below, with its requirements installed; PYTHONPATH says
where tarry is. Every failure must be about a function in NOT_YET; the exit status is 1 otherwise, and also where a
function of that list is there by now.
"""
import argparse
import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

sys.path.pop(0)  # this folder has the sources of the package, and no module
import tarry  # noqa: E402

COMMIT = "55fcc60179efa2680ddd6cd926ddf17b83530e2b"

# Names of the standard that are not there yet, by what they wait for; with brackets or colons: ends of tests' names;
# with an open parenthesis: parts of tests' names.
NOT_YET = {
    "complex numbers": ["complex64", "complex128", "real(x", "imag(x", "vecdot_conj", "::test_vecdot",
                        "::test_linalg_vecdot"],
    "Fourier transforms": ["fft", "ifft", "fftn", "ifftn", "rfft", "irfft", "rfftn", "irfftn", "hfft", "ihfft",
                           "fftfreq", "rfftfreq", "fftshift", "ifftshift"],
}
NAMES = set(dir(tarry)) | set(dir(tarry.linalg))


def words(test):
    """The names in the name of a test: of its function and its parameters."""
    function = re.search(r"::test_(\w+)", test)
    return set(re.split(r"[^\w]+", test)) | ({function.group(1)} if function else set())


def cause(test):
    """The entry of NOT_YET that a test is about, or None."""
    def about(name):
        if "(" in name:
            return name in test
        return test.endswith(name) if ":" in name or "[" in name else name in words(test)

    return next((why for why, names in NOT_YET.items() if any(about(name) for name in names)), None)


def run(suite, examples, report, rest):
    command = [sys.executable, "-m", "pytest", "array_api_tests", f"--max-examples={examples}", "--disable-deadline",
               "-q", "-p", "no:cacheprovider", "--tb=short", f"--junitxml={report}", *rest]
    environment = {**os.environ, "ARRAY_API_TESTS_MODULE": "tarry", "ARRAY_API_TESTS_VERSION": "2024.12",
                   "ARRAY_API_TESTS_SKIP_DTYPES": "complex64,complex128", "PYTHONDONTWRITEBYTECODE": "1",
                   "HYPOTHESIS_STORAGE_DIRECTORY": str(report.parent / "hypothesis")}  # nothing is left in the suite
    subprocess.run(command, cwd=suite, env=environment, check=False, stdout=sys.stderr)


def results(report):
    """(test, passed, skipped or failed, first line of the message) of a report."""
    for case in xml.etree.ElementTree.parse(report).iter("testcase"):
        failure = next((case.find(tag) for tag in ("failure", "error") if case.find(tag) is not None), None)
        outcome = "failed" if failure is not None else "skipped" if case.find("skipped") is not None else "passed"
        message = (failure.get("message") or "").splitlines() if failure is not None else []
        yield f"{case.get('classname')}::{case.get('name')}", outcome, message[0] if message else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite", type=pathlib.Path)
    parser.add_argument("--max-examples", type=int, default=20)
    parser.add_argument("--report", type=pathlib.Path, help="keep pytest's report there; read one that exists")
    arguments, rest = parser.parse_known_args()
    with tempfile.TemporaryDirectory() as folder:
        report = (arguments.report or pathlib.Path(folder) / "report.xml").absolute()
        if not report.exists():
            run(arguments.suite, arguments.max_examples, report, rest)
        found = list(results(report))

    counts = collections.Counter(outcome for _, outcome, _ in found)
    waiting = collections.Counter(cause(test) for test, outcome, _ in found if outcome == "failed")
    wrong = [(test, message) for test, outcome, message in found if outcome == "failed" and cause(test) is None]
    stale = [name for names in NOT_YET.values() for name in names if name in NAMES]
    for name in stale:
        print(f"NOT_YET names {name}, which is there")
    for why, number in sorted((why, number) for why, number in waiting.items() if why):
        print(f"waits for {why}: {number} tests")
    for test, message in wrong:
        print(f"FAILED {test}: {message}")
    print(f"array API 2024.12: {counts['passed']} passed, {counts['skipped']} skipped, {counts['failed']} failed, "
          f"{len(wrong)} of them for no named reason")
    return 1 if wrong or stale or not counts["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
