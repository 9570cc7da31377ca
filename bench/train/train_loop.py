"""A training of one network, told over stdin when to run: `memory` takes one batch again and again, `fed` takes Stoker's."""

import json
import pathlib
import sys
import time

import stoker
import stoker.torch
import torch
from networks import FCN_R, FCN_S, NETWORKS, STEPS
from torch.nn.functional import cross_entropy

STEPS_MIN = 3
NAME, DATA, THREADS, DEVICE, SECONDS = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3]), sys.argv[4], float(sys.argv[5])


def arrays(count):
    return stoker.recipe().view("vector", field="npy").decode_array("f32", shape=[count]).view("label")


def words():
    recipe = stoker.recipe()
    for part in ("inputs", "targets"):
        recipe = recipe.view(part, field="tokens.u16").decode_tokens(STEPS, part=part)
    return recipe


def loader(kind, batch):
    recipe = {"vectors": lambda: arrays(FCN_S), "digits": lambda: arrays(FCN_R), "photos": lambda: stoker.recipe("imagenet-train"),
              "small": lambda: stoker.recipe("cifar-train"), "words": words}[kind]()
    data = stoker.open(DATA / "words.bin", tokens=STEPS) if kind == "words" else DATA / kind
    return stoker.torch.Loader(data, recipe, batch=batch, threads=THREADS, seed=1)


OUTPUTS = {"vectors": ("vector", "label"), "digits": ("vector", "label"), "photos": ("image", "label"), "small": ("image", "label"),
           "words": ("inputs", "targets")}


def batches(loader, kind):
    """What goes into the network, and what is to come out."""
    while True:
        for batch in loader:
            yield [getattr(batch, name) for name in OUTPUTS[kind]]


def main():
    torch.set_num_threads(THREADS)
    torch.manual_seed(1)
    make, batch, kind = NETWORKS[NAME]
    network = make().to(DEVICE)
    optimizer = torch.optim.SGD(network.parameters(), lr=1e-3)
    with loader(kind, batch) as stoker_loader:
        source = batches(stoker_loader, kind)
        kept = [tensor.clone().to(DEVICE) for tensor in next(source)]

        def step(inputs, targets):
            out = network(inputs)
            loss = cross_entropy(out.flatten(0, -2), targets.flatten().long() % out.shape[-1])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            return loss

        def run(feed):
            step(*feed())
            times, began = [], time.monotonic()
            while time.monotonic() - began < SECONDS or len(times) < STEPS_MIN:
                at = time.monotonic()
                loss = step(*feed())
                if DEVICE != "cpu":
                    loss.item()
                times.append(time.monotonic() - at)
            return times

        for line in sys.stdin:
            feed = (lambda: kept) if line.strip() == "memory" else (lambda: [tensor.to(DEVICE) for tensor in next(source)])
            print(json.dumps(run(feed)), flush=True)


main()
