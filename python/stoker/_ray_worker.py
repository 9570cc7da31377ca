"""The actor of Ray that makes batches: stoker.ray.Loader hires it."""

from __future__ import annotations

import os
import threading
import time
from typing import Any

import ray

import stoker
from stoker._account import Bad


class Worker:
    """An actor: makes the batches that it is asked for."""

    def __init__(self, data: Any, recipe: Any, options: dict[str, Any]) -> None:
        self._arguments = data, recipe, options
        # The same batch may be asked for again while it is made: an epoch that was left begins anew.
        self._asked: dict[tuple[int, int], list[float]] = {}  # and when
        self._made: list[tuple[stoker.Batch, Bad]] = []
        self._made_at = 0.0
        self._changed = threading.Condition()

    @ray.method(concurrency_group="ask")
    def start(self) -> None:
        """To be called first. Not when the actor is made, which would hide what is wrong in what Ray says of it."""
        data, recipe, options = self._arguments
        try:
            self._loader = stoker.Loader(data, recipe, **{"memory": _part_of_memory(options["threads"]), **options})
        except stoker.Error as error:
            if error.kind != "memory" or "memory" in options:
                raise
            self._loader = stoker.Loader(data, recipe, **options)

    @ray.method(concurrency_group="ask")
    def ask(self, epoch: int, index: int) -> None:
        self._loader.request(epoch, index)
        with self._changed:
            self._asked.setdefault((epoch, index), []).append(time.monotonic())
            self._changed.notify_all()

    @ray.method(concurrency_group="take")
    def take(self, epoch: int, index: int) -> tuple[stoker.Batch, Bad, dict[str, int], float]:
        """A batch that ask() was called for, the bad samples that it met, this loader's metrics, and the seconds since it was asked
        for or the one before was made. Calls may come in any order."""
        wanted = epoch, index
        with self._changed:
            self._changed.wait_for(lambda: wanted in self._asked)
            asked, *others = self._asked.pop(wanted)
            if others:
                self._asked[wanted] = others
        found, bad = self._first_made(wanted)
        before, self._made_at = self._made_at, time.monotonic()
        return found, bad, self._loader.metrics(), self._made_at - max(asked, before)

    def _first_made(self, wanted: tuple[int, int]) -> tuple[stoker.Batch, Bad]:
        for number, (batch, _) in enumerate(self._made):
            if (batch.epoch, batch.index) == wanted:
                return self._made.pop(number)
        while True:
            batch = self._loader.take()
            made = batch, self._loader._bad_in_batch
            if (batch.epoch, batch.index) == wanted:
                return made
            self._made.append(made)


def _part_of_memory(cores: int) -> int:
    """Half of this machine's in all, were there an actor for all of its cores."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return total // 2 * cores // max(os.cpu_count() or 1, cores)


def worker_class() -> Any:
    """As Ray takes it: what is asked for is noted while a batch is taken."""
    return ray.remote(concurrency_groups={"ask": 1, "take": 1})(Worker)
