"""The loader for PyTorch: its batches are torch tensors over the loader's memory, and unpack as a DataLoader's do.

    for image, label in stoker.torch.Loader("imagenet/train", "imagenet-train", batch=256):
        train(image, label)
"""

from __future__ import annotations

import inspect
from functools import lru_cache
from os import PathLike
from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator, NamedTuple, Sequence, Union

import torch

import stoker

_Path = Union[str, "PathLike[str]"]
_Device = torch.device


class SlotFacts(NamedTuple):
    """What stands in a batch's slots, beside the tensors."""

    valid: torch.Tensor  # per slot, whether a sample stands there; false for padding and for bad ones that were skipped
    key: list[str]  # the samples' keys
    position: torch.Tensor  # the samples' positions in the epoch's global order
    epoch: int  # the epoch's number


class Batch(tuple):
    """The outputs as tensors, in the recipe's order: `image, label = batch`. Each is also an attribute of its name.

    The loader uses the memory for a later batch once no tensor of this one is left. What is made from the tensors as
    `type(batch)(t.half() for t in batch)` has the outputs' names; `batch.map(torch.Tensor.half)` keeps the slots' facts
    (valid, key, position, epoch) too.
    """

    _names: tuple[str, ...] = ()
    _facts: SlotFacts | None

    def __new__(cls, tensors: Iterable[torch.Tensor], facts: SlotFacts | None = None) -> Batch:
        self = super().__new__(cls, tensors)
        self._facts = facts
        return self

    def __getattr__(self, name: str) -> Any:
        if name in self._names:
            return self[self._names.index(name)]
        facts = self.__dict__.get("_facts")
        if name in SlotFacts._fields:
            if facts is None:
                raise AttributeError(f"these tensors were put together without the batch's '{name}': use batch.map()")
            return getattr(facts, name)
        raise AttributeError(f"the batch has no output '{name}'")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._names, *SlotFacts._fields]

    def __repr__(self) -> str:
        outputs = (f"{name}={list(tensor.shape)} {tensor.dtype}" for name, tensor in zip(self._names, self))
        return f"Batch({', '.join(outputs)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _make_batch, (self._names, tuple(self), self._facts)

    def map(self, function: Callable[[torch.Tensor], torch.Tensor]) -> Batch:
        """The same batch with the function applied to each tensor: batch.map(lambda tensor: tensor.to("cuda"))."""
        return type(self)(map(function, self), self._facts)


@lru_cache(maxsize=None)
def _batch_type(names: tuple[str, ...]) -> type[Batch]:
    return type("Batch", (Batch,), {"_names": names, "__module__": __name__, "__doc__": Batch.__doc__})


def _make_batch(names: tuple[str, ...], tensors: Iterable[torch.Tensor], facts: SlotFacts | None) -> Batch:
    return _batch_type(names)(tensors, facts)


class _Form(NamedTuple):
    """What is made of the outputs, beside their being tensors."""

    pinned: bool
    channels_last: bool


