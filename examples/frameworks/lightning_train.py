"""Lightning's Trainer on Stoker's batches, with checkpoints in the midst of an epoch.

    python lightning_train.py DATA --checkpoints runs
"""

import argparse
from pathlib import Path

import lightning
import torch
from torch import nn

import stoker
import stoker.torch

SIDE = 32


class Classifier(lightning.LightningModule):
    def __init__(self, classes: int) -> None:
        super().__init__()
        self.network = nn.Sequential(
            nn.Conv2d(3, 16, 3, stride=2), nn.ReLU(), nn.Conv2d(16, 32, 3, stride=2), nn.ReLU(),
            nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, classes))

    def transfer_batch_to_device(self, batch, device, _):
        return batch.map(lambda tensor: tensor.to(device, non_blocking=True))  # with what is known of its samples

    def training_step(self, batch, number):
        loss = nn.functional.cross_entropy(self.network(batch.image), batch.label)
        self.log("loss", loss, prog_bar=True)
        return loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.05, momentum=0.9)


class Photographs(lightning.LightningDataModule):
    def __init__(self, path: str, batch: int) -> None:
        super().__init__()
        self.data, self.batch = stoker.open(path), batch

    def train_dataloader(self) -> stoker.torch.Loader:
        # Lightning calls this in each of the processes that it has started, so that the loader has that process's part of
        # each batch. Its state is in Lightning's checkpoints.
        recipe = stoker.recipe().decode().random_resized_crop(SIDE).random_flip().normalize("imagenet")
        self.loader = stoker.torch.Loader(self.data, recipe, batch=self.batch, pin_memory=torch.cuda.is_available())
        return self.loader


def main(words=None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data")
    parser.add_argument("--batch", type=int, default=32, help="images of each process")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--steps", type=int, default=-1, help="stop after so many")
    parser.add_argument("--checkpoints", type=Path, help="a folder; go on from its last one if there is one")
    parser.add_argument("--every", type=int, default=50, help="steps between two checkpoints")
    options = parser.parse_args(words)

    photographs = Photographs(options.data, options.batch)
    callbacks, last = [], None
    if options.checkpoints:
        callbacks.append(lightning.pytorch.callbacks.ModelCheckpoint(
            options.checkpoints, save_last=True, every_n_train_steps=options.every))
        if (options.checkpoints / "last.ckpt").exists():
            last = options.checkpoints / "last.ckpt"
    trainer = lightning.Trainer(
        max_epochs=options.epochs, max_steps=options.steps, callbacks=callbacks, logger=False, enable_checkpointing=bool(callbacks),
        enable_progress_bar=False, enable_model_summary=False, use_distributed_sampler=False)
    model = Classifier(len(photographs.data.classes) or 10)
    trainer.fit(model, photographs, ckpt_path=last)
    print(photographs.loader.report(), end="")
    photographs.loader.close()


if __name__ == "__main__":
    main()
