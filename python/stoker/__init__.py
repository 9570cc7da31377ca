"""Turns folders and shards of images into training batches, fast and reproducibly.

    data = stoker.open("imagenet/train")
    recipe = stoker.recipe().decode().random_resized_crop(224).random_flip().normalize("imagenet")
    loader = stoker.Loader(data, recipe, batch=256, seed=7)
    for epoch in range(90):
        for batch in loader.epoch(epoch):
            train(torch.from_dlpack(batch.image), torch.from_dlpack(batch.label))

`stoker.torch.Loader` yields torch tensors and replaces a torch DataLoader.
"""

from stoker._signature import tell_signatures as _tell_signatures
from stoker._stoker import (
    Batch, Dataset, EpochIterator, Error, Loader, OperatorCall, Padded, Preprocessor, Ragged, Recipe, Report, SampleFacts, Tensor,
    mix, op, open, recipe)
from stoker._stoker import __version__ as __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from stoker import ray as ray
    from stoker import tensorboard as tensorboard
    from stoker import tokens as tokens
    from stoker import torch as torch
del TYPE_CHECKING

_MODULES = ("ray", "tensorboard", "tokens", "torch")

__all__ = ["Batch", "Dataset", "EpochIterator", "Error", "Loader", "OperatorCall", "Padded", "Preprocessor", "Ragged", "Recipe", "Report",
           "SampleFacts", "Tensor", "include_folder", "mix", "op", "open", "recipe"]

for _public in (Batch, Dataset, EpochIterator, Loader, OperatorCall, Padded, Preprocessor, Ragged, Recipe, Report, SampleFacts, Tensor):
    _public.__module__ = "stoker"  # where users and pickle find it
_tell_signatures([Loader, Preprocessor, Recipe], open, Recipe.to_toml, recipe().to_toml)
del _public


def include_folder() -> str:
    """Where stoker_function.h is, which functions in shared objects include.

    >>> import os
    >>> os.listdir(stoker.include_folder())
    ['stoker_function.h']
    """
    import pathlib

    return str(pathlib.Path(__file__).parent / "include")


def __getattr__(name):
    """Imports a module of Stoker's when it is first used: what it needs takes time to import, and may not be installed."""
    if name not in _MODULES:
        raise AttributeError(f"module 'stoker' has no attribute '{name}'")
    import importlib

    try:
        return importlib.import_module(f"stoker.{name}")
    except ImportError as error:
        if error.name != name:
            raise
        package = {"ray": "Ray", "torch": "PyTorch"}[name]
        raise AttributeError(f"stoker.{name} needs {package}, which is not installed (pip install {name})") from error


def __dir__():
    return [*globals(), *_MODULES]
