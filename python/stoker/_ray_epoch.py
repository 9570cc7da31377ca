"""What iterates over a stoker.ray.Loader."""

from __future__ import annotations

from typing import TYPE_CHECKING

import stoker

if TYPE_CHECKING:
    from stoker._ray_loader import Loader


class EpochIterator:
    """The remaining batches of an epoch; its length is their number.

    >>> with stoker.ray.Loader("photos", "imagenet-train", batch=8, actors=1) as loader:
    ...     loader.epoch(3)
    stoker.ray.EpochIterator(batches_left=3)
    """

    def __init__(self, loader: Loader, turn: int, left: int) -> None:
        self._loader, self._turn, self._left = loader, turn, left

    def __iter__(self) -> EpochIterator:
        return self

    def __next__(self) -> stoker.Batch:
        if self._left == 0:
            self._loader._end_epoch(self._turn)
            raise StopIteration
        batch = self._loader._next(self._turn)
        self._left -= 1
        return batch

    def __len__(self) -> int:
        return self._left

    def __repr__(self) -> str:
        return f"stoker.ray.EpochIterator(batches_left={self._left})"
