"""`stoker pack` and `stoker index` killed: nothing committed is lost, nothing has its name and is not whole, and the same
command then ends with the files that an undisturbed one leaves."""

import os
import random
import shutil

import pytest

from file_faults import careless_renames, files_below
from jobs import JOBS, JOURNAL, Pack, undisturbed

KILLS = 300 if os.environ.get("STOKER_TEST_FULL") else 20
MOMENTS = ("kill_before", "kill_during", "kill_after")
THREADS = (1, 2, 4)


def state(path):
    facts = path.stat()
    return facts.st_ino, facts.st_mtime_ns, facts.st_size


def check_killed(job, out, whole, killed):
    """What holds of the folder that a killed job leaves. Returns the files that are never to be written again."""
    assert killed.killed and killed.calls[-1].result == "killed"
    for name, content in files_below(out).items():
        if name in whole:
            assert content == whole[name], f"{name} has its name and is not whole"
        else:
            assert name.endswith(".partial") or name == JOURNAL, f"{name} is left"
    return {path: state(path) for path in job.committed(out)}


def check_rerun(job, out, whole, threads, committed):
    rerun = job.run(out, threads)
    assert (rerun.status, rerun.err) == (0, "")
    assert files_below(out) == whole
    for path, before in committed.items():
        assert state(path) == before, f"{path.name} was there and was made again"


@pytest.fixture(params=JOBS.values(), ids=JOBS)
def job(request, stoker):
    return request.param(stoker, request.getfixturevalue(request.param.source))


def test_the_threads_change_nothing_and_all_is_on_disk_before_it_has_its_name(job, tmp_path):
    _, whole = undisturbed(job, tmp_path / "whole")
    for threads in THREADS:
        run, files = undisturbed(job, tmp_path / f"threads-{threads}", threads=threads)
        assert files == whole
        assert careless_renames(run.calls) == []
        assert run.count(job.commits[0]) >= 5
        assert all(run.count(target) >= 1 for target in job.commits)


def test_a_kill_at_any_moment_loses_nothing(job, tmp_path):
    run, whole = undisturbed(job, tmp_path / "whole")
    first = next(call.number for call in run.calls if call.name == "write" and str(tmp_path / "whole/") in call.path)
    last = max(call.number for call in run.calls if call.name == "rename")
    rng = random.Random(1)
    histogram = [0] * 10
    for kill in range(KILLS):
        # Nine in ten spread evenly from the first byte written to the last rename, the others anywhere.
        if kill % 10 < 9:
            number = first + (last - first) * (kill - kill // 10) // (KILLS * 9 // 10 - 1)
        else:
            number = rng.randint(1, len(run.calls))
        if first <= number <= last:
            histogram[10 * (number - first) // (last - first + 1)] += 1
        out = tmp_path / f"kill-{kill}"
        job.prepare(out)
        killed = job.run(out, rng.choice(THREADS), fault=f"{MOMENTS[kill % 3]} {number}")
        committed = check_killed(job, out, whole, killed)
        check_rerun(job, out, whole, rng.choice(THREADS), committed)
        shutil.rmtree(out, ignore_errors=True)
    print(f"{job.name}: {KILLS} kills at {len(run.calls)} calls, {sum(histogram)} of them from the first byte written (call "
          f"{first}) to the last rename (call {last}); by tenths of that: {histogram}")
    assert sum(histogram) >= 0.8 * KILLS
    assert all(histogram)


def test_a_kill_at_every_commit_loses_nothing(job, tmp_path):
    run, whole = undisturbed(job, tmp_path / "whole")
    for target in job.commits:
        times = run.count(target)
        for number in {1, (times + 1) // 2, times}:
            for moment in ("kill_before", "kill_after"):
                out = tmp_path / f"{target.replace('/', '_')}-{number}-{moment}"
                job.prepare(out)
                killed = job.run(out, 2, fault=f"{moment} {number} {target}")
                check_rerun(job, out, whole, 1, check_killed(job, out, whole, killed))


def test_a_job_that_is_killed_again_and_again_comes_to_its_end(job, tmp_path):
    run, whole = undisturbed(job, tmp_path / "whole")
    out = tmp_path / "out"
    job.prepare(out)
    ends = [call.number for call in run.calls if call.name == "rename" and call.path.endswith((".tar", ".sidx"))]
    # Enough for any one shard: a call that never gets one done would never come to its end.
    at = max(end - begin for begin, end in zip([0, *ends], ends)) + 4
    kills = 0
    killed = job.run(out, fault=f"kill_during {at}")
    while killed.killed:
        kills += 1
        check_killed(job, out, whole, killed)
        killed = job.run(out, THREADS[kills % 3], fault=f"kill_during {at}")
    assert killed.status == 0 and files_below(out) == whole
    assert kills >= 3


def test_a_torn_line_of_the_journal_costs_its_own_shard_and_no_later_one(stoker, tars, tmp_path):
    job = Pack(stoker, tars)
    _, whole = undisturbed(job, tmp_path / "whole")
    out = tmp_path / "out"
    committed = {}
    for fault, shards in ((f"kill_during 3 write:*/{JOURNAL}", 1), (f"kill_after 2 fsync:*/{JOURNAL}", 3)):
        killed = job.run(out, fault=fault)
        assert all(state(path) == before for path, before in committed.items())
        committed = check_killed(job, out, whole, killed)
        assert len(committed) == shards
    check_rerun(job, out, whole, 2, committed)
