"""What the doctor says of a disk that errs: the file and the reason, and no figure."""

import os

import pytest

NOT_MEASURABLE = 2
FULL = bool(os.environ.get("STOKER_TEST_FULL"))


@pytest.fixture(scope="module")
def packed(stoker_at, loose, tmp_path_factory):
    """Shards with their manifest, so that nothing but samples is read of them."""
    out = tmp_path_factory.mktemp("packed") / "data"
    done = stoker_at(tmp_path_factory.mktemp("faults")).run("pack", loose, out, "--quarantine", out.parent / "bad", "--shard-size", "40KB")
    assert (done.status, done.err) == (0, "")
    return out


@pytest.mark.parametrize("after", [1, 40, 200] if FULL else [40])
def test_a_disk_that_errs_from_then_on_is_named(stoker, packed, after):
    run = stoker.run("doctor", packed, "--recipe", "cifar-train", "--batch", 8, "--step", 0.1, "--quick", "--io", "pread",
                     fault=f"eio {after}+ read:{packed}/*.tar")
    assert run.status == NOT_MEASURABLE and run.out == ""
    (sentence,) = run.err.splitlines()
    assert str(packed) in sentence and "Input/output error" in sentence, sentence
