"""A loader whose batches are made by actors of Ray, and by this process: stoker.ray.Loader."""

from __future__ import annotations

import logging
import time
from os import PathLike
from typing import Any, Iterator, Sequence, Union

import ray

import stoker
from stoker import _stoker
from stoker._account import Account, BadSamples, Made
from stoker._ray_epoch import EpochIterator
from stoker._ray_worker import worker_class
from stoker._schedule import Crew, Schedule

_Path = Union[str, "PathLike[str]"]

_log = logging.getLogger("stoker")

_UNDER_WAY = 3           # batches that a member has to make at once: one to hand over, one to make, one to read for
_PERIOD_S = 2.0          # after which it is decided whether there should be more actors
_PERIOD_BATCHES = 8
_LOST_AT_ONCE = 5        # actors that are lost one after the other, with no batch between: something is wrong with all
_LATE, _LATE_S = 8, 5.0  # times the usual, and at least so long: another member makes the batch, too
_LOOK_S = 0.5
_PATIENCE_S = 30.0       # before it is told that there are no actors
_LOOK_HERE_S = 0.02      # where this process may finish a batch meanwhile

_GONE = (ray.exceptions.RayActorError, ray.exceptions.WorkerCrashedError, ray.exceptions.ObjectLostError,
         ray.exceptions.OwnerDiedError, ray.exceptions.NodeDiedError, ray.exceptions.RaySystemError)


def is_whole(number: Any, least: int) -> bool:
    """Whether it is a whole number, and at least that."""
    return isinstance(number, int) and not isinstance(number, bool) and number >= least


class _Member:
    """Makes batches; without an actor it is this process."""

    def __init__(self, number: int, actor: Any = None) -> None:
        self.number = number
        self.actor = actor
        self.dismissed = False


