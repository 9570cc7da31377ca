"""A batch as torch tensors over the loader's memory: what stoker.torch yields."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Callable, Iterable, Iterator, NamedTuple

import torch

from stoker import _stoker

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
        begin, end = self.offsets[_checked(slot, len(self)):][:2].tolist()
        return self.values[begin:end]

    def __iter__(self) -> Iterator[torch.Tensor]:
        return iter(self.as_list())

    def __repr__(self) -> str:
        return f"Ragged(values={_shown(self.values)}, offsets={_shown(self.offsets)})"

    def as_list(self) -> list[torch.Tensor]:
        """The rows of each sample.

        >>> recipe = stoker.recipe().view("coded", field="image").decode_bytes(most=1 << 20)
        >>> batch = next(iter(stoker.torch.Loader("photos", recipe, batch=8)))
        >>> [rows.dtype for rows in batch.coded.as_list()] == [torch.uint8] * 8
        True
        """
        return list(torch.tensor_split(self.values, self.offsets[1:-1].cpu()))

    def as_bytes(self) -> list[bytes]:
        """The bytes of each sample, of an output of bytes.

        >>> recipe = stoker.recipe().view("coded", field="image").decode_bytes(most=1 << 20)
        >>> batch = next(iter(stoker.torch.Loader("photos", recipe, batch=8)))
        >>> batch.coded.as_bytes()[0][:2]  # a JPEG begins so
        b'\\xff\\xd8'
        """
        return [bytes(rows.cpu().numpy()) for rows in self.as_list()]

    def as_texts(self) -> list[str]:
        """The same as texts.

        >>> words = stoker.recipe("imagenet-val").view("word", field="txt").decode_text()
        >>> sorted(next(iter(stoker.torch.Loader("captions.tar", words, batch=2))).word.as_texts())
        ['a cat', 'a dog']
        """
        return [row.decode("utf-8") for row in self.as_bytes()]

    def map(self, function: Callable[[torch.Tensor], torch.Tensor]) -> Ragged:
        """The same with other values: the offsets stay numbers, and go where the values go.

        >>> recipe = stoker.recipe().view("coded", field="image").decode_bytes(most=1 << 20)
        >>> batch = next(iter(stoker.torch.Loader("photos", recipe, batch=8)))
        >>> batch.coded.map(torch.Tensor.float).values.dtype
        torch.float32
        """
        values = function(self.values)
        return Ragged(values, self.offsets.to(values.device))

    def to(self, device: str | _Device, non_blocking: bool = False) -> Ragged:
        """The same on a device.

        >>> recipe = stoker.recipe().view("coded", field="image").decode_bytes(most=1 << 20)
        >>> batch = next(iter(stoker.torch.Loader("photos", recipe, batch=8)))
        >>> batch.coded.to("cpu").values.device
        device(type='cpu')
        """
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
        return self.values[_checked(slot, len(self)), :int(self.counts[slot])]

    def __iter__(self) -> Iterator[torch.Tensor]:
        return iter(self.as_list())

    def __repr__(self) -> str:
        return f"Padded(values={_shown(self.values)}, counts={_shown(self.counts)})"

    def as_list(self) -> list[torch.Tensor]:
        """For each sample, its rows that are here, without those that fill it up.

        >>> recipe = stoker.recipe().view("head", field="image").decode_bytes(most=16, longer="cut").pad_to(16)
        >>> batch = next(iter(stoker.torch.Loader("photos", recipe, batch=8)))
        >>> [rows.shape for rows in batch.head.as_list()] == [torch.Size([16])] * 8
        True
        """
        return [rows[:count] for rows, count in zip(self.values, self.counts.tolist())]

    def map(self, function: Callable[[torch.Tensor], torch.Tensor]) -> Padded:
        """The same with other values: the counts stay numbers, and go where the values go.

        >>> recipe = stoker.recipe().view("head", field="image").decode_bytes(most=16, longer="cut").pad_to(16)
        >>> batch = next(iter(stoker.torch.Loader("photos", recipe, batch=8)))
        >>> batch.head.map(torch.Tensor.float).values.dtype
        torch.float32
        """
        values = function(self.values)
        return Padded(values, self.counts.to(values.device))

    def to(self, device: str | _Device, non_blocking: bool = False) -> Padded:
        """The same on a device.

        >>> recipe = stoker.recipe().view("head", field="image").decode_bytes(most=16, longer="cut").pad_to(16)
        >>> batch = next(iter(stoker.torch.Loader("photos", recipe, batch=8)))
        >>> batch.head.to("cpu").counts.device
        device(type='cpu')
        """
        return self.map(lambda values: values.to(device, non_blocking=non_blocking))


def _checked(slot: int, count: int) -> int:
    if not -count <= slot < count:
        raise IndexError(f"the output has {count} samples, and none in the slot {slot}")
    return slot % count


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
            raise AttributeError(f"this batch has no '{name}', since it was made of tensors alone: use batch.map(), which keeps it")
        return getattr(facts, name)

    def random_seed(self, name: str = "") -> int:
        """A number below 2**63 for random numbers that you draw for this batch: a function of the loader's seed, the epoch, the
        batch's first position and the name, and so the same after a resume and for any number of threads.

        >>> batch = next(iter(stoker.torch.Loader("photos", "imagenet-train", batch=8)))
        >>> noise = torch.Generator().manual_seed(batch.random_seed("noise"))
        """
        first = self._fact("position")[:1].tolist()
        return _stoker._batch_random_seed(self._fact("seed"), self._fact("epoch"), first[0] if first else 0, name)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._names, *SlotFacts._fields]

    def __repr__(self) -> str:
        outputs = (f"{name}={_shown(one)}" for name, one in zip(self._names, self))
        return f"Batch({', '.join(outputs)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return make_batch, (self._names, tuple(self), self._facts)

    def map(self, function: Callable[[torch.Tensor], torch.Tensor]) -> Batch:
        """The same batch with the function applied to each tensor: batch.map(lambda tensor: tensor.to("cuda")).

        >>> batch = next(iter(stoker.torch.Loader("photos", "imagenet-train", batch=8)))
        >>> batch.map(torch.Tensor.half)
        Batch(image=[8, 3, 224, 224] torch.float16, label=[8] torch.float16)
        """
        return type(self)((one.map(function) if isinstance(one, (Ragged, Padded)) else function(one) for one in self), self._facts)


def _shown(output: torch.Tensor | Ragged | Padded) -> str:
    if isinstance(output, (Ragged, Padded)):
        return f"{type(output).__name__.lower()} {_shown(output.values)}"
    return f"{list(output.shape)} {output.dtype}"


@lru_cache(maxsize=None)
def _batch_type(names: tuple[str, ...]) -> type[Batch]:
    return type("Batch", (Batch,), {"_names": names, "__module__": Batch.__module__, "__doc__": Batch.__doc__})


def make_batch(names: tuple[str, ...], tensors: Iterable[torch.Tensor], facts: SlotFacts | None) -> Batch:
    return _batch_type(names)(tensors, facts)
