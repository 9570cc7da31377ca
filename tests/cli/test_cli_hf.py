"""Data on the Hugging Face hub: the same batches as from the folder that it has, of one commit, with a token that is told
to the hub alone."""

import shutil

import pytest

from hf_hub import DATASET, TOKEN, HfHub
from shard_writers import write_parquet

SHARDS = 3


@pytest.fixture(scope="module")
def repository(stoker, tmp_path_factory):
    """A folder with tars in `train`, two with an index beside them, loose images in `loose`, the same as Parquet in `data`,
    and a list."""
    folder = tmp_path_factory.mktemp("repository")
    (folder / "train").mkdir()
    for number in range(SHARDS):
        tar = folder / "train" / f"shard-{number:03}.tar"
        stoker.text("synth", tar, "--kind", "tiny", "--count", 60, "--classes", 3, "--seed", number, "--format", "tar")
        if number > 0:
            stoker.text("index", tar)
    stoker.text("synth", folder / "loose", "--kind", "tiny", "--count", 40, "--classes", 4)
    images = sorted((folder / "loose").rglob("*.png"))
    rows = [{"name": image.relative_to(folder / "loose").as_posix(), "label": int(image.parent.name[1:]) % 3,
             "image": image.read_bytes()} for image in images]
    (folder / "data").mkdir()
    write_parquet(folder / "data", rows)
    (folder / "list.txt").write_text("train/shard-001.tar\n")
    return folder


def run(data, *args):
    return ("run", data, "--recipe", "cifar-train", "--batch", 10, *args)


@pytest.mark.parametrize("path", ["train/shard-{000..002}.tar", "train/*.tar", "train", "loose", "list.txt", "data",
                                  "data/train-*.parquet"])
def test_a_run_on_the_hub_delivers_what_a_run_on_the_folder_does(stoker, repository, tmp_path, path):
    want = stoker.audit(tmp_path, *run(repository / path))
    with HfHub(repository, token=TOKEN, page=7) as hub:
        assert stoker.audit(tmp_path, *run(f"{DATASET}/{path}"), env=hub.env) == want
        assert hub.counts["revisions"] == 1
        assert hub.counts["logins_elsewhere"] == 0
        assert (hub.counts["files"] > 0) == (path != "loose")


def test_a_commits_files_are_kept_in_a_disk_cache(stoker, repository, tmp_path):
    other = tmp_path / "other"
    shutil.copytree(repository, other)
    shutil.copy(repository / "train" / "shard-001.tar", other / "train" / "shard-002.tar")
    shutil.copy(repository / "train" / "shard-001.tar.sidx", other / "train" / "shard-002.tar.sidx")
    args = run(f"{DATASET}/train/shard-{{001,002}}.tar", "--cache", f"disk={tmp_path / 'cache'}:50MB")
    with HfHub(repository) as hub:
        first, again = (stoker.json(*args, env=hub.env)["cache"] for _ in range(2))
        hub.push(other)
        later = stoker.json(*args, env=hub.env)["cache"]
    assert first["misses"] > 0 and again["misses"] == 0
    assert 0 < later["misses"] < first["misses"]  # one of two files is another


def test_a_push_during_a_run_changes_nothing(stoker, repository, tmp_path):
    other = tmp_path / "other"
    shutil.copytree(repository, other, ignore=shutil.ignore_patterns("*.sidx"))
    for number in range(SHARDS):
        shutil.copy(repository / "train" / f"shard-{(number + 1) % SHARDS:03}.tar", other / "train" / f"shard-{number:03}.tar")
    want = stoker.audit(tmp_path, *run(repository / "train" / "*.tar", "--epochs", 2))
    with HfHub(repository) as hub:
        def push_once():
            if len(hub.commits) == 1:
                hub.push(other)
        hub.on_file = push_once
        assert stoker.audit(tmp_path, *run(f"{DATASET}/train/*.tar", "--epochs", 2), env=hub.env) == want
        assert len(hub.commits) == 2
        assert stoker.audit(tmp_path, *run(f"{DATASET}@{0:040x}/train/*.tar", "--epochs", 2), env=hub.env) == want
        assert stoker.audit(tmp_path, *run(f"{DATASET}/train/*.tar", "--epochs", 2), env=hub.env) != want


@pytest.mark.parametrize("data, env, status, part", [
    (f"{DATASET}/train/none.tar", {}, 1, "no such file or folder at revision 'main'"),
    (f"{DATASET}/train/none-*.tar", {}, 1, "no file matches"),
    (f"{DATASET}@v2/train", {}, 1, "no revision 'v2'"),
    ("hf://datasets/o/other/a.tar", {}, 1, "or it is private"),
    ("hf://datasets/o", {}, 2, "hf://datasets/OWNER/NAME"),
    (f"{DATASET}/train", {"HF_TOKEN": "another"}, 1, "whether the token in use may read it"),
    (f"{DATASET}/train", {"HF_TOKEN": "", "HF_TOKEN_PATH": "none"}, 1, "set HF_TOKEN"),
    (f"{DATASET}/train", {"HF_HUB_OFFLINE": "1"}, 1, "HF_HUB_OFFLINE is set"),
    (f"{DATASET}/train", {"HF_ENDPOINT": "hub"}, 2, "HF_ENDPOINT"),
])
def test_what_cannot_be_read_is_told_in_one_sentence(stoker, repository, data, env, status, part):
    with HfHub(repository, token=TOKEN) as hub:
        assert part in stoker.refusal(status, *run(data), env={**hub.env, **env})


def test_an_anonymous_run_has_no_token(stoker, repository):
    with HfHub(repository, token=TOKEN) as hub:
        assert "set HF_TOKEN" in stoker.refusal(1, *run(f"{DATASET}/train", "--store-anonymous"), env=hub.env)


def test_nothing_is_written_to_the_hub(stoker, repository):
    with HfHub(repository) as hub:
        for command in ("pack", repository / "train", f"{DATASET}/packed"), ("index", f"{DATASET}/train/shard-000.tar"):
            done = stoker(*command, env=hub.env)
            assert done.returncode == 2 and done.stderr.count("\n") == 1 and DATASET in done.stderr, done


def test_the_token_is_shown_nowhere(stoker, repository, tmp_path):
    written = tmp_path / "written"
    written.mkdir()
    with HfHub(repository, token=TOKEN) as hub:
        env = {**hub.env, "STOKER_CACHE_DIR": str(tmp_path / "cache")}
        runs = [stoker(*run(f"{DATASET}/{path}", "--audit", written / "audit", "--save-state", written / "state", "--json",
                            "--tune", "on", "--tune-report", written / "report.html"), env=env)
                for path in ("train/*.tar", "train/none.tar")]
    assert [done.returncode for done in runs] == [0, 1], runs
    told = "".join(done.stdout + done.stderr for done in runs)
    kept = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    for secret in (TOKEN, "s1gn3d"):
        assert secret not in told and secret.encode() not in kept
