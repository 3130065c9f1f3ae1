"""Arrays in files, those worked off in chunks, and who ends that."""
import errno
import os
import signal
import time

import numpy as np
import pytest
import tarry as ta


@pytest.fixture
def streamed(tmp_path):
    """An array that is larger than the memory there is."""
    np.save(tmp_path / "x.npy", np.ones(4 << 20, dtype=np.float32))
    ta.trim("cpu")
    ta.set_memory_limit("cpu", ta.memory_stats("cpu").live + (1 << 20))
    with ta.Scope(device="cpu"):
        yield ta.open_npy(tmp_path / "x.npy")
    ta.set_memory_limit("cpu", 0)


def test_files_are_those_of_numpy(tmp_path):
    a = np.arange(6, dtype=np.int16).reshape(2, 3)
    ta.save_npy(tmp_path / "x.npy", ta.asarray(a))
    np.testing.assert_array_equal(np.load(tmp_path / "x.npy"), a)
    for path in (tmp_path / "x.npy", str(tmp_path / "x.npy"), os.fsencode(tmp_path / "x.npy")):
        np.testing.assert_array_equal(ta.load_npy(path), a)
        np.testing.assert_array_equal(ta.open_npy(path), a)
    with pytest.raises(ValueError, match="No such file"):
        ta.load_npy(tmp_path / "none.npy")
    with pytest.raises(TypeError):
        ta.load_npy(3)


def test_a_file_or_folder_that_is_not_there_is_not_made(tmp_path):
    for work in (lambda: ta.save_npy(tmp_path / "none" / "x.npy", ta.ones(2)), lambda: ta.load_npy(tmp_path / "x.npy"),
                 lambda: ta.open_npy(tmp_path / "x.npy"), lambda: ta.load(tmp_path / "none" / "x.npy")):
        with pytest.raises(FileNotFoundError, match="test_files.py") as caught:
            work()
        assert isinstance(caught.value, ta.MissingFile) and isinstance(caught.value, ValueError)
        assert caught.value.errno == errno.ENOENT
    assert not list(tmp_path.iterdir())


def test_progress_is_told_to_the_block_that_is_left_over(streamed):
    seen = [[], []]
    blocks = [ta.OnProgress(told.append) for told in seen]
    for block in blocks:
        block.__enter__()
    blocks[0].__exit__(None, None, None)
    ta.evaluate(ta.sum(streamed))
    blocks[1].__exit__(None, None, None)
    assert seen[1] and not seen[0]


def test_progress_grows_to_the_whole_and_the_innermost_call_is_told(streamed):
    seen, outer = [], []
    with ta.OnProgress(outer.append):
        with ta.OnProgress(lambda p: seen.append((p.chunks_done, p.chunks))):
            total = ta.sum(streamed * 2)
            report = ta.evaluate(total)
        assert not outer
        ta.evaluate(ta.max(streamed))
    assert seen == [(i + 1, report.counters.chunks) for i in range(report.counters.chunks)] and len(seen) > 4
    assert float(total) == 2.0 * (4 << 20) and outer


def test_whoever_is_told_may_end_it_and_nothing_has_happened(streamed, tmp_path):
    def stop(progress):
        if progress.chunks_done == 2:
            raise LookupError("enough")

    def save():
        ta.save_npy(tmp_path / "y.npy", streamed + 1)

    total = ta.sum(streamed)
    with ta.OnProgress(stop):
        for work in (lambda: ta.evaluate(total), lambda: float(total), save):
            with pytest.raises(LookupError, match="enough"):
                work()
    assert not total.is_evaluated and not (tmp_path / "y.npy").exists()
    assert float(total) == 4 << 20


def test_an_interrupt_ends_an_evaluate_and_leaves_its_arrays_lazy(streamed):
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        for _ in range(200):  # until one comes between two chunks
            total = ta.sum(streamed * 3)
            signal.setitimer(signal.ITIMER_REAL, 0.002)
            with pytest.raises(KeyboardInterrupt):
                ta.evaluate(total)
                time.sleep(10)
            if not total.is_evaluated:
                break
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert not total.is_evaluated and float(total) == 3.0 * (4 << 20)
