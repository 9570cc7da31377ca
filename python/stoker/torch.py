"""The loader for PyTorch: its batches are torch tensors over the loader's memory, and unpack as a DataLoader's do.

    for image, label in stoker.torch.Loader("imagenet/train", "imagenet-train", batch=256):
        train(image, label)
"""

from __future__ import annotations

from os import PathLike
from typing import Any, Iterable, Iterator, Sequence

import torch

import stoker


class Batch(tuple):
    """The outputs as tensors, in the recipe's order: `image, label = batch`. Each is also an attribute of its name.

    The memory is used for a later batch once no tensor of this one is left.
    """

    def __new__(cls, tensors: Iterable[torch.Tensor], batch: stoker.Batch | None = None) -> Batch:
        self = super().__new__(cls, tensors)
        self._batch = batch
        return self

    def __getattr__(self, name: str) -> torch.Tensor:
        batch = self.__dict__.get("_batch")
        if batch is None or name not in batch.outputs:
            raise AttributeError(f"the batch has no output '{name}'")
        return self[batch.outputs.index(name)]

    @property
    def valid(self) -> torch.Tensor:
        """Per slot, whether a sample stands there; false for padding."""
        return torch.from_numpy(self._batch.valid)

    @property
    def key(self) -> list[str]:
        """The samples' keys."""
        return self._batch.key

    @property
    def position(self) -> torch.Tensor:
        """The samples' positions in the epoch's global order."""
        return torch.from_numpy(self._batch.position)

    @property
    def epoch(self) -> int:
        """The epoch's number."""
        return self._batch.epoch

    @property
    def index(self) -> int:
        """The batch's number within the epoch."""
        return self._batch.index


class Loader:
    """As stoker.Loader, with its arguments; yields Batch."""

    def __init__(
        self,
        data: stoker.Dataset | str | PathLike[str] | Sequence[str | PathLike[str]],
        recipe: stoker.Recipe | str | PathLike[str],
        **options: Any,
    ) -> None:
        self._loader = stoker.Loader(data, recipe, **options)
        self._epoch: int | None = None

    def __len__(self) -> int:
        return len(self._loader)

    def __iter__(self) -> Iterator[Batch]:
        epoch, self._epoch = self._epoch, None
        return _tensors(iter(self._loader) if epoch is None else self._loader.epoch(epoch))

    def epoch(self, epoch: int) -> Iterator[Batch]:
        """An iterator over the batches of this epoch."""
        return _tensors(self._loader.epoch(epoch))

    def set_epoch(self, epoch: int) -> None:
        """Names the epoch that the next iteration runs, as with a DistributedSampler."""
        self._epoch = epoch

    def set(self, **knobs: int) -> None:
        """Changes knobs while an epoch runs; the batches stay the same."""
        self._loader.set(**knobs)

    def metrics(self) -> dict[str, int]:
        """What the loader has measured of itself so far, by name."""
        return self._loader.metrics()

    @property
    def batch_size(self) -> int:
        """Samples per batch of this rank."""
        return self._loader.batch_size

    def close(self) -> None:
        """Stops and joins the loader's threads."""
        self._loader.close()

    def __enter__(self) -> Loader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _tensors(batches: Iterable[stoker.Batch]) -> Iterator[Batch]:
    return map(_as_tensors, batches)  # holds no batch while it waits for the next


def _as_tensors(batch: stoker.Batch) -> Batch:
    return Batch((torch.from_dlpack(batch[name]) for name in batch.outputs), batch)