class Loader:
    """Like stoker.Loader, with the same batches in the same order, made by actors of Ray as well: where the cores of this
    machine are not enough. Data must be where every actor reaches them by the same name.

    actors: how many, or the least and the most between which their number follows the consumer's wait
    cpus: cores of each, thus its threads
    actor_options: of each for Ray, such as {"resources": {"preprocess": 1}}
    here: whether this process makes batches, too; if not, it only receives them, and there is always an actor

    The other arguments are those of stoker.Loader, `memory` and `prefetch` of each member. Batches are on the CPU, and those
    that came from elsewhere are read-only; stoker.torch.tensors(batch) has them as tensors. An actor that is lost costs time:
    its batches are made again. `quarantine` and a cache on disk are files of each actor's machine.

    report() says what limits the training, from the metrics of all members. Waits for an actor that does not wait itself, but
    sends batches, are those of the copy.

    >>> with stoker.ray.Loader("photos", "imagenet-train", batch=8, actors=(1, 2)) as loader:
    ...     for batch in loader:
    ...         image, label = batch.image, batch.label
    >>> image.shape
    (8, 3, 224, 224)
    """

    def __init__(
        self,
        data: stoker.Dataset | _Path | Sequence[_Path],
        recipe: stoker.Recipe | _Path,
        *,
        actors: int | tuple[int, int] = (1, 64),
        cpus: int = 1,
        actor_options: dict[str, Any] | None = None,
        here: bool = True,
        audit: _Path | None = None,
        **options: Any,
    ) -> None:
        least, most = actors if isinstance(actors, tuple) and len(actors) == 2 else (actors, actors)
        if not is_whole(least, 0) or not is_whole(most, least):
            raise stoker.Error(f"actors is {actors!r}, but must be a whole number, or two: the least and the most")
        if not is_whole(cpus, 1):
            raise stoker.Error(f"cpus is {cpus!r}, but must be a whole number of at least 1")
        if most == 0 and not here:
            raise stoker.Error("without actors and with here=False there is nothing that makes batches: allow an actor, or leave here out")
        for name in ("device", "transfer_index", "device_memory", "nvjpeg", "pin_memory"):
            if name in options:
                raise stoker.Error(f"{name} has no effect on batches of actors, which come on the CPU: leave it out, or use stoker.Loader")
        self._here = _Member(0) if here else None
        own = options if here else {**options, "threads": 1, "prefetch": 1, "tune": "off"}
        self._local = stoker.Loader(data, recipe, **own)
        _, (self._data, self._recipe, given, self._template) = self._local.__reduce__()
        rank, world = self._local._rank
        self._options = {**given, "threads": cpus, "prefetch": options.get("prefetch", 2), "tune": "off", "rank": rank, "world": world}
        self._audit = _stoker._Audit(audit) if audit is not None else None
        self._cpus, self._actor_options = cpus, actor_options or {}
        self._crew = Crew(max(least, 0 if here else 1), most)
        self._members: list[_Member] = []
        self._arriving: dict[Any, _Member] = {}                 # by what tells that it has started
        self._coming: dict[Any, tuple[_Member, int, float]] = {}  # batches: of which member, and asked for when
        self._asked_here: list[int] = []
        self._made_here: set[int] = set()  # and not delivered: their memory is the local loader's
        self._schedule: Schedule | None = None
        self._position: tuple[int, int] = self._template["epoch"], self._template["batch"]
        self._next_epoch = 0
        self._resumes = self._ended = False  # at the position, and after the epoch's last batch
        self._turn = 0
        self._failure: BaseException | None = None  # which ended the turn
        self._lost_in_a_row = 0
        self._bad = BadSamples(len(self) * self.batch_size)
        self._usual_s = 0.0
        self._warned = False
        self._period = [time.monotonic(), 0.0, 0]  # since when, waited, batches
        self._account = Account()
        self._closed = False

    # --- as stoker.Loader

    def __len__(self) -> int:
        return len(self._local)

    def __iter__(self) -> Iterator[stoker.Batch]:
        return self.epoch(self._next_epoch)

    def epoch(self, epoch: int) -> EpochIterator:
        """An iterator over the batches of this epoch; the epoch of a state that was loaded begins there.

        >>> with stoker.ray.Loader("photos", "imagenet-train", batch=8, actors=1) as loader:
        ...     [batch.epoch for batch in loader.epoch(3)]
        [3, 3, 3]
        """
        self._check_open()
        if self._audit:
            self._audit.begin()
        first = min(self._position[1], len(self)) if self._resumes and self._position[0] == epoch else 0
        self._turn += 1
        self._next_epoch = epoch
        self._resumes, self._ended = True, False  # until a batch is asked for, it may begin there again
        self._failure = None
        self._bad.begin_epoch()
        self._position = epoch, first
        self._account.begin_epoch(epoch)
        self._start(epoch * len(self) + first)
        return EpochIterator(self, self._turn, len(self) - first)

    def state_dict(self) -> dict[str, Any]:
        """The position of training, which stoker.Loader takes, too.

        >>> with stoker.ray.Loader("photos", "imagenet-train", batch=8, actors=1) as loader:
        ...     batch = next(iter(loader))
        ...     state = loader.state_dict()
        >>> state["epoch"], state["batch"]
        (0, 1)
        """
        epoch, index = self._position
        return {**self._template, "epoch": epoch, "batch": self._local._global_batches if self._ended else index}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Moves the loader to a state's position, of a loader of any kind with the same data and options.

        >>> with stoker.Loader("photos", "imagenet-train", batch=8, seed=7) as loader:
        ...     batch = next(iter(loader))
        ...     state = loader.state_dict()
        >>> with stoker.ray.Loader("photos", "imagenet-train", batch=8, seed=7, actors=1) as loader:
        ...     loader.load_state_dict(state)
        ...     len(loader.epoch(state["epoch"]))
        2
        """
        self._check_open()
        self._local.load_state_dict(state_dict)  # first: if it refuses the state, nothing has changed
        if self._audit:
            self._audit.begin()
        self._stop()
        self._turn += 1
        self._resumes, self._ended = True, False
        epoch, index = self._position = state_dict["epoch"], state_dict["batch"]
        self._next_epoch = epoch + 1 if index == self._local._global_batches else epoch

    @property
    def quarantine(self) -> list[dict[str, Any]]:
        """The bad samples found so far."""
        here = {(bad["shard"], bad["key"]): bad for bad in self._local.quarantine}  # with those of a batch that failed for them
        return [bad for _, bad in sorted({**here, **self._bad.found}.items())]

    @property
    def dataset(self) -> stoker.Dataset:
        """The data set, with the samples of all ranks."""
        return self._local.dataset

    @property
    def batch_size(self) -> int:
        """Samples in a batch of this rank."""
        return self._local.batch_size

    @property
    def actors(self) -> int:
        """How many make batches now."""
        return sum(not member.dismissed for member in self._members)

    def metrics(self) -> dict[str, int]:
        """What stoker.Loader measures, of all members together, and what came from where: `batches_here`, `bytes_received`,
        `actors`, `actors_started`, `actors_lost`. What only each member knows, such as the largest of their I/O depths, is as
        of its last batch.

        >>> with stoker.ray.Loader("photos", "imagenet-train", batch=8, actors=1) as loader:
        ...     keys = [batch.key for batch in loader]
        ...     loader.metrics()["batches"]
        3
        """
        return {**self._account.reports.metrics(), "bad_samples": len(self.quarantine), **self._account.counts, "actors": self.actors}

    def report(self, epoch: int | None = None) -> stoker.Report:
        """What limits this training, since its first batch or in one epoch: the one that runs, so far, or one of the last 128.

        >>> with stoker.ray.Loader("photos", "imagenet-train", batch=8, actors=1) as loader:
        ...     for batch in loader.epoch(0):
        ...         pass  # train(batch)
        ...     report = loader.report(epoch=0)
        >>> report.steps, 0 <= report.gpu_idle <= 1
        (3, True)
        """
        return self._account.reports.report(epoch)

    def close(self) -> None:
        """Ends the actors, and this process's threads. Batches that are still held stay valid.

        >>> loader = stoker.ray.Loader("photos", "imagenet-train", batch=8, actors=1)
        >>> batch = next(iter(loader))
        >>> loader.close()
        >>> len(batch.key)
        8
        """
        if self._closed:
            return
        self._closed = True
        self._stop()
        self._local.close()
        self._audit = None  # which others may write to from here on

    def __enter__(self) -> Loader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"stoker.ray.Loader({len(self)} batches of {self.batch_size} per epoch, {self.actors} actors)"

    # --- batches

    def _check_open(self) -> None:
        if self._closed:
            raise stoker.Error("the loader is closed")

    def _start(self, first: int) -> None:
        """Batches come from this number on."""
        if self._schedule is not None and self._schedule.next == first:
            return
        self._hire()  # first: where it fails, another try is to fail, too
        # Members finish what they are at work on: it comes, and is dropped.
        self._coming.clear()
        self._asked_here.clear()
        self._made_here.clear()
        self._schedule = Schedule(first)
        for member in [*self._members, *([self._here] if self._here else [])]:
            self._schedule.join(member)

    def _stop(self) -> None:
        """All actors go, and with them what they are at work on."""
        for member in [*self._members, *self._arriving.values()]:
            self._account.reports.leave(member.number)
            _end(member)
        self._members.clear()
        self._arriving.clear()
        self._coming.clear()
        self._asked_here.clear()
        self._made_here.clear()
        self._schedule = None
        if not self._closed:
            self._local.load_state_dict(self._template)  # which ends its requests, and an error that one had

    def _next(self, turn: int) -> stoker.Batch:
        self._check_open()
        if turn != self._turn:
            raise stoker.Error("this iterator's epoch has ended: another epoch was started, or a state was loaded")
        self._touch()
        if self._failure is not None:
            raise self._failure
        assert self._schedule is not None
        began = self._account.end_step()
        try:
            self._fill()
            while not self._schedule.has_next():
                self._wait(began)
                self._fill()
            self._made_here.discard(self._schedule.next)
            made = self._schedule.deliver()
            batch = made.batch
            self._bad.add(made)
            if self._audit:
                self._audit.write(batch)
            self._count(self._account.deliver(made, began))
            self._position = batch.epoch, batch.index + 1
            return batch
        except BaseException as failure:
            self._failure = failure  # an error of a member is the epoch's, as any loader has it; so is a gap in it
            self._stop()
            raise

    def _end_epoch(self, turn: int) -> None:
        if turn == self._turn:
            self._touch()
            self._ended = True
            self._account.end_epoch()

    def _touch(self) -> None:
        self._resumes, self._next_epoch = False, self._position[0] + 1

    def _fill(self) -> None:
        """Every member that can take a batch gets one to make."""
        schedule = self._schedule
        assert schedule is not None
        self._welcome()
        takers = [member for member in self._members if not member.dismissed]
        if self._here:
            takers.insert(0, self._here)
        ahead = 2 * _UNDER_WAY * len(takers)
        # One after the other, so that the next batches are made side by side.
        while takers:
            takers = [taker for taker in takers if self._may_take(taker) and self._give(taker, ahead)]
        self._dismiss_idle()

    def _may_take(self, member: _Member) -> bool:
        assert self._schedule is not None
        under_way = self._schedule.under_way(member)
        kept = len(self._made_here) if member is self._here else 0
        return under_way < _UNDER_WAY and under_way + kept <= _UNDER_WAY

    def _give(self, member: _Member, ahead: int) -> bool:
        assert self._schedule is not None
        number = self._schedule.give(member, ahead)
        if number is None:
            return False
        epoch, index = divmod(number, len(self))
        if member is self._here:
            self._local.request(epoch, index)
            self._asked_here.append(number)
        else:
            member.actor.ask.remote(epoch, index)
            self._coming[member.actor.take.remote(epoch, index)] = member, number, time.monotonic()
        return True

    def _wait(self, began: float) -> None:
        """Until there is news of a batch, or of an actor."""
        schedule = self._schedule
        assert schedule is not None
        is_next_here = bool(self._asked_here) and self._asked_here[0] == schedule.next
        self._take_here(_LOOK_S if is_next_here else 0)
        self._poll(0 if is_next_here else _LOOK_HERE_S if self._asked_here else _LOOK_S)
        waited_s = time.monotonic() - began
        if waited_s > _PATIENCE_S and not self._members and not self._here and not self._warned:
            self._warned = True
            _log.warning("no actor has started after %.0f s: each needs %d CPUs and what actor_options ask for; see by `ray status` whether they are free",
                         waited_s, self._cpus)
        late_s = max(_LATE_S, _LATE * self._usual_s)
        if waited_s > late_s and len(schedule.makers(schedule.next)) == 1:
            schedule.repeat(schedule.next)

    def _take_here(self, patience_s: float) -> None:
        """What this process has finished; waits for the first."""
        assert self._schedule is not None
        while self._asked_here:
            batch = self._local.take(timeout=patience_s)
            if batch is None:
                return
            number = batch.epoch * len(self) + batch.index
            if number not in self._asked_here:
                continue  # of an epoch that was left
            self._asked_here.remove(number)
            self._made_here.add(number)
            self._account.reports.update(0, self._local.metrics())
            self._schedule.finish(self._here, number, Made(batch, 0, bad=self._local._bad_in_batch))
            self._account.counts["batches_here"] += 1
            patience_s = 0

    def _poll(self, patience_s: float) -> None:
        waiting = [*self._coming, *self._arriving]
        if not waiting:
            return
        done, _ = ray.wait(waiting, num_returns=1, timeout=patience_s, fetch_local=True)
        more, _ = ray.wait(waiting, num_returns=len(waiting), timeout=0, fetch_local=True) if done else ([], None)
        for ref in {*done, *more}:
            if ref in self._coming:
                self._receive(ref)

    def _receive(self, ref: Any) -> None:
        assert self._schedule is not None
        member, number, asked = self._coming.pop(ref)
        try:
            batch, bad, metrics, period_s = ray.get(ref)
        except ray.exceptions.RayTaskError as error:
            raise (error.cause if isinstance(error.cause, stoker.Error) else error) from None
        except _GONE as reason:
            self._lose(member, reason)
            return
        self._lost_in_a_row = 0
        self._usual_s += 0.2 * (time.monotonic() - asked - self._usual_s)
        self._account.reports.update(member.number, metrics)
        self._account.counts["bytes_received"] += batch._bytes
        self._schedule.finish(member, number, Made(batch, member.number, period_s, bad))

    def _count(self, waited_s: float) -> None:
        since, waited, batches = self._period
        waited, batches, now = waited + waited_s, batches + 1, time.monotonic()
        self._period = [since, waited, batches]
        if self._arriving:
            self._period = [now, 0.0, 0]  # what those that come will change is not known yet
        elif now - since >= _PERIOD_S and batches >= _PERIOD_BATCHES:
            self._crew.period(waited, now - since, 1.0 if self._here else 0.0)
            self._period = [now, 0.0, 0]
            self._hire()

    # --- actors

    def _hire(self) -> None:
        """As many actors as there should be are there, or on their way."""
        while self.actors + len(self._arriving) < self._crew.target:
            options = {"num_cpus": self._cpus, "max_restarts": 0, **self._actor_options}
            number = self._account.counts["actors_started"] + 1
            member = _Member(number, worker_class().options(**options).remote(self._data, self._recipe, self._options))
            self._arriving[member.actor.start.remote()] = member
            self._account.counts["actors_started"] += 1
        staying = [member for member in self._members if not member.dismissed]
        for member in staying[self._crew.target:]:
            member.dismissed = True

    def _welcome(self) -> None:
        if not self._arriving:
            return
        ready, _ = ray.wait(list(self._arriving), num_returns=len(self._arriving), timeout=0)
        for ref in ready:
            member = self._arriving.pop(ref)
            try:
                ray.get(ref)
            except ray.exceptions.RayTaskError as error:
                raise (error.cause if isinstance(error.cause, stoker.Error) else error) from None
            except _GONE as reason:
                self._lose(member, reason)
                continue
            assert self._schedule is not None
            self._members.append(member)
            self._schedule.join(member)

    def _lose(self, member: _Member, reason: BaseException) -> None:
        assert self._schedule is not None
        if member in self._members:
            self._members.remove(member)
            self._schedule.lose(member)
        self._coming = {ref: facts for ref, facts in self._coming.items() if facts[0] is not member}
        self._account.reports.leave(member.number)
        _end(member)  # it may live, and only its answer be lost
        self._account.counts["actors_lost"] += 1
        self._lost_in_a_row += 1
        _log.warning("an actor is lost, and its batches are made again: %s", str(reason).splitlines()[0])
        if self._lost_in_a_row > _LOST_AT_ONCE + self._crew.target:
            raise stoker.Error(f"actors are lost one after the other: {str(reason).splitlines()[0]}")
        self._hire()

    def _dismiss_idle(self) -> None:
        assert self._schedule is not None
        for member in [member for member in self._members if member.dismissed]:
            if self._schedule.under_way(member) == 0:
                self._members.remove(member)
                self._schedule.lose(member)
                self._account.reports.leave(member.number)
                _end(member)


def _end(member: _Member) -> None:
    try:
        ray.kill(member.actor)
    except Exception:  # it may be gone already, and Ray with it
        pass
