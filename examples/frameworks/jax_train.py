"""Trains a small network with JAX and Flax on Stoker's batches, in one process, and goes on where it was stopped.

    python jax_train.py DATA --checkpoint run.msgpack
"""

import argparse
import itertools
import json
import os
from pathlib import Path

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from flax import serialization
from flax.training.train_state import TrainState

import stoker

SIDE = 32


class Network(nn.Module):
    classes: int

    @nn.compact
    def __call__(self, images):
        for features in (16, 32):
            images = nn.relu(nn.Conv(features, (3, 3), strides=2)(images))
        return nn.Dense(self.classes)(images.mean(axis=(1, 2)))


@jax.jit
def step(state, images, labels):
    def loss_of(parameters):
        logits = state.apply_fn(parameters, images)
        return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()

    loss, gradients = jax.value_and_grad(loss_of)(state.params)
    return state.apply_gradients(grads=gradients), loss


def save(path, state, loader):
    """Whole or not at all: a process that is killed while it writes leaves the checkpoint before."""
    unfinished = path.with_suffix(".unfinished")
    unfinished.write_bytes(serialization.to_bytes({"training": state, "loader": json.dumps(loader.state_dict())}))
    os.replace(unfinished, path)


def main(words=None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data")
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--steps", type=int, help="stop after so many")
    parser.add_argument("--checkpoint", type=Path, help="go on from this file if it is there, and write it")
    parser.add_argument("--every", type=int, default=1000, help="steps between two checkpoints; an epoch ends with one, too")
    options = parser.parse_args(words)

    data = stoker.open(options.data)
    recipe = stoker.recipe().decode().random_resized_crop(SIDE).random_flip().normalize("imagenet").layout("nhwc")
    loader = stoker.Loader(data, recipe, batch=options.batch)

    network = Network(len(data.classes) or 10)
    parameters = network.init(jax.random.key(0), jnp.zeros((1, SIDE, SIDE, 3)))
    state = TrainState.create(apply_fn=network.apply, params=parameters, tx=optax.sgd(0.05, momentum=0.9))
    if options.checkpoint and options.checkpoint.exists():
        saved = serialization.from_bytes({"training": state, "loader": ""}, options.checkpoint.read_bytes())
        state = saved["training"]
        loader.load_state_dict(json.loads(saved["loader"]))

    batches = (batch for epoch in range(loader.state_dict()["epoch"], options.epochs) for batch in loader.epoch(epoch))
    for number, batch in enumerate(itertools.islice(batches, options.steps), 1):
        # jnp.array() copies: the loader reuses the batch's memory while JAX still computes.
        state, loss = step(state, jnp.array(batch.image), jnp.array(batch.label))
        if number % 100 == 1:
            print(f"epoch {batch.epoch}: loss {loss:.3f}", flush=True)
        is_last = number == options.steps or loader.state_dict()["batch"] == len(loader)  # of this run or this epoch
        if options.checkpoint and (is_last or number % options.every == 0):
            save(options.checkpoint, state, loader)
    print(loader.report(), end="")
    loader.close()


if __name__ == "__main__":
    main()
