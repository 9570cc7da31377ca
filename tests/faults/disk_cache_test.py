"""`stoker run --cache disk=DIR:SIZE` killed, or refused, at each call that changes the cache: the batches of the next run
are those of a run without a cache, nothing in the cache is damaged, and what was left is put right."""

import json
import os

import pytest

FULL = bool(os.environ.get("STOKER_TEST_FULL"))
MOMENTS = ("kill_before", "kill_during", "kill_after")


class Run:
    def __init__(self, stoker, data, folder):
        self.stoker, self.data, self.folder = stoker, data, folder
        self.cache = folder / "cache"

    def __call__(self, cached=True, **options):
        """The run and its audit."""
        audit = self.folder / "audit"
        audit.unlink(missing_ok=True)
        cache = ("--cache", f"disk={self.cache}:2MB") if cached else ()
        run = self.stoker.run("run", self.data, "--recipe", "imagenet-train", "--batch", 10, "--epochs", 2, "--tune", "off",
                              "--threads", 1, "--no-index", "--audit", audit, "--json", *cache, **options)
        return run, audit.read_text() if audit.exists() else ""

    def calls(self, run):
        """Those of a run that change the cache, by their place among all that do."""
        return [call for call in run.calls if call.path.startswith(str(self.cache))]


@pytest.fixture
def run(stoker, tars, tmp_path):
    return Run(stoker, tars, tmp_path)


def check_after(run, plain):
    after, audit = run()
    assert (after.status, audit) == (0, plain)
    assert json.loads(after.out)["cache"]["damaged"] == 0
    assert not list(run.cache.rglob("*.new"))


def cache_calls(run):
    whole, audit = run()
    assert whole.status == 0
    calls = run.calls(whole)
    assert {call.name for call in calls} >= {"pwrite", "rename", "ftruncate"}, calls
    return audit, sorted({call.name for call in calls}), calls


def test_a_run_that_is_killed_leaves_a_cache_that_serves_nothing_wrong(run, stoker, tars, tmp_path):
    _, plain = run(cached=False)
    audit, names, calls = cache_calls(run)
    assert audit == plain
    kills = {moment: set() for moment in MOMENTS}  # the calls' names
    for name in names:
        numbers = range(1, sum(call.name == name for call in calls) + 1)
        chosen = numbers if FULL else list(numbers)[::max(1, len(numbers) // 3)]
        for at, number in enumerate(chosen):
            for moment in MOMENTS if FULL else (MOMENTS[(at + len(name)) % 3],):
                folder = tmp_path / f"{name}-{number}-{moment}"
                folder.mkdir()
                again = Run(stoker, tars, folder)
                killed, _ = again(fault=f"{moment} {number} {name}:{again.cache}/*")
                if killed.killed:  # threads may have merged writes into fewer calls
                    kills[moment].add(name)
                    check_after(again, plain)
    assert all(kills[moment] == set(names) for moment in MOMENTS) if FULL else set().union(*kills.values()) == set(names)


@pytest.mark.parametrize("error", ["enospc", "eio", "erofs"])
def test_a_cache_that_cannot_be_written_costs_a_warning(run, stoker, tars, tmp_path, error):
    _, plain = run(cached=False)
    _, names, calls = cache_calls(run)
    warned = set()
    for name in names:
        if name in ("close", "unlink", "rmdir"):
            continue
        for number in (1, sum(call.name == name for call in calls) // 2 + 1):
            folder = tmp_path / f"{error}-{name}-{number}"
            folder.mkdir()
            again = Run(stoker, tars, folder)
            refused, audit = again(fault=f"{error} {number}+ {name}:{again.cache}/*")
            assert (refused.status, audit) == (0, plain), (name, number)
            assert refused.err.count("disk cache") <= 1, refused.err
            if "disk cache" in refused.err:
                warned.add(name)
            check_after(again, plain)
    assert warned >= {"pwrite", "rename", "ftruncate"}
