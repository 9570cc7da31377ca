"""The loader for PyTorch: its batches are torch tensors over the loader's memory, and unpack as a DataLoader's do.

    for image, label in stoker.torch.Loader("imagenet/train", "imagenet-train", batch=256):
        train(image, label)
"""

from __future__ import annotations

import inspect
from os import PathLike
from typing import TYPE_CHECKING, Any, Iterator, NamedTuple, Sequence, Union

import torch

import stoker
from stoker._torch_batch import Batch, Padded, Ragged, SlotFacts, make_batch

_Path = Union[str, "PathLike[str]"]
_Device = torch.device

for _public in (Batch, Padded, Ragged, SlotFacts):
    _public.__module__ = __name__  # where users and pickle find it


class _Form(NamedTuple):
    """Options of the tensors that are made from outputs."""

    pinned: bool
    channels_last: bool


class EpochIterator:
    """The remaining batches of an epoch; its length is their number.

    >>> len(stoker.torch.Loader("photos", "imagenet-train", batch=8).epoch(3))
    3
    """

    def __init__(self, batches: stoker.EpochIterator, form: _Form) -> None:
        self._batches = batches
        self._form = form

    def __iter__(self) -> EpochIterator:
        return self

    def __next__(self) -> Batch:
        return _as_tensors(next(self._batches), self._form)  # holds no batch while it waits for the next

    def __len__(self) -> int:
        return len(self._batches)

    def __repr__(self) -> str:
        return f"stoker.torch.{self._batches!r}"


