"""Stoker's side of the benchmark of structured samples, and what its contestants share: they are told over stdin what to do, and answer
with one line of JSON each.

    facts   of the first batches: the shape of their images, the mean pixel, objects each sample
    run     makes batches for some seconds: samples, seconds
"""

import itertools
import json
import sys
import time

import numpy as np

SECONDS, LEAD_IN = 3, 3  # seconds of a round, and batches before it
SAMPLES = 64             # whose facts are told


def recipe_of(name):
    """By its name; with "-boxes" without the masks of objects."""
    import stoker

    whole = stoker.recipe(name.removesuffix("-boxes"))
    if not name.endswith("-boxes"):
        return whole
    before, _, _ = whole.to_toml().partition('[[view]]\nname = "instances"')
    return stoker.Recipe.from_toml(before)


class Stoker:
    def __init__(self, name, data, batch, workers):
        import stoker

        self.make = lambda: stoker.Loader(data, recipe_of(name), batch=batch, threads=workers, tune="off")

    def batches(self):
        """For ever, by a new loader: nothing is left of an earlier round."""
        loader = self.make()
        try:
            for epoch in itertools.count():
                yield from loader.epoch(epoch)
        finally:
            loader.close()

    @staticmethod
    def facts(batch):
        boxes = len(batch.boxes.values) if "boxes" in batch.outputs else 0
        return np.from_dlpack(batch.image), boxes


def facts_of(contestant, batch):
    shapes, means, objects, samples = set(), [], 0, 0
    rounds = contestant.batches()
    while samples < SAMPLES:
        images, boxes = contestant.facts(next(rounds))
        shapes.add((str(images.dtype), *images.shape))
        means.append(float(images.mean()))
        objects, samples = objects + boxes, samples + batch
    rounds.close()
    return {"shapes": sorted(map(list, shapes)), "mean": float(np.mean(means)), "objects": objects / samples}


def timed(contestant, batch):
    rounds = contestant.batches()
    for _ in range(LEAD_IN):
        next(rounds)
    began, samples = time.perf_counter(), 0
    while time.perf_counter() - began < SECONDS:
        next(rounds)
        samples += batch
    seconds = time.perf_counter() - began
    rounds.close()
    return {"samples": samples, "seconds": seconds}


def serve(contestant, batch):
    for line in sys.stdin:
        answer = facts_of(contestant, batch) if line.strip() == "facts" else timed(contestant, batch)
        print(json.dumps(answer), flush=True)


def main():
    name, data, batch, workers = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    serve(Stoker(name, data, batch, workers), batch)


if __name__ == "__main__":
    main()
