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
except ImportError:
    raise ImportError("stoker.ray needs Ray: pip install ray") from None

from stoker._ray_loader import EpochIterator, Loader

__all__ = ["EpochIterator", "Loader", "index", "pack", "verify"]

_Path = Union[str, "PathLike[str]"]
_Data = Union[_Path, Sequence[_Path]]
_FOUND_FAULTS = 1  # the status of `index` and `verify` that found some


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
    `options` are those of the command, with underscores: `shard_size="1GiB"`, `raw=True`."""
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
    """Writes an index for each shard of `data`, and returns what `stoker index --json` prints. Arguments as for pack()."""
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
    as for pack()."""
    words = ["verify", *_paths(data)]
    return _job(words, fspath(plan), _arguments(options), (0, _FOUND_FAULTS), threads, tasks_at_once, retries)


def _paths(data: _Data) -> list[str]:
    return [fspath(data)] if isinstance(data, (str, PathLike)) else [fspath(one) for one in data]


def _arguments(options: dict[str, Any]) -> list[str]:
    """As the command takes them; flags are given as True."""
    words: list[str] = []
    for name, value in options.items():
        if value is False or value is None:
            continue
        words.append("--" + name.replace("_", "-"))
        if value is not True:
            words.append(fspath(value) if isinstance(value, PathLike) else str(value))
    return words


def _job(
    words: list[str], plan: str, options: list[str], statuses: Sequence[int], threads: int, tasks_at_once: int, retries: int
) -> dict[str, Any]:
    if threads < 1 or tasks_at_once < 1 or retries < 0:
        raise stoker.Error("threads and tasks_at_once are at least 1, and retries at least 0")
    count = run_json([*words, "--plan", plan, *options])["tasks"]
    do = ray.remote(num_cpus=threads, max_retries=retries, retry_exceptions=True)(_do)
    every = [f"{first}-{min(first + tasks_at_once, count) - 1}" for first in range(0, count, tasks_at_once)]
    # Where a job finds things at each call, and not what it does, the plan leaves out.
    places = _places(options)
    ray.get([do.remote([*words, "--plan", plan, "--task", tasks, "--threads", str(threads), *places], statuses) for tasks in every])
    return run_json([*words, "--plan", plan, "--merge", *places], statuses)


def _do(words: list[str], statuses: Sequence[int]) -> None:
    run_json(words, statuses)


def _places(options: list[str]) -> list[str]:
    found: list[str] = []
    for name, value in zip(options, [*options[1:], ""]):
        if name in ("--index-dir", "--store-endpoint", "--store-region"):
            found += [name, value]
        elif name == "--store-anonymous":
            found.append(name)
    return found
