"""Turns folders and shards of images into training batches, fast and always the same ones.

    data = stoker.open("imagenet/train")
    recipe = stoker.recipe().decode().random_resized_crop(224).random_flip().normalize("imagenet")
    loader = stoker.Loader(data, recipe, batch=256, seed=7)
    for epoch in range(90):
        for batch in loader.epoch(epoch):
            train(torch.from_dlpack(batch.image), torch.from_dlpack(batch.label))

`stoker.torch.Loader` yields torch tensors and stands where a torch DataLoader would.
"""

from stoker._stoker import Batch, Dataset, EpochIterator, Error, Loader, Recipe, SampleFacts, Tensor, mix, open, recipe

__all__ = ["Batch", "Dataset", "EpochIterator", "Error", "Loader", "Recipe", "SampleFacts", "Tensor", "mix", "open",
           "recipe"]

for _public in (Batch, Dataset, EpochIterator, Loader, Recipe, SampleFacts, Tensor):
    _public.__module__ = "stoker"  # where users find it, and pickle too
del _public
