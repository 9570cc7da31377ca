"""`stoker pack` and `stoker index` where the disk is full or failing or must not be written, and where their data change
under them: one sentence that names the file, nothing half-written, and the same command ends well once it can."""

import json
import os
import shutil

import pytest

from file_faults import files_below
from jobs import JOBS, JOURNAL, Index, Pack, cache_of, half_written, undisturbed

FULL = bool(os.environ.get("STOKER_TEST_FULL"))
REASONS = {"enospc": "No space left on device", "eio": "Input/output error", "erofs": "Read-only file system"}


@pytest.fixture(params=JOBS.values(), ids=JOBS)
def job(request, stoker):
    return request.param(stoker, request.getfixturevalue(request.param.source))


def check_refused(out, run, reason):
    sentence = run.sentence()
    assert str(out) in sentence and reason in sentence, sentence
    assert half_written(out) == []


@pytest.mark.parametrize("later_too", ["", "+"])
@pytest.mark.parametrize("error", ["enospc", "eio"])
def test_a_call_that_fails_is_told_and_nothing_is_left_half_written(job, tmp_path, error, later_too):
    run, whole = undisturbed(job, tmp_path / "whole")
    every = 1 if FULL else 5 if (error, later_too) == ("enospc", "") else 11
    for call in run.calls[::every]:
        out = tmp_path / f"{error}-{call.number}{later_too}"
        job.prepare(out)
        failed = job.run(out, fault=f"{error} {call.number}{later_too}")
        # What is on disk is not lost by closing; removing does not fail; and the cache can be done without.
        if failed.status == 0:
            assert call.name in ("close", "unlink") or str(cache_of(tmp_path / "whole")) in call.path, call
            assert files_below(out) == whole
            continue
        check_refused(out, failed, REASONS[error])
        again = job.run(out)
        assert (again.status, again.err) == (0, "")
        assert files_below(out) == whole


def test_a_target_that_must_not_be_written_is_named(job, tmp_path):
    out = tmp_path / "out"
    job.prepare(out)
    before = files_below(out) if out.exists() else {}
    check_refused(out, job.run(out, fault="erofs 1+"), REASONS["erofs"])
    assert (files_below(out) if out.exists() else {}) == before


def test_short_writes_change_nothing(job, tmp_path):
    _, whole = undisturbed(job, tmp_path / "whole")
    out = tmp_path / "short"
    job.prepare(out)
    run = job.run(out, 2, fault="short 1+")
    assert (run.status, run.err) == (0, "")
    assert files_below(out) == whole


def test_a_write_that_a_signal_interrupts_is_made_again(job, tmp_path):
    run, whole = undisturbed(job, tmp_path / "whole")
    writes = run.count(f"write:{tmp_path}/whole/*")
    assert writes > 5
    for number in (1, 2, writes):
        out = tmp_path / f"interrupted-{number}"
        job.prepare(out)
        again = job.run(out, fault=f"eintr {number} write:{out}/*")
        assert (again.status, again.err) == (0, "")
        assert any(call.failed for call in again.calls)
        assert files_below(out) == whole


def test_a_journal_that_cannot_be_removed_is_named_and_stands_in_nobodys_way(stoker, tars, tmp_path):
    job = Pack(stoker, tars)
    _, whole = undisturbed(job, tmp_path / "whole")
    out = tmp_path / "out"
    assert JOURNAL in job.run(out, fault=f"eio 1 unlink:*{JOURNAL}").sentence()
    assert job.run(out).status == 0
    assert files_below(out) == whole


def truncate(path):
    os.truncate(path, path.stat().st_size // 2)


def lengthen(path):
    with open(path, "ab") as file:
        file.write(bytes(512))


def replace(path):
    """By other bytes, as many."""
    other = path.with_suffix(".other")
    other.write_bytes(bytes(reversed(path.read_bytes())))
    other.replace(path)


# Moments between looking at the data and committing what was made of them.
MOMENTS = [(Pack, f"open:*/{JOURNAL}"), (Pack, "open:*/shard-000000.tar.partial"),
           (Pack, "open:*/shard-000005.tar.partial"), (Index, "open:*/in-0.tar.sidx.partial")]


def named(job, run):
    """What the command says of the shard that it could not do: index goes on to the others, unless it is gone."""
    if job.name == "index" and not run.err:
        assert run.status == 1
        found = json.loads(run.out)
        (broken,) = found["broken"]
        assert found["shards"] == 5
        return broken["reason"]
    return run.sentence()


@pytest.mark.parametrize("change", [truncate, lengthen, replace, os.remove])
@pytest.mark.parametrize("kind, moment", MOMENTS, ids=lambda value: getattr(value, "name", value))
def test_a_shard_that_changes_meanwhile_is_named(stoker, tars, tmp_path, kind, moment, change):
    data, out = shutil.copytree(tars, tmp_path / "data"), tmp_path / "out"
    job = kind(stoker, data)
    job.prepare(out)
    victim = (out if kind is Index else data) / "in-0.tar"
    run = job.run(out, fault=f"stop_before 1 {moment}", while_stopped=lambda: change(victim))
    assert str(victim) in named(job, run)
    assert half_written(out) == []
    assert not (out / "manifest.json").exists()
    assert not victim.with_name(f"{victim.name}.sidx").exists()


@pytest.mark.parametrize("change", [truncate, lengthen, os.remove])
def test_a_loose_file_that_changes_meanwhile_is_named(stoker, loose, tmp_path, change):
    data, out = shutil.copytree(loose, tmp_path / "data"), tmp_path / "out"
    victim = sorted(data.rglob("*.png"))[-1]
    run = Pack(stoker, data).run(out, fault=f"stop_before 1 open:*/{JOURNAL}", while_stopped=lambda: change(victim))
    assert victim.name in run.sentence()
    assert half_written(out) == []
    assert not (out / "manifest.json").exists()
