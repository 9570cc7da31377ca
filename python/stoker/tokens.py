"""Writes files of tokens, as Megatron has them, from any tokeniser:

    stoker.tokens.write("corpus", (tokenizer.encode(text) for text in texts), vocab=50257)

makes corpus.bin and corpus.idx, which stoker.open("corpus.bin", tokens=1024) reads.
"""

from __future__ import annotations

import os
import pathlib
from os import PathLike
from typing import TYPE_CHECKING, Any, BinaryIO, Iterable, Sequence, Union

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

_MAGIC = b"MMIDIDX\x00\x00"
_CODES = {"uint8": 1, "int8": 2, "int16": 3, "int32": 4, "int64": 5, "uint16": 8}
_TOKENS_MAX = (1 << 31) - 1  # of a document: the index has their number in 32 bits

_Path = Union[str, "PathLike[str]"]


def write(
    path: _Path,
    documents: Iterable[Sequence[int] | NDArray[Any]],
    vocab: int | None = None,
    dtype: DTypeLike | None = None,
) -> tuple[int, int]:
    """Writes PATH.bin and PATH.idx, whole or not at all; returns (documents, tokens).

    path: with or without .bin at its end: "corpus" and "corpus.bin" make the same files
    documents: the tokens of each, as lists or arrays of whole numbers
    vocab: how many tokens there are: each is below it, and it chooses the smallest type
    dtype: the type itself, as numpy calls it, which must hold the vocabulary; int32 without either

    >>> stoker.tokens.write("corpus", [[5, 6, 7], [8, 9]], vocab=50257)
    (2, 5)
    >>> len(stoker.open("corpus.bin", tokens="documents"))
    2
    """
    if dtype is None:
        dtype = "int32" if vocab is None or vocab > 1 << 16 else "uint16"
    dtype = np.dtype(dtype)
    if dtype.name not in _CODES:
        raise ValueError(f"tokens cannot be {dtype.name}; use {', '.join(_CODES)}")
    least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
    if vocab is not None:
        if not 1 <= vocab <= most + 1:
            raise ValueError(f"a vocabulary of {vocab} does not fit {dtype.name}, which has room for 1 to {most + 1}; use a larger dtype")
        least, most = 0, vocab - 1
    path, lengths = pathlib.Path(path), []
    path = path.with_suffix("") if path.suffix == ".bin" else path
    partial = {suffix: path.with_name(path.name + suffix + ".unfinished") for suffix in (".bin", ".idx")}
    try:
        with open(partial[".bin"], "wb") as file:
            for document in documents:
                tokens = np.asarray(document)
                if tokens.ndim != 1 or (tokens.size and tokens.dtype.kind not in "iu"):
                    raise ValueError(f"document {len(lengths)} is not a list of whole numbers")
                if tokens.size > _TOKENS_MAX:
                    raise ValueError(f"document {len(lengths)} has {tokens.size} tokens, and an index has room for {_TOKENS_MAX}: cut "
                                     "it into several")
                if tokens.size and not (least <= tokens.min() and tokens.max() <= most):
                    raise ValueError(f"document {len(lengths)} has tokens from {tokens.min()} to {tokens.max()}, beyond {least} to {most}")
                file.write(tokens.astype(dtype).astype(dtype.newbyteorder("<")).tobytes())
                lengths.append(tokens.size)
            _to_disk(file)
        if not lengths:
            raise ValueError("there is no document")
        with open(partial[".idx"], "wb") as file:
            file.write(_MAGIC + np.uint64(1).tobytes() + np.uint8(_CODES[dtype.name]).tobytes())
            file.write(np.array([len(lengths), len(lengths) + 1], "<u8").tobytes())
            sizes = np.array(lengths, "<i8")
            file.write(sizes.astype("<i4").tobytes())
            file.write((np.cumsum(sizes) - sizes).astype("<i8").__mul__(dtype.itemsize).tobytes())
            file.write(np.arange(len(lengths) + 1, dtype="<i8").tobytes())
            _to_disk(file)
        for suffix, file in partial.items():
            os.replace(file, path.with_name(path.name + suffix))
    finally:
        for file in partial.values():
            file.unlink(missing_ok=True)
    return len(lengths), int(sum(lengths))


def _to_disk(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())
