"""The loader for PyTorch: its batches are torch tensors over the loader's memory, and unpack as a DataLoader's do.

    for image, label in stoker.torch.Loader("imagenet/train", "imagenet-train", batch=256):
        train(image, label)
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from functools import lru_cache
from os import PathLike
from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator, NamedTuple, Sequence, Union

import torch

import stoker
from stoker import _stoker

_Path = Union[str, "PathLike[str]"]
_Device = torch.device


class SlotFacts(NamedTuple):
    """Facts about a batch's slots, besides the tensors.

    >>> batch = next(iter(stoker.torch.Loader("photos", "imagenet-val", batch=16)))
    >>> bool(batch.valid.all()), len(batch.key), batch.epoch
    (True, 16, 0)
    """

    valid: torch.Tensor  # for each slot, whether it holds a sample; false for padding and skipped bad samples
    key: list[str]  # the samples' keys
    position: torch.Tensor  # the samples' positions in the epoch's global order
    epoch: int  # the epoch's number
    seed: int  # the loader's


@dataclass(eq=False, repr=False)
class Ragged:
    """An output of which each sample has as many rows as it has, such as its boxes. Its length is the number of samples, and its
    elements are their rows.

    >>> recipe = stoker.recipe().view("coded", field="image").decode_bytes(most=1 << 20)
    >>> batch = next(iter(stoker.torch.Loader("photos", recipe, batch=8)))
    >>> len(batch.coded.as_list()), batch.coded.values.dtype
    (8, torch.uint8)
    >>> [rows.shape == batch.coded[slot].shape for slot, rows in enumerate(batch.coded)] == [True] * 8
    True
    """

    values: torch.Tensor  # the rows of all samples, one after another
    offsets: torch.Tensor  # for each sample, the number of its first row; and the number of all rows

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, slot: int) -> torch.Tensor:
        if not -len(self) <= slot < len(self):
            raise IndexError(f"the output has {len(self)} samples, and none in the slot {slot}")
        begin, end = self.offsets[slot % len(self):][:2].tolist()
        return self.values[begin:end]

    def __iter__(self) -> Iterator[torch.Tensor]:
        return iter(self.as_list())

    def __repr__(self) -> str:
        return f"Ragged(values={_shown(self.values)}, offsets={_shown(self.offsets)})"

    def as_list(self) -> list[torch.Tensor]:
        """The rows of each sample."""
        return list(torch.tensor_split(self.values, self.offsets[1:-1].cpu()))

    def as_bytes(self) -> list[bytes]:
        """The bytes of each sample, of an output of bytes."""
        return [bytes(rows.cpu().numpy()) for rows in self.as_list()]

    def as_texts(self) -> list[str]:
        """The same as texts."""
        return [row.decode("utf-8") for row in self.as_bytes()]

    def map(self, function: Callable[[torch.Tensor], torch.Tensor]) -> Ragged:
        """The same with other values: the offsets stay numbers, and go where the values go."""
        values = function(self.values)
        return Ragged(values, self.offsets.to(values.device))

    def to(self, device: str | _Device, non_blocking: bool = False) -> Ragged:
        """The same on a device."""
        return self.map(lambda values: values.to(device, non_blocking=non_blocking))


@dataclass(eq=False, repr=False)
class Padded:
    """An output whose samples were filled up to one number of rows, by pad_to.

    >>> recipe = stoker.recipe().view("head", field="image").decode_bytes(most=16, longer="cut").pad_to(16)
    >>> next(iter(stoker.torch.Loader("photos", recipe, batch=8))).head.values.shape
    torch.Size([8, 16])
    """

    values: torch.Tensor  # for each sample, as many rows
    counts: torch.Tensor  # for each sample, how many rows it had: more than it has here, where they were cut off

    def __len__(self) -> int:
        return len(self.counts)

    def __getitem__(self, slot: int) -> torch.Tensor:
        if not -len(self) <= slot < len(self):
            raise IndexError(f"the output has {len(self)} samples, and none in the slot {slot}")
        return self.values[slot, :int(self.counts[slot])]

    def __iter__(self) -> Iterator[torch.Tensor]:
        return iter(self.as_list())

    def __repr__(self) -> str:
        return f"Padded(values={_shown(self.values)}, counts={_shown(self.counts)})"

    def as_list(self) -> list[torch.Tensor]:
        """For each sample, its rows that are here, without those that fill it up."""
        return [rows[:count] for rows, count in zip(self.values, self.counts.tolist())]

    def map(self, function: Callable[[torch.Tensor], torch.Tensor]) -> Padded:
        """The same with other values: the counts stay numbers, and go where the values go."""
        values = function(self.values)
        return Padded(values, self.counts.to(values.device))

    def to(self, device: str | _Device, non_blocking: bool = False) -> Padded:
        """The same on a device."""
        return self.map(lambda values: values.to(device, non_blocking=non_blocking))


class Batch(tuple):
    """The outputs as tensors, in the recipe's order: `image, label = batch`. Each is also an attribute of its name.

    The loader reuses the memory for a later batch when no tensor of this one is left. A batch made from the tensors by
    `type(batch)(t.half() for t in batch)` has the outputs' names; one made by `batch.map(torch.Tensor.half)` also has
    the facts about slots (valid, key, position, epoch) and a random_seed.

    >>> batch = next(iter(stoker.torch.Loader("photos", "imagenet-train", batch=8)))
    >>> image, label = batch
    >>> image is batch.image
    True
    >>> batch
    Batch(image=[8, 3, 224, 224] torch.float32, label=[8] torch.int64)
    """

    _names: tuple[str, ...] = ()
    _facts: SlotFacts | None

    def __new__(cls, tensors: Iterable[torch.Tensor], facts: SlotFacts | None = None) -> Batch:
        self = super().__new__(cls, tensors)
        self._facts = facts
        return self

    def __getitem__(self, which: Any) -> Any:
        if not isinstance(which, str):
            return super().__getitem__(which)
        if which in self._names:
            return super().__getitem__(self._names.index(which))
        raise KeyError(f"the batch has no output '{which}', only {', '.join(self._names)}")

    def __getattr__(self, name: str) -> Any:
        if name in self._names:
            return self[name]
        if name in SlotFacts._fields:
            return self._fact(name)
        raise AttributeError(f"the batch has no output '{name}'")

    def _fact(self, name: str) -> Any:
        facts = self.__dict__.get("_facts")
        if facts is None:
            raise AttributeError(f"these tensors were put together without the batch's '{name}': use batch.map()")
        return getattr(facts, name)

    def random_seed(self, name: str = "") -> int:
        """A number below 2**63 for random numbers that you draw for this batch: a function of the loader's seed, the epoch, the
        batch's first position and the name, and so the same after a resume and for any number of threads."""
        first = self._fact("position")[:1].tolist()
        return _stoker._batch_random_seed(self._fact("seed"), self._fact("epoch"), first[0] if first else 0, name)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._names, *SlotFacts._fields]

    def __repr__(self) -> str:
        outputs = (f"{name}={_shown(one)}" for name, one in zip(self._names, self))
        return f"Batch({', '.join(outputs)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _make_batch, (self._names, tuple(self), self._facts)

    def map(self, function: Callable[[torch.Tensor], torch.Tensor]) -> Batch:
        """The same batch with the function applied to each tensor: batch.map(lambda tensor: tensor.to("cuda"))."""
        return type(self)((one.map(function) if isinstance(one, (Ragged, Padded)) else function(one) for one in self), self._facts)


