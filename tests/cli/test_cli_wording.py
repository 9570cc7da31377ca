"""What commands say agrees with their numbers, and names nothing that is not there."""

import re

import pytest

# "1 shards"; not "1 ms", and not "epoch 1 was".
WRONG = re.compile(r"(?<![\d.,])1 (?!ms\b|us\b|is\b|was\b|has\b|as\b)[a-z]*[a-rt-z]s\b")


@pytest.fixture(scope="module")
def one(stoker, tmp_path_factory):
    """One image of one class, in a folder, and in one shard without an index."""
    at = tmp_path_factory.mktemp("one")
    for out, form in (("folder", "folder"), ("data.tar", "tar")):
        stoker.text("synth", at / out, "--kind", "tiny", "--count", 1, "--format", form)
    return at


COMMANDS = {
    "synth": lambda at: ("synth", at / "made", "--kind", "tiny", "--count", 1),
    "pack": lambda at: ("pack", at / "folder", at / "packed"),
    "pack again": lambda at: ("pack", at / "folder", at / "packed"),
    "dry run": lambda at: ("pack", at / "folder", at / "other", "--dry-run"),
    "index": lambda at: ("index", at / "data.tar"),
    "index again": lambda at: ("index", at / "data.tar"),
    "verify": lambda at: ("verify", at / "packed"),
    "info": lambda at: ("info", at / "packed"),
    "plan": lambda at: ("plan", at / "folder", "--recipe", "cifar-train", "--batch", 1, "--prefetch", 1),
    "view": lambda at: ("view", at / "folder", "--recipe", "cifar-train", "--count", 1, "--draws", 1, "--out", at / "sheet.png"),
    "run": lambda at: ("run", at / "folder", "--recipe", "cifar-train", "--batch", 1, "--accelerator", "0.001", "--threads", 1),
    "run of more than there is": lambda at: ("run", at / "folder", "--recipe", "cifar-train", "--batch", 2),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_one_is_told_in_the_singular(stoker, one, name):
    done = stoker(*COMMANDS[name](one))
    said = done.stdout + done.stderr
    assert re.search(r"\b1 (image|sample|shard)\b", said) and not WRONG.search(said), said


def test_the_wrong_is_seen():
    assert WRONG.search("in 1 shards") and WRONG.search("1 samples") and not WRONG.search("21 samples, 0.1 samples, 1 ms, 1 shard")
