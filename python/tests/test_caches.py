"""python -m tarry, manifests and the counters of the kernel cache."""
import subprocess
import sys

import tarry as ta


def tool(*arguments):
    return subprocess.run([sys.executable, "-m", "tarry", *arguments], capture_output=True, text=True, check=False)


def test_the_tool_says_what_it_finds():
    for arguments in ((), ("info",)):
        done = tool(*arguments)
        assert done.returncode == 0 and "default device: " in done.stdout and "c compiler: " in done.stdout
    assert tool("cache").stdout.startswith("cache: ")
    assert tool("other").returncode == 2 and "invalid choice" in tool("other").stderr


def test_the_tool_makes_the_kernels_of_a_recorded_program(tmp_path):
    manifest, bundle = tmp_path / "app.manifest", tmp_path / "app.bundle"
    with ta.Recording(str(manifest)):
        ta.evaluate(ta.exp(ta.zeros(1000)) + 3)
    done = tool("warm", str(manifest), "--cpu", "v2", "--out", str(bundle))
    assert done.returncode == 0 and "1 compiled, 0 failed" in done.stdout, done.stderr
    assert bundle.stat().st_size > 0
    assert "1 there already, 0 compiled" in tool("warm", str(manifest), "--cpu", "v2", "--out", str(bundle)).stdout


def test_errors_of_the_tool_are_a_line(tmp_path):
    done = tool("warm", str(tmp_path / "none.manifest"))
    assert done.returncode == 1 and done.stderr.startswith("tarry: ") and done.stderr.count("\n") == 1


def test_warm_reports_and_tells_how_far_it_is(tmp_path):
    manifest, seen = str(tmp_path / "app.manifest"), []
    with ta.Recording(manifest):
        ta.evaluate(ta.sqrt(ta.ones(100)) * 2)
    report = ta.warm([manifest], targets=["x86-64-v2"], out=str(tmp_path / "kernels"), progress=seen.append)
    assert (report.evaluates, report.kernels, report.compiled, report.failures) == (1, 1, 1, [])
    assert seen[-1].compiled == 1


def test_the_cache_counts():
    before = ta.cache_counters()
    ta.evaluate(ta.cos(ta.ones(10)) - 7)
    after = ta.cache_counters()
    assert after.compiles + after.disk_hits + after.memory_hits > (
        before.compiles + before.disk_hits + before.memory_hits)
    assert all(miss.kernel and miss.key for miss in ta.cache_misses())
