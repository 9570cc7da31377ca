"""`stoker synth --format tar` killed at, and refused, every call that changes a file."""

import sys
from pathlib import Path

import pytest

from file_faults import Call, careless_renames, files_below

sys.path.append(str(Path(__file__).resolve().parents[1] / "cli"))
from ordinary_rights import ordinary_rights

SYNTH = ("--kind", "tiny", "--classes", 3, "--format", "tar", "--count", 5)
THREE_SHARDS = (*SYNTH[:-1], 2001)


def undisturbed(stoker, out, args=SYNTH):
    """How synth works, and what it leaves."""
    run = stoker.run("synth", out, *args)
    assert (run.status, run.err) == (0, "")
    return run, files_below(out)


@pytest.fixture
def whole(stoker, tmp_path):
    return undisturbed(stoker, tmp_path / "whole")


def test_the_log_has_every_change_and_shards_are_on_disk_before_and_after_they_have_names(stoker, tmp_path):
    run, files = undisturbed(stoker, tmp_path / "whole", THREE_SHARDS)
    assert careless_renames(run.calls) == []
    assert [call.number for call in run.calls] == list(range(1, len(run.calls) + 1))
    assert run.count("rename") == len(files) == 3
    assert run.calls[0].name == "mkdir"
    written = sum(int(call.result) for call in run.calls if call.name == "write")
    assert written == sum(map(len, files.values()))


def test_renames_that_could_lose_data_are_told():
    sound = [Call(1, "open", "/d/a.partial", "", "3"), Call(2, "write", "/d/a.partial", "", "9"),
             Call(3, "fsync", "/d/a.partial", "", "0"), Call(4, "rename", "/d/a", "/d/a.partial", "0"),
             Call(5, "fsync", "/d", "", "0")]
    assert careless_renames(sound) == []
    for missing in (2, 4):
        assert careless_renames(sound[:missing] + sound[missing + 1:]) == [sound[3]]
    assert careless_renames([sound[0], sound[2], sound[1], *sound[3:]]) == [sound[3]]


@pytest.mark.parametrize("moment", ["kill_before", "kill_after"])
def test_a_kill_leaves_whole_shards_only(stoker, whole, tmp_path, moment):
    run, files = whole
    for number in range(1, len(run.calls) + 1):
        out = tmp_path / f"killed-{number}"
        killed = stoker.run("synth", out, *SYNTH, fault=f"{moment} {number}")
        assert killed.killed and killed.calls[-1].result == "killed"
        left = files_below(out)
        shards = {name: content for name, content in left.items() if name.endswith(".tar")}
        assert shards == {name: files[name] for name in shards}
        assert all(name.endswith((".tar", ".tar.partial")) for name in left)
        assert len(shards) == any(call.name == "rename" for call in killed.calls[:None if moment == "kill_after" else -1])


def test_commit_points_have_names(stoker, tmp_path):
    for number in (1, 3):
        for moment, shards in (("kill_before", number - 1), ("kill_after", number)):
            out = tmp_path / f"{moment}-{number}"
            assert stoker.run("synth", out, *THREE_SHARDS, fault=f"{moment} {number} rename:*.tar").killed
            assert sum(name.endswith(".tar") for name in files_below(out)) == shards


@pytest.mark.parametrize("later_too", ["", "+"])
@pytest.mark.parametrize("error, reason", [("enospc", "No space left on device"), ("eio", "Input/output error")])
def test_a_call_that_fails_ends_it_with_a_sentence_and_nothing_left(stoker, whole, tmp_path, error, reason, later_too):
    run, files = whole
    for call in run.calls:
        out = tmp_path / f"{error}-{call.number}{later_too}"
        failed = stoker.run("synth", out, *SYNTH, fault=f"{error} {call.number}{later_too}")
        # What is on disk is not lost by closing; unless all that follows fails, nothing has happened.
        if call.name == "close" and (failed.status == 0 or not later_too):
            assert (failed.status, failed.err, files_below(out)) == (0, "", files)
            continue
        sentence = failed.sentence()
        assert str(out) in sentence and reason in sentence, sentence
        assert not out.exists()


def test_short_writes_change_nothing(stoker, whole, tmp_path):
    _, files = whole
    run = stoker.run("synth", tmp_path / "short", *SYNTH, fault="short 1+")
    assert (run.status, run.err) == (0, "")
    assert run.count("write") > 10
    assert files_below(tmp_path / "short") == files


def test_a_single_tar_is_there_whole_or_not_at_all(stoker, tmp_path):
    whole = stoker.run("synth", tmp_path / "whole.tar", *SYNTH)
    content = (tmp_path / "whole.tar").read_bytes()
    for call in whole.calls:
        for fault in ("enospc", "eio", "kill_before", "kill_after"):
            folder = tmp_path / f"{fault}-{call.number}"
            folder.mkdir()
            run = stoker.run("synth", folder / "a.tar", *SYNTH, fault=f"{fault} {call.number}")
            left = files_below(folder)
            assert left.get("a.tar", content) == content
            if not run.killed:
                assert set(left) <= {"a.tar"}
                assert run.status == 0 or str(folder / "a.tar") in run.sentence() or str(folder) in run.sentence()


def test_a_folder_that_may_not_be_written_is_named(stoker, tmp_path):
    tmp_path.chmod(0o555)
    said = stoker.run("synth", tmp_path / "out", *SYNTH, through=ordinary_rights()).sentence()
    assert str(tmp_path) in said and "Permission denied" in said
