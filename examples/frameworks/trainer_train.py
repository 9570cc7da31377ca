"""Hugging Face's Trainer on Stoker's batches, with the loader's state in its checkpoints.

    python trainer_train.py DATA --output runs
"""

import argparse
import json
from pathlib import Path

import transformers
from transformers.trainer_utils import get_last_checkpoint

import stoker
import stoker.torch


class Named:
    """Batches by the names of the model's arguments."""

    def __init__(self, loader: stoker.torch.Loader) -> None:
        self.loader = loader

    def __len__(self) -> int:
        return len(self.loader)

    def __iter__(self):
        for batch in self.loader:
            yield {"pixel_values": batch.image, "labels": batch.label}


class Trainer(transformers.Trainer):
    """The loader has this process's part of each batch; Trainer is not to divide it again."""

    def __init__(self, batches: Named, **options) -> None:
        super().__init__(**options)
        self.batches = batches

    def get_train_dataloader(self) -> Named:
        return self.batches


class Position(transformers.TrainerCallback):
    """The loader's state beside the model's, in the same checkpoint."""

    def __init__(self, loader: stoker.torch.Loader) -> None:
        self.loader = loader

    def on_save(self, args, state, control, **_):
        folder = Path(args.output_dir, f"checkpoint-{state.global_step}")
        if args.should_save:
            (folder / "loader.json").write_text(json.dumps(self.loader.state_dict()))


def recipe_for(model: str) -> stoker.Recipe:
    """Images of the size, and with the mean and deviation, that the model was trained on."""
    processor = transformers.AutoImageProcessor.from_pretrained(model)
    size = getattr(processor, "crop_size", None) or processor.size
    size = size if isinstance(size, dict) else vars(size)  # in later versions an object
    side = size.get("height") or size["shortest_edge"]
    recipe = stoker.recipe().decode().random_resized_crop(side).random_flip()
    return recipe.normalize(mean=list(processor.image_mean), std=list(processor.image_std))


def main(words=None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data")
    parser.add_argument("--output", type=Path, default=Path("runs"), help="a folder; go on from its last checkpoint if there is one")
    parser.add_argument("--model", help="of the hub or a folder; without it a small ResNet that was never trained")
    parser.add_argument("--batch", type=int, default=64, help="images of each process")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--steps", type=int, default=-1, help="stop after so many")
    parser.add_argument("--every", type=int, default=100, help="steps between two checkpoints")
    options = parser.parse_args(words)

    data = stoker.open(options.data)
    names = data.classes or [str(number) for number in range(10)]
    labels = {"id2label": dict(enumerate(names)), "label2id": {name: number for number, name in enumerate(names)}}
    if options.model:
        recipe = recipe_for(options.model)
        model = transformers.AutoModelForImageClassification.from_pretrained(
            options.model, ignore_mismatched_sizes=True, **labels)
    else:
        recipe = "imagenet-train"
        model = transformers.ResNetForImageClassification(transformers.ResNetConfig(
            embedding_size=16, hidden_sizes=[16, 32], depths=[1, 1], **labels))
    settings = transformers.TrainingArguments(
        options.output, per_device_train_batch_size=options.batch, num_train_epochs=options.epochs, max_steps=options.steps,
        save_steps=options.every, ignore_data_skip=True, report_to="none", disable_tqdm=True)
    loader = stoker.torch.Loader(
        data, recipe, batch=options.batch, rank=settings.process_index, world=settings.world_size)
    last = get_last_checkpoint(options.output) if options.output.exists() else None
    if last:
        loader.load_state_dict(json.loads(Path(last, "loader.json").read_text()))
    Trainer(Named(loader), model=model, args=settings, callbacks=[Position(loader)]).train(resume_from_checkpoint=last)
    print(loader.report(), end="")
    loader.close()


if __name__ == "__main__":
    main()
