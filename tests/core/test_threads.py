"""The limit on the matrix library does not outlive the fits that set it, in whatever order they end."""

from threading import Barrier, Event, Thread

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController, threadpool_limits

from protolearn.core.threads import Threads, chunk_threads


def blas_threads():
    return [library.num_threads for library in ThreadpoolController().select(user_api="blas").lib_controllers]


def test_overlapping_users_restore_the_limit():
    np.ones((2, 2)) @ np.ones((2, 2))
    before = blas_threads()
    inside, first_left, held = Barrier(2), Event(), []

    def leave_first():
        with chunk_threads():
            inside.wait()
        first_left.set()

    def leave_last():
        with chunk_threads():
            inside.wait()
            first_left.wait()
            held.extend(blas_threads())

    threads = [Thread(target=leave_first), Thread(target=leave_last)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(held) == {1}  # as long as anyone needs it
    assert blas_threads() == before
    with chunk_threads():
        assert set(blas_threads()) == {1}
    assert blas_threads() == before


def in_a_thread(function):
    thread = Thread(target=function)
    thread.start()
    thread.join()


def test_the_limit_holds_in_any_thread_after_it_held_in_another():
    before, held = blas_threads(), []

    def hold():
        with chunk_threads():
            held.append(blas_threads())

    for run in (hold, lambda: in_a_thread(hold), hold):
        run()
        assert set(held[-1]) == {1}
        assert blas_threads() == before


def test_the_last_user_lifts_the_limit_whoever_has_set_it():
    before = blas_threads()
    first, last = chunk_threads(), chunk_threads()
    in_a_thread(first.__enter__)
    last.__enter__()
    in_a_thread(lambda: first.__exit__(None, None, None))
    assert set(blas_threads()) == {1}
    in_a_thread(lambda: last.__exit__(None, None, None))
    assert blas_threads() == before


def test_a_limit_of_the_caller_is_lifted_by_the_caller():
    """A fit in another thread, in between, takes nothing away from the thread that has set a limit."""
    before = blas_threads()

    def hold():
        with chunk_threads():
            pass

    with threadpool_limits(1, user_api="blas"):
        in_a_thread(hold)
        assert set(blas_threads()) == {1}
    assert blas_threads() == before


def test_number_of_threads():
    with threadpool_limits(1, user_api="blas"), chunk_threads() as allowed:
        assert allowed == 1
    with chunk_threads(3) as given, chunk_threads() as nested:
        assert (given, nested) == (3, 1)


@pytest.mark.pairwise(n_threads=[1, 2, 5], n_rows=[0, 1, 7, 100], least=[1, 3, 1000])
def test_loops_reach_each_row_once(n_threads, n_rows, least):
    done, parts = np.zeros(n_rows, int), []

    def loop(before, first, last, after):
        assert (before, after) == ("before", "after")
        parts.append((first, last))
        done[first:last] += 1

    Threads(n_threads, least=least).over(n_rows, loop, "before", ..., "after")
    assert (done == 1).all()
    assert len(parts) <= max(1, min(n_threads, n_rows // least))


@pytest.mark.parametrize("n_threads", [1, 2, 3, 7])
@pytest.mark.parametrize("n_rows", [0, 1, 10, 11, 100])
def test_loops_are_parted_at_multiples_of_a_step(n_threads, n_rows):
    parts = []
    Threads(n_threads, least=1).over(n_rows, lambda first, last: parts.append((first, last)), ..., step=5)
    starts, stops = zip(*sorted(parts))
    assert all(start % 5 == 0 for start in starts)
    assert (0, *stops) == (*starts, n_rows)


def test_errors_in_threads_are_raised():
    def fail(first, last):
        if last == 10:
            raise ValueError("the last row")

    with pytest.raises(ValueError, match="the last row"):
        Threads(2, least=1).over(10, fail, ...)


@pytest.mark.pairwise(n_rows=[0, 1, 37, 200], n_threads=[1, 3], step=[1, 8], most=[None, 1, 10, 500])
def test_parts_hold_every_row_once_and_are_as_short_as_asked(n_rows, n_threads, step, most):
    done, sizes = np.zeros(n_rows, int), []

    def count(first, last):
        assert first % step == 0
        done[first:last] += 1
        sizes.append(last - first)

    Threads(n_threads, least=10).over(n_rows, count, ..., step=step, most=most)
    assert (done == 1).all()
    assert max(sizes) <= max(step, 2 * (most or n_rows))


def test_no_part_still_runs_when_one_has_failed():
    begun, ended = [], []

    def fail_first(first, last):
        begun.append(first)
        if first == 0:
            raise ZeroDivisionError
        Event().wait(0.05)
        ended.append(first)

    with pytest.raises(ZeroDivisionError):
        Threads(2, least=1).over(40, fail_first, ..., most=10)
    assert len(ended) == len(begun) - 1


@pytest.mark.parametrize("way", [Threads.map, Threads.collect])
@pytest.mark.parametrize("n_threads", [1, 3])
def test_results_come_in_order_and_nothing_runs_after_an_error(n_threads, way):
    assert list(way(Threads(n_threads), lambda part: part**2, range(20))) == [part**2 for part in range(20)]
    started, ended = [], []

    def work(part):
        started.append(part)
        if part == 2:
            raise ValueError("part 2")
        ended.append(part)

    with pytest.raises(ValueError, match="part 2"):
        list(way(Threads(n_threads), work, range(1000)))
    assert sorted(started) == sorted([*ended, 2])


@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_work_beside_a_loop_is_done_once_and_all_rows_as_well(n_threads):
    threads, rows, beside = Threads(n_threads, least=10), np.zeros(1000, int), []

    def count(first, last, rows):
        rows[first:last] += 1

    threads.over(len(rows), count, ..., rows, beside=lambda: beside.append(True))
    assert (rows == 1).all()
    assert beside == [True]


def test_work_beside_a_loop_may_use_the_same_threads():
    """A part of shared work is not shared again: with all threads waiting for one another, none would go on."""
    threads, rows, inner = Threads(2, least=10), np.zeros(1000, int), np.zeros(1000, int)

    def count(first, last, rows):
        threads.collect(abs, range(3))
        rows[first:last] += 1

    threads.over(len(rows), count, ..., rows, beside=lambda: threads.over(len(inner), count, ..., inner))
    assert (rows == 1).all()
    assert (inner == 1).all()
    assert list(threads.map(lambda i: list(threads.map(abs, [i, -i])), [1, 2])) == [[1, 1], [2, 2]]


def test_an_error_of_the_work_beside_a_loop_is_raised():
    def fail():
        raise ValueError("beside")

    with pytest.raises(ValueError, match="beside"):
        Threads(2, least=10).over(100, lambda first, last: None, ..., beside=fail)