def _shown(output: torch.Tensor | Ragged | Padded) -> str:
    if isinstance(output, (Ragged, Padded)):
        return f"{type(output).__name__.lower()} {_shown(output.values)}"
    return f"{list(output.shape)} {output.dtype}"


@lru_cache(maxsize=None)
def _batch_type(names: tuple[str, ...]) -> type[Batch]:
    return type("Batch", (Batch,), {"_names": names, "__module__": __name__, "__doc__": Batch.__doc__})


def _make_batch(names: tuple[str, ...], tensors: Iterable[torch.Tensor], facts: SlotFacts | None) -> Batch:
    return _batch_type(names)(tensors, facts)


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
        return _make_loader, (data, recipe, options, state, self._epoch)

    def _check_place(self) -> None:
        """Against a process group that was made after the loader, unless the arguments gave its place."""
        group = None if self._is_placed else _group()
        if group in (None, self._loader._rank):
            return
        (rank, world), (our_rank, our_world) = group, self._loader._rank
        raise stoker.Error(
            f"this process is rank {rank} of {world} of torch.distributed, and the loader, which was made before it was initialised, "
            f"has the samples of rank {our_rank} of {our_world}: make the loader after init_process_group(), or give rank= and world=")

    def epoch(self, epoch: int) -> EpochIterator:
        """An iterator over the batches of this epoch."""
        self._check_place()
        return EpochIterator(self._loader.epoch(epoch), self._form)

    def request(self, epoch: int, index: int) -> None:
        """Asks for one batch of an epoch, the same as in a run; take() gives it."""
        self._loader.request(epoch, index)

    def take(self, timeout: float | None = None) -> Batch | None:
        """The first batch that request() asked for and that was not taken yet; None after the timeout, in seconds."""
        batch = self._loader.take(timeout)
        return None if batch is None else _as_tensors(batch, self._form)

    def set_epoch(self, epoch: int) -> None:
        """Names the epoch that the next iteration runs, as with a DistributedSampler."""
        self._epoch = epoch

    def state_dict(self) -> dict[str, Any]:
        """The position of training: after the batches that iteration has yielded, before those that are prefetched."""
        return self._loader.state_dict()

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Moves the loader to a state's position; the state may come from another number of ranks."""
        self._loader.load_state_dict(state_dict)

    @property
    def quarantine(self) -> list[dict[str, Any]]:
        """The bad samples found so far."""
        return self._loader.quarantine

    def set(self, **knobs: int) -> None:
        """Changes knobs while an epoch runs; the batches stay the same."""
        self._loader.set(**knobs)

    def metrics(self) -> dict[str, int]:
        """What the loader has measured so far, by name."""
        return self._loader.metrics()

    def report(self, epoch: int | None = None) -> stoker.Report:
        """What limits this training, since its first batch or in one epoch."""
        return self._loader.report(epoch)

    def headspace(self, steps: int) -> None:
        """Measures what a step takes without loading: the next batch is yielded so many times more."""
        self._loader.headspace(steps)

    @property
    def replays(self) -> bool:
        """Whether the batch that was yielded last was one that had been yielded before, for headspace()."""
        return self._loader.replays

    def worker_times(self) -> list[dict[str, int]]:
        """For each worker, the time that it was busy and the time that it was idle so far, in nanoseconds."""
        return self._loader.worker_times()

    def tuning(self) -> list[dict[str, Any]]:
        """The windows of tuning so far."""
        return self._loader.tuning()

    def tune_report(self, path: _Path) -> None:
        """Draws what tuning() returns, as an HTML page."""
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
        """Stops and joins the loader's threads."""
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
    return _make_batch(batch.outputs, [_as_tensor(batch[name], form) for name in batch.outputs], facts)


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
    data: stoker.Dataset, recipe: stoker.Recipe, options: dict[str, Any], state: dict[str, Any], epoch: int | None
) -> Loader:
    loader = Loader(data, recipe, **options)
    loader.load_state_dict(state)
    loader._epoch = epoch
    return loader