class EpochIterator:
    """The batches of an epoch that are still to come; its length is their number."""

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
    """As stoker.Loader, with its arguments; yields Batch.

    channels_last: images of recipes with .layout("nhwc") come as N x C x H x W tensors of torch.channels_last, without
        a copy
    pin_memory: the stream that is current when a batch comes may copy from it without blocking, until no tensor of it
        is left; of others it is to be told: stoker.Batch.record_stream()
    """

    _loader: stoker.Loader
    _form: _Form
    _epoch: int | None

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
            device: str | _Device = "cpu",
            transfer_index: int | str = "auto",
            device_memory: int | str | None = None,
            nvjpeg: bool = False,
            pin_memory: bool = False,
            pin_threads: bool = True,
            io_depth: int | None = None,
            metrics_address: int | str | None = None,
            name: str | None = None,
            tune: str = "on",
            pixels_max: int | None = None,
            channels_last: bool = False,
        ) -> None: ...

    else:  # mistakes are answered by stoker.Loader, in its words

        def __init__(self, *positional, channels_last=False, **named):
            self._loader = stoker.Loader(*positional, **named)
            self._form = _Form(named.get("pin_memory", False), channels_last)
            self._epoch = None

    def __len__(self) -> int:
        return len(self._loader)

    def __iter__(self) -> Iterator[Batch]:
        epoch, self._epoch = self._epoch, None
        return EpochIterator(iter(self._loader), self._form) if epoch is None else self.epoch(epoch)

    def __repr__(self) -> str:
        return f"stoker.torch.{self._loader!r}"

    def __reduce__(self) -> tuple[Any, ...]:
        _, (data, recipe, options, state) = self._loader.__reduce__()
        options = {**options, "channels_last": self._form.channels_last}
        return _make_loader, (data, recipe, options, state, self._epoch)

    def epoch(self, epoch: int) -> EpochIterator:
        """An iterator over the batches of this epoch."""
        return EpochIterator(self._loader.epoch(epoch), self._form)

    def set_epoch(self, epoch: int) -> None:
        """Names the epoch that the next iteration runs, as with a DistributedSampler."""
        self._epoch = epoch

    def state_dict(self) -> dict[str, Any]:
        """Where training stands: what iterating has yielded is behind it, what is prefetched is not."""
        return self._loader.state_dict()

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Goes to where a state stands, which may be of another number of ranks."""
        self._loader.load_state_dict(state_dict)

    @property
    def quarantine(self) -> list[dict[str, Any]]:
        """The bad samples that were met so far."""
        return self._loader.quarantine

    def set(self, **knobs: int) -> None:
        """Changes knobs while an epoch runs; the batches stay the same."""
        self._loader.set(**knobs)

    def metrics(self) -> dict[str, int]:
        """What the loader has measured of itself so far, by name."""
        return self._loader.metrics()

    def worker_times(self) -> list[dict[str, int]]:
        """By worker, how long it was busy and how long it had nothing to do so far, in nanoseconds."""
        return self._loader.worker_times()

    def tuning(self) -> list[dict[str, Any]]:
        """Window by window what was tuned so far."""
        return self._loader.tuning()

    def tune_report(self, path: _Path) -> None:
        """Draws that, as a page of HTML."""
        self._loader.tune_report(path)

    @property
    def dataset(self) -> stoker.Dataset:
        """The data set, of every rank's samples."""
        return self._loader.dataset

    @property
    def batch_size(self) -> int:
        """Samples per batch of this rank."""
        return self._loader.batch_size

    @property
    def threads(self) -> int:
        """Workers at present."""
        return self._loader.threads

    @property
    def prefetch(self) -> int:
        """Batches made ahead at present."""
        return self._loader.prefetch

    @property
    def transfer_index(self) -> int:
        """Stages that the CPU does at present."""
        return self._loader.transfer_index

    @property
    def metrics_address(self) -> str | None:
        """Where metrics are served, with the port that was found."""
        return self._loader.metrics_address

    @property
    def io_depth(self) -> int:
        """Reads under way at once, at most, at present."""
        return self._loader.io_depth

    def close(self) -> None:
        """Stops and joins the loader's threads."""
        self._loader.close()

    def __enter__(self) -> Loader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _signature() -> inspect.Signature:
    plain = inspect.signature(stoker.Loader.__init__)
    ours = inspect.Parameter("channels_last", inspect.Parameter.KEYWORD_ONLY, default=False, annotation="bool")
    return plain.replace(parameters=[*plain.parameters.values(), ours])


Loader.__init__.__signature__ = _signature()  # type: ignore[attr-defined]


def _as_tensors(batch: stoker.Batch, form: _Form) -> Batch:
    facts = SlotFacts(torch.from_numpy(batch.valid), batch.key, torch.from_numpy(batch.position), batch.epoch)
    if form.pinned and torch.cuda.is_available():
        batch.record_stream(torch.cuda.current_stream())  # which copies from it, as a rule
    return _make_batch(batch.outputs, [_as_tensor(batch[name], form) for name in batch.outputs], facts)


def _as_tensor(output: stoker.Tensor, form: _Form) -> torch.Tensor:
    tensor = torch.from_dlpack(output)
    return tensor.permute(0, 3, 1, 2) if form.channels_last and output.layout == "nhwc" else tensor


def _make_loader(
    data: stoker.Dataset, recipe: stoker.Recipe, options: dict[str, Any], state: dict[str, Any], epoch: int | None
) -> Loader:
    loader = Loader(data, recipe, **options)
    loader.load_state_dict(state)
    loader._epoch = epoch
    return loader
