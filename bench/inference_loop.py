"""A contestant of the benchmark of inference, told over stdin how large requests are and how many to make: answers with how long each
took."""

import io
import itertools
import json
import pathlib
import sys
import time


def stoker_bytes(files, _, threads):
    import stoker

    ready = stoker.Preprocessor("imagenet-val", threads=threads)
    return ready, [file.read_bytes() for file in files]


def stoker_files(files, _, threads):
    import stoker

    return stoker.Preprocessor("imagenet-val", threads=threads), files


def stoker_urls(files, url, threads):
    import stoker

    return stoker.Preprocessor("imagenet-val", threads=threads), [f"{url}/{file.parent.name}/{file.name}" for file in files]


def torchvision_bytes(files, _, threads):
    """As torchvision's own example of inference does it, item by item."""
    import torch
    from PIL import Image
    from torchvision import transforms

    torch.set_num_threads(threads)
    steps = transforms.Compose([transforms.Resize(256), transforms.CenterCrop(224), transforms.ToTensor(),
                                transforms.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))])

    def ready(items):
        return torch.stack([steps(Image.open(io.BytesIO(item)).convert("RGB")) for item in items])

    return ready, [file.read_bytes() for file in files]


CONTESTANTS = {function.__name__: function for function in (stoker_bytes, stoker_files, stoker_urls, torchvision_bytes)}


def main():
    name, data, url, threads = sys.argv[1:]
    files = sorted(pathlib.Path(data).rglob("*.jpg"))
    ready, items = CONTESTANTS[name](files, url, int(threads))
    forever = itertools.cycle(items)
    for line in sys.stdin:
        batch, count = map(int, line.split())
        took = []
        for number in range(count + 2):
            request = list(itertools.islice(forever, batch))
            began = time.perf_counter()
            ready(request)
            if number >= 2:  # the first ones take memory and connect
                took.append(1e3 * (time.perf_counter() - began))
        print(json.dumps(took), flush=True)


main()
