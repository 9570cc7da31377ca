"""What a loader notes of its batches whose members, in other processes, make them: for its metrics and reports."""

from __future__ import annotations

import logging
import time
from typing import NamedTuple

import stoker
from stoker import _stoker

_log = logging.getLogger("stoker")


class Made(NamedTuple):
    """A batch that a member has made."""
    batch: stoker.Batch
    member: int
    period_s: float = 0.0  # of the member, since it was asked for it or had made the one before


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
