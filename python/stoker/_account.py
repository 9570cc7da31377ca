"""What a loader notes of its batches whose members, in other processes, make them: for its metrics, its reports, and its bad samples."""

from __future__ import annotations

import logging
import time
from typing import Any, NamedTuple, Sequence

import stoker
from stoker import _stoker

_log = logging.getLogger("stoker")

Bad = Sequence[tuple[dict[str, Any], bool]]  # samples that a batch met, and whether the quarantine list had them


class Made(NamedTuple):
    """A batch that a member has made."""
    batch: stoker.Batch
    member: int
    period_s: float = 0.0  # of the member, since it was asked for it or had made the one before
    bad: Bad = ()


class BadSamples:
    """Those that batches met, of all members together: each knows only the part of an epoch that it makes."""

    def __init__(self, slots: int) -> None:
        self.found: dict[tuple[str, str], dict[str, Any]] = {}
        self._most = max(10, slots // 1000)  # as bad_samples_most() in C++
        self._in_epoch: set[tuple[str, str]] = set()  # those on no list

    def begin_epoch(self) -> None:
        self._in_epoch.clear()

    def add(self, made: Made) -> None:
        """Fails where stoker.Loader would."""
        for bad, known in made.bad:
            name = bad["shard"], bad["key"]
            self.found.setdefault(name, bad)
            if known or name in self._in_epoch:
                continue
            self._in_epoch.add(name)
            if len(self._in_epoch) > self._most:
                error = stoker.Error(f"epoch {made.batch.epoch} has met {len(self._in_epoch)} bad samples, more than the {self._most} that a run "
                                     f"tolerates; the last: {bad['reason']}; correct the recipe or, if the data are damaged, list the bad samples by "
                                     "`stoker verify DATA --quarantine FILE`, and pass over them by quarantine=FILE")
                error.kind = "bad_sample"
                raise error


class Account:
    """Threads: the consumer's."""

    def __init__(self) -> None:
        self.reports = _stoker._MemberReports()
        self.counts = {"batches_here": 0, "bytes_received": 0, "actors_started": 0, "actors_lost": 0}
        self._step_began: float | None = None

    def begin_epoch(self, epoch: int) -> None:
        self._step_began = None
        self.reports.begin_epoch(epoch)

    def end_step(self) -> float:
        """The consumer is back; returns when."""
        now = time.monotonic()
        if self._step_began is not None:
            self.reports.step(int((now - self._step_began) * 1e9))
            self._step_began = None
        return now

    def deliver(self, made: Made, asked: float) -> float:
        """The consumer gets a batch that it asked for at that time; returns how long it has waited."""
        now = time.monotonic()
        self.reports.deliver(made.member, int(made.batch.valid.sum()), int((now - asked) * 1e9), int(made.period_s * 1e9))
        self._step_began = now
        return now - asked

    def end_epoch(self) -> None:
        self.end_step()
        line = self.reports.end_epoch()
        if line is not None:
            _log.info("%s", line)
