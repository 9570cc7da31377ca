"""Stoker on a Ray cluster: a loader whose batches are made on other machines, too,

    with stoker.ray.Loader("s3://bucket/packed/", "imagenet-train", batch=256, actors=(2, 16)) as loader:
        for batch in loader:
            train(batch.image, batch.label)

and jobs over whole data sets, by as many workers as the cluster has cores for: packing, indexing and verifying.

    stoker.ray.pack("s3://bucket/photos/", "s3://bucket/packed/", plan="s3://bucket/packed.plan", shuffle=7)

Each job is divided into the tasks of a plan (docs/many-machines.md): a worker that dies is replaced, and what it had not
finished is done again. Data, plan and pack must be where every worker reaches them by the same name: a store, or a shared
file system."""

from __future__ import annotations

from os import PathLike, fspath
from typing import Any, Sequence, Union

import stoker
from stoker._command import run_json

try:
    import ray
except ImportError as error:
    raise ImportError("stoker.ray needs Ray: pip install ray", name=error.name) from None

from stoker._ray_epoch import EpochIterator
from stoker._ray_loader import Loader, is_whole

__all__ = ["EpochIterator", "Loader", "index", "pack", "verify"]

_Path = Union[str, "PathLike[str]"]
_Data = Union[_Path, Sequence[_Path]]
_FOUND_FAULTS = 1  # the status of `index` and `verify` that found some
# Where a job finds things at each call, and not what it does, the plan leaves out; what it found is known at the end.
_OF_EACH_CALL = ("--index-dir", "--memory", "--store-endpoint", "--store-region", "--store-anonymous")
_OF_THE_END = ("--quarantine",)


def pack(
    data: _Path,
    to: _Path,
    *,
    plan: _Path,
    threads: int = 1,
    tasks_at_once: int = 1,
    retries: int = 3,
    **options: Any,
) -> dict[str, Any]:
    """Packs `data` into the folder `to`, and returns what `stoker pack --json` prints.

    `plan` names the file that says what the tasks are; with an earlier call's plan the job goes on where that stood. A worker
    does `tasks_at_once` tasks on `threads` cores and opens the data once for them; it is started anew up to `retries` times.
    `options` are those of the command, with underscores: `shard_size="1GiB"`, `raw=True`, `quarantine="bad.jsonl"`. Fails where
    no sample is left to pack.

    >>> stoker.ray.pack("photos", "packed", plan="packed.plan", shuffle=7)["samples"]
    24
    """
    return _job(["pack", fspath(data), fspath(to)], fspath(plan), _arguments(options), (0,), threads, tasks_at_once, retries)


def index(
    data: _Data,
    *,
    plan: _Path,
    threads: int = 1,
    tasks_at_once: int = 1,
    retries: int = 3,
    **options: Any,
) -> dict[str, Any]:
    """Writes an index for each shard of `data`, and returns what `stoker index --json` prints. Arguments as for pack().

    >>> stoker.ray.index("shards", plan="index.plan", index_dir="indexes")["shards"]
    2
    """
    words = ["index", *_paths(data)]
    return _job(words, fspath(plan), _arguments(options), (0, _FOUND_FAULTS), threads, tasks_at_once, retries)


def verify(
    data: _Data,
    *,
    plan: _Path,
    threads: int = 1,
    tasks_at_once: int = 1,
    retries: int = 3,
    **options: Any,
) -> dict[str, Any]:
    """Checks every byte and image of `data`, and returns what `stoker verify --json` prints: `bad` lists what is bad. Arguments
    as for pack().

    >>> stoker.ray.verify("photos", plan="verify.plan")["bad"]
    []
    """
    words = ["verify", *_paths(data)]
    return _job(words, fspath(plan), _arguments(options), (0, _FOUND_FAULTS), threads, tasks_at_once, retries)


def _paths(data: _Data) -> list[str]:
    return [fspath(data)] if isinstance(data, (str, PathLike)) else [fspath(one) for one in data]


def _arguments(options: dict[str, Any]) -> dict[str, list[str]]:
    """By their names, as the command takes them; flags are given as True."""
    words: dict[str, list[str]] = {}
    for name, value in options.items():
        if value is False or value is None:
            continue
        flag = "--" + name.replace("_", "-")
        words[flag] = [flag] if value is True else [flag, fspath(value) if isinstance(value, PathLike) else str(value)]
    return words


def _only(options: dict[str, list[str]], names: Sequence[str]) -> list[str]:
    return [word for name, words in options.items() if name in names for word in words]


def _without(options: dict[str, list[str]], names: Sequence[str]) -> list[str]:
    return [word for name, words in options.items() if name not in names for word in words]


def _job(
    words: list[str], plan: str, options: dict[str, list[str]], statuses: Sequence[int], threads: int, tasks_at_once: int, retries: int
) -> dict[str, Any]:
    for name, number, least in (("threads", threads, 1), ("tasks_at_once", tasks_at_once, 1), ("retries", retries, 0)):
        if not is_whole(number, least):
            raise stoker.Error(f"{name} is {number!r}, but must be a whole number of at least {least}")
    count = run_json([*words, "--plan", plan, *_without(options, _OF_THE_END)])["tasks"]
    do = ray.remote(num_cpus=threads, max_retries=retries, retry_exceptions=True)(_do)
    every = [f"{first}-{min(first + tasks_at_once, count) - 1}" for first in range(0, count, tasks_at_once)]
    places = _only(options, _OF_EACH_CALL)
    ray.get([do.remote([*words, "--plan", plan, "--task", tasks, "--threads", str(threads), *places], statuses) for tasks in every])
    return run_json([*words, "--plan", plan, "--merge", *places, *_only(options, _OF_THE_END)], statuses)


def _do(words: list[str], statuses: Sequence[int]) -> None:
    run_json(words, statuses)
