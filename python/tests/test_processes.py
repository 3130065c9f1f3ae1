"""Threads, processes that come of others, and how a process ends."""
import subprocess
import sys
import threading

import numpy as np
import tarry as ta


def run(program, *arguments):
    command = [sys.executable, "-W", "ignore:This process", "-c", program]  # of fork beside threads
    done = subprocess.run([*command, *arguments], capture_output=True, text=True, check=False, timeout=120)
    return done.returncode, done.stdout, done.stderr


def test_threads_evaluate_what_they_share_at_once():
    x = ta.arange(50_000, dtype=ta.float64)
    shared = ta.sqrt(x * x + 1)
    expected = float(np.sum(np.sqrt(np.arange(50_000.0) ** 2 + 1)))
    found, start = [None] * 8, threading.Barrier(8)

    def work(i):
        start.wait()
        found[i] = [float(ta.sum(shared + k)) for k in range(20)]

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(row == found[0] for row in found)
    np.testing.assert_allclose(found[0], [expected + 50_000 * k for k in range(20)], rtol=1e-12)


def test_a_thread_evaluates_while_another_runs_python():
    with ta.Scope(device="cpu"):
        x = ta.sum(ta.sin(ta.arange(20_000_000, dtype=ta.float64)))
    turns, done = 0, threading.Event()
    thread = threading.Thread(target=lambda: (x.evaluate(), done.set()))
    thread.start()
    while not done.is_set():
        turns += 1
    thread.join()
    assert turns > 100  # with the lock held all the time it would be a few


def test_a_child_that_was_forked_before_the_first_use_computes():
    assert run("import os, tarry as ta\n"
               "child = os.fork()\n"
               "assert int(ta.sum(ta.arange(10))) == 45\n"
               "if child: print(os.waitpid(child, 0)[1])") == (0, "0\n", "")


def test_a_child_that_was_forked_later_computes_or_is_told_why_not():
    code, out, errors = run(
        "import os, tarry as ta\n"
        "x = ta.arange(100_000, dtype=ta.float64)\n"
        "assert float(ta.sum(x)) > 0\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    try: print(float(ta.sum(x * 2)) == 9999900000.0, flush=True)\n"
        "    except ta.Error as e: print('fork' in str(e), flush=True)\n"
        "    os._exit(0)\n"
        "assert os.waitpid(child, 0)[1] == 0 and float(ta.sum(x * 3)) == 14999850000.0")
    assert (code, out, errors) == (0, "True\n", "")


def test_spawned_processes_take_and_give_arrays(tmp_path):
    program = tmp_path / "spawn.py"
    program.write_text("import multiprocessing, tarry as ta\n"
                       "def work(x): return ta.sum(x * x)\n"
                       "if __name__ == '__main__':\n"
                       "    with multiprocessing.get_context('spawn').Pool(2) as pool:\n"
                       "        print([int(y) for y in pool.map(work, [ta.arange(n) for n in (3, 4, 5)])])\n")
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, check=False, timeout=120)
    assert (done.stdout, done.stderr) == ("[5, 14, 30]\n", "")


def test_a_process_ends_in_silence_with_arrays_in_globals_and_in_running_threads():
    assert run("import threading, numpy as np, tarry as ta\n"
               "lazy = ta.asarray(np.ones(9), copy=False) + 1\n"
               "evaluated = (lazy * 2).evaluate()\n"
               "def work():\n"
               "    while True: ta.sum(lazy * 3).evaluate()\n"
               "threading.Thread(target=work, daemon=True).start()\n"
               "class Cycle: pass\n"
               "c = Cycle(); c.self, c.array = c, lazy") == (0, "", "")


def test_an_exception_that_ends_the_process_is_all_that_it_says():
    code, out, errors = run("import tarry as ta; ta.zeros(3) + ta.zeros(4)")
    assert code == 1 and out == "" and errors.splitlines()[-1].startswith("tarry.InvalidShape: ")


def test_warnings_are_in_the_words_of_python():
    code, out, errors = run("import tarry as ta\n"
                            "with ta.Scope(budget=20):\n"
                            "    x, y = ta.ones(4), ta.ones(3)\n"
                            "    for _ in range(100): x, y = x + 1, y * x[0]")
    assert (code, out) == (0, "") and errors.startswith("[tarry] warning: 20 operations")
    assert errors.endswith("allow more with tarry.Scope(budget=...)\n")


def test_importing_needs_neither_numpy_nor_a_device():
    assert run("import sys, tarry; print('numpy' in sys.modules)") == (0, "False\n", "")


def test_a_process_ends_in_silence_while_threads_evaluate_and_replay():
    for _ in range(6):
        assert run("import threading, time, tarry as ta\n"
                   "x = ta.ones(1000)\n"
                   "f = ta.function(lambda x: ta.sum(x * 2))\n"
                   "def work():\n"
                   "    while True: ta.sum(x * 3).evaluate(); f(x); float(ta.max(x))\n"
                   "for _ in range(3): threading.Thread(target=work, daemon=True).start()\n"
                   "time.sleep(.2)") == (0, "", "")
