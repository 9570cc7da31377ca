"""Trains a small language model on a text: packed sequences whose documents do not see each other, and from where it was stopped.

    stoker pack corpus.txt packed --tokens words --vocab 10000
    python train.py packed/tokens.bin --vocab packed/vocab.txt --checkpoint run.pt
"""

import argparse
import itertools
import os
from pathlib import Path

import torch
from torch import nn

import stoker
import stoker.torch


class Block(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.before, self.after = nn.LayerNorm(width), nn.LayerNorm(width)
        self.parts, self.joined = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.feed = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, states, hidden):
        count, length, width = states.shape
        query, key, value = self.parts(self.before(states)).reshape(count, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        weights = (query @ key.transpose(-1, -2) / (width / self.heads) ** 0.5).masked_fill(hidden[:, None], float("-inf"))
        states = states + self.joined((weights.softmax(-1) @ value).transpose(1, 2).reshape(count, length, width))
        return states + self.feed(self.after(states))


class Model(nn.Module):
    def __init__(self, vocab: int, length: int, width: int, layers: int, heads: int = 4) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(vocab, width), nn.Embedding(length, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm, self.out = nn.LayerNorm(width), nn.Linear(width, vocab)

    def forward(self, tokens, positions, documents):
        length = tokens.shape[1]
        later = torch.ones(length, length, dtype=torch.bool, device=tokens.device).triu(1)
        hidden = later | (documents[:, :, None] != documents[:, None, :])  # what comes later, and other documents
        states = self.words(tokens) + self.places(positions)
        for block in self.blocks:
            states = block(states, hidden)
        return self.out(self.norm(states))


def save(path: Path, **parts) -> None:
    """Whole or not at all: a process that is killed while it writes leaves the checkpoint before."""
    unfinished = path.with_suffix(".unfinished")
    torch.save(parts, unfinished)
    os.replace(unfinished, path)


def main(words=None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", help="tokens.bin, with its index beside it")
    parser.add_argument("--vocab", type=Path, required=True, help="vocab.txt of the pack: one word in each line")
    parser.add_argument("--length", type=int, default=256, help="tokens of a sequence")
    parser.add_argument("--batch", type=int, default=16, help="sequences of a step")
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--steps", type=int, help="stop after so many")
    parser.add_argument("--checkpoint", type=Path, help="go on from this file if it is there, and write it")
    parser.add_argument("--every", type=int, default=1000, help="steps between two checkpoints; an epoch ends with one, too")
    options = parser.parse_args(words)

    vocab = options.vocab.read_text().splitlines()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    data = stoker.open(options.data, tokens=options.length)
    recipe = stoker.recipe()
    for part in ("inputs", "targets", "positions", "documents"):
        recipe = recipe.view(part, field=data.fields[0]).decode_tokens(options.length, part=part, eod=vocab.index("<eos>"))
    loader = stoker.torch.Loader(data, recipe, batch=options.batch, seed=1, pin_memory=device == "cuda")

    torch.manual_seed(0)
    model = Model(len(vocab), options.length, options.width, options.layers).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    if options.checkpoint and options.checkpoint.exists():
        saved = torch.load(options.checkpoint)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        loader.load_state_dict(saved["loader"])

    batches = (batch for epoch in range(loader.state_dict()["epoch"], options.epochs) for batch in loader.epoch(epoch))
    for step, batch in enumerate(itertools.islice(batches, options.steps), 1):
        batch = batch.map(lambda tensor: tensor.to(device, non_blocking=True))
        logits = model(batch.inputs, batch.positions, batch.documents)
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), batch.targets.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 100 == 1:
            print(f"epoch {batch.epoch}: loss {loss.item():.3f}", flush=True)
        is_last = step == options.steps or loader.state_dict()["batch"] == len(loader)  # of this run or this epoch
        if options.checkpoint and (is_last or step % options.every == 0):
            save(options.checkpoint, model=model.state_dict(), optimizer=optimizer.state_dict(), loader=loader.state_dict())
    print(loader.report(), end="")
    loader.close()


if __name__ == "__main__":
    main()