class Loader:
    """Like stoker.Loader, with the same arguments; yields Batch. Where torch.distributed is initialised, and neither `rank`
    nor `world` is given, the loader has the process's place in it.

    channels_last: yields images of recipes with .layout("nhwc") as N x C x H x W tensors of torch.channels_last,
        without a copy
    pin_memory: the stream that is current when a batch is yielded may copy from it without blocking until no tensor of
        the batch is left; name other streams with stoker.Batch.record_stream()

    >>> for image, label in stoker.torch.Loader("photos", "imagenet-train", batch=8):
    ...     pass  # train(image, label)
    """

    _loader: stoker.Loader
    _form: _Form
    _epoch: int | None
    _is_placed: bool  # by the arguments

    if TYPE_CHECKING:

        # `./dev options` writes what follows the star, up to channels_last.
        def __init__(
            self,
            data: stoker.Dataset | _Path | Sequence[_Path],
            recipe: stoker.Recipe | _Path,
            *,
            batch: int | None = None,
            global_batch: int | None = None,
            seed: int = 0,
            threads: int | str = "auto",
            prefetch: int | str = "auto",
            memory: int | str | None = None,
            order: str = "global",
            window: int | None = None,
            lanes: int | None = None,
            rank: int | None = None,
            world: int | None = None,
            tail: str | None = None,
            audit: _Path | None = None,
            bad_sample: str = "substitute",
            quarantine: _Path | None = None,
            cache: str = "none",
            cache_memory: int | str | None = None,
            repeats: int = 1,
            batch_repeats: int | None = None,
            device: str | _Device = "cpu",
            transfer_index: int | str = "auto",
            device_memory: int | str | None = None,
            nvjpeg: bool = False,
            pin_memory: bool = False,
            pin_threads: bool = True,
            io_depth: int | None = None,
            metrics_address: int | str | None = None,
            dashboard_address: int | str | None = None,
            name: str | None = None,
            trace: _Path | None = None,
            tune: str = "on",
            pixels_max: int | None = None,
            channels_last: bool = False,
        ) -> None: ...

    else:  # stoker.Loader checks the arguments and reports mistakes

        def __init__(self, *positional, channels_last=False, **named):
            self._is_placed = named.get("rank") is not None or named.get("world") is not None
            group = None if self._is_placed else _group()
            place = dict(zip(("rank", "world"), group or ()))
            self._loader = stoker.Loader(*positional, **{**named, **place})
            self._form = _Form(named.get("pin_memory", False), channels_last)
            self._epoch = None

    def __len__(self) -> int:
        return len(self._loader)

    def __iter__(self) -> Iterator[Batch]:
        self._check_place()
        epoch, self._epoch = self._epoch, None
        return EpochIterator(iter(self._loader), self._form) if epoch is None else self.epoch(epoch)

    def __repr__(self) -> str:
        return f"stoker.torch.{self._loader!r}"

    def __reduce__(self) -> tuple[Any, ...]:
        _, (data, recipe, options, state) = self._loader.__reduce__()
        options = {**options, "channels_last": self._form.channels_last}
        if not self._is_placed:  # another process has its own place
            options = {name: value for name, value in options.items() if name not in ("rank", "world")}
        more = {name: value for name, value in self.__dict__.items() if name not in Loader.__annotations__}
        return _make_loader, (type(self), data, recipe, options, state, self._epoch), more or None

    def _check_place(self) -> None:
        """Against a process group that was made after the loader, unless the arguments gave its place."""
        group = None if self._is_placed else _group()
        if group in (None, self._loader._rank):
            return
        (rank, world), (our_rank, our_world) = group, self._loader._rank
        raise stoker.Error(
            f"this process is rank {rank} of {world} of torch.distributed, but the loader was made before init_process_group(), and has the "
            f"samples of rank {our_rank} of {our_world}: make the loader after init_process_group(), or give rank= and world=")

    def epoch(self, epoch: int) -> EpochIterator:
        """An iterator over the batches of this epoch.

        >>> with stoker.torch.Loader("photos", "imagenet-train", batch=8) as loader:
        ...     [batch.epoch for batch in loader.epoch(3)]
        [3, 3, 3]
        """
        self._check_place()
        return EpochIterator(self._loader.epoch(epoch), self._form)

    def request(self, epoch: int, index: int) -> None:
        """Asks for one batch of an epoch, the same as in a run; take() gives it.

        >>> with stoker.torch.Loader("photos", "imagenet-train", batch=8) as loader:
        ...     loader.request(5, 2)
        ...     len(loader.take().key)
        8
        """
        self._loader.request(epoch, index)

    def take(self, timeout: float | None = None) -> Batch | None:
        """The first batch that request() asked for and that was not taken yet; None after the timeout, in seconds.

        >>> with stoker.torch.Loader("photos", "imagenet-train", batch=8, seed=7) as loader:
        ...     loader.request(5, 0)
        ...     loader.take().key == next(loader.epoch(5)).key
        True
        """
        batch = self._loader.take(timeout)
        return None if batch is None else _as_tensors(batch, self._form)

    def set_epoch(self, epoch: int) -> None:
        """Names the epoch that the next iteration runs, as with a DistributedSampler.

        >>> with stoker.torch.Loader("photos", "imagenet-train", batch=8) as loader:
        ...     loader.set_epoch(3)
        ...     next(iter(loader)).epoch
        3
        """
        self._epoch = epoch

    def state_dict(self) -> dict[str, Any]:
        """The position of training: after the batches that iteration has yielded, before those that are prefetched.

        >>> with stoker.torch.Loader("photos", "imagenet-train", batch=8) as loader:
        ...     image, label = next(iter(loader))
        ...     state = loader.state_dict()
        >>> state["epoch"], state["batch"]
        (0, 1)
        """
        return self._loader.state_dict()

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Moves the loader to a state's position; the state may come from another number of ranks.

        >>> with stoker.torch.Loader("photos", "imagenet-train", batch=8, seed=7) as loader:
        ...     image, label = next(iter(loader))
        ...     state = loader.state_dict()
        >>> with stoker.torch.Loader("photos", "imagenet-train", batch=8, seed=7) as loader:
        ...     loader.load_state_dict(state)
        ...     len(loader.epoch(state["epoch"]))
        2
        """
        self._loader.load_state_dict(state_dict)
        self._epoch = None  # the state says which epoch comes next

    @property
    def quarantine(self) -> list[dict[str, Any]]:
        """The bad samples found so far."""
        return self._loader.quarantine

    def set(self, **knobs: int) -> None:
        """Changes knobs while an epoch runs; the batches stay the same.

        >>> with stoker.torch.Loader("photos", "imagenet-train", batch=8) as loader:
        ...     batches = iter(loader)
        ...     image, label = next(batches)
        ...     loader.set(threads=1)
        ...     loader.threads
        1
        """
        self._loader.set(**knobs)

    def metrics(self) -> dict[str, int]:
        """What the loader has measured so far, by name.

        >>> with stoker.torch.Loader("photos", "imagenet-train", batch=8) as loader:
        ...     keys = [batch.key for batch in loader]
        ...     loader.metrics()["batches"]
        3
        """
        return self._loader.metrics()

    def report(self, epoch: int | None = None) -> stoker.Report:
        """What limits this training, since its first batch or in one epoch.

        >>> with stoker.torch.Loader("photos", "imagenet-train", batch=8) as loader:
        ...     for image, label in loader.epoch(0):
        ...         pass  # train(image, label)
        ...     report = loader.report(epoch=0)
        >>> report.steps, 0 <= report.gpu_idle <= 1
        (3, True)
        """
        return self._loader.report(epoch)

    def headspace(self, steps: int) -> None:
        """Measures what a step takes without loading: the next batch is yielded so many times more.

        >>> with stoker.torch.Loader("photos", "imagenet-train", batch=8) as loader:
        ...     loader.headspace(steps=4)
        ...     len([image for image, label in loader])
        7
        """
        self._loader.headspace(steps)

    @property
    def replays(self) -> bool:
        """Whether the batch that was yielded last was one that had been yielded before, for headspace()."""
        return self._loader.replays

    def worker_times(self) -> list[dict[str, int]]:
        """For each worker, the time that it was busy and the time that it was idle so far, in nanoseconds.

        >>> with stoker.torch.Loader("photos", "imagenet-train", batch=8, threads=2, tune="off") as loader:
        ...     keys = [batch.key for batch in loader]
        ...     [sorted(times) for times in loader.worker_times()]
        [['busy_ns', 'idle_ns'], ['busy_ns', 'idle_ns']]
        """
        return self._loader.worker_times()

    def tuning(self) -> list[dict[str, Any]]:
        """The windows of tuning so far.

        >>> with stoker.torch.Loader("photos", "imagenet-train", batch=8) as loader:
        ...     keys = [batch.key for batch in loader]
        ...     whys = [window["why"] for window in loader.tuning()]
        """
        return self._loader.tuning()

    def tune_report(self, path: _Path) -> None:
        """Draws what tuning() returns, as an HTML page.

        >>> with stoker.torch.Loader("photos", "imagenet-train", batch=8) as loader:
        ...     keys = [batch.key for batch in loader]
        ...     loader.tune_report("tuning.html")
        """
        self._loader.tune_report(path)

    @property
    def dataset(self) -> stoker.Dataset:
        """The data set, with the samples of all ranks."""
        return self._loader.dataset

    @property
    def batch_size(self) -> int:
        """Samples in a batch of this rank."""
        return self._loader.batch_size

    @property
    def threads(self) -> int:
        """The number of workers now."""
        return self._loader.threads

    @property
    def prefetch(self) -> int:
        """The number of batches made ahead now."""
        return self._loader.prefetch

    @property
    def transfer_index(self) -> int:
        """The number of stages that the CPU runs now."""
        return self._loader.transfer_index

    @property
    def metrics_address(self) -> str | None:
        """The address at which metrics are served, with the actual port."""
        return self._loader.metrics_address

    @property
    def dashboard_address(self) -> str | None:
        """The address at which the page about the loader is served, with the actual port."""
        return self._loader.dashboard_address

    @property
    def io_depth(self) -> int:
        """The most reads that are under way at once now."""
        return self._loader.io_depth

    def close(self) -> None:
        """Stops and joins the loader's threads.

        >>> loader = stoker.torch.Loader("photos", "imagenet-train", batch=8)
        >>> image, label = next(iter(loader))
        >>> loader.close()
        >>> image.shape
        torch.Size([8, 3, 224, 224])
        """
        self._loader.close()

    def __enter__(self) -> Loader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _group() -> tuple[int, int] | None:
    """The rank of this process and the number of processes, where torch.distributed is initialised."""
    if not torch.distributed.is_available() or not torch.distributed.is_initialized():
        return None
    return torch.distributed.get_rank(), torch.distributed.get_world_size()


def tensors(batch: stoker.Batch, *, channels_last: bool = False) -> Batch:
    """The batch of another loader, such as stoker.ray.Loader, as this module's loader yields it: tensors over its memory.

    >>> batch = next(iter(stoker.Loader("photos", "imagenet-train", batch=8)))
    >>> image, label = stoker.torch.tensors(batch)
    >>> image.shape
    torch.Size([8, 3, 224, 224])
    """
    return _as_tensors(batch, _Form(pinned=False, channels_last=channels_last))


def _signature() -> inspect.Signature:
    plain = inspect.signature(stoker.Loader.__init__)
    ours = inspect.Parameter("channels_last", inspect.Parameter.KEYWORD_ONLY, default=False, annotation="bool")
    return plain.replace(parameters=[*plain.parameters.values(), ours])


Loader.__init__.__signature__ = _signature()  # type: ignore[attr-defined]


def _as_tensors(batch: stoker.Batch, form: _Form) -> Batch:
    facts = SlotFacts(torch.from_numpy(batch.valid), batch.key, torch.from_numpy(batch.position), batch.epoch, batch._seed)
    if form.pinned and torch.cuda.is_available():
        batch.record_stream(torch.cuda.current_stream())  # the stream that usually copies from it
    return make_batch(batch.outputs, [_as_tensor(batch[name], form) for name in batch.outputs], facts)


def _as_tensor(output: stoker.Tensor | stoker.Ragged | stoker.Padded, form: _Form) -> torch.Tensor | Ragged | Padded:
    if isinstance(output, stoker.Ragged):
        return Ragged(torch.from_dlpack(output.values), torch.from_dlpack(output.offsets))
    if isinstance(output, stoker.Padded):
        return Padded(torch.from_dlpack(output.values), torch.from_dlpack(output.counts))
    if form.channels_last and output.layout == "nchw":
        raise ValueError("channels_last is for recipes that end with .layout('nhwc'), and this one's images are nchw")
    tensor = torch.from_dlpack(output)
    return tensor.permute(0, 3, 1, 2) if form.channels_last and output.layout == "nhwc" else tensor


def _make_loader(
    kind: type[Loader], data: stoker.Dataset, recipe: stoker.Recipe, options: dict[str, Any], state: dict[str, Any],
    epoch: int | None
) -> Loader:
    loader = kind.__new__(kind)
    Loader.__init__(loader, data, recipe, **options)  # a derived class's own may take something else
    Loader.load_state_dict(loader, state)
    loader._epoch = epoch
    return loader
