"""torchvision's transforms in a DataLoader: of PIL images, or of tensors (v2). Usage: torchvision_peer.py FOLDER pil|v2

The DataLoader works in the process itself: a worker beside it on the same core would only copy the batches once more.
"""

import sys

import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset
from torchvision import transforms
from torchvision.io import ImageReadMode, decode_image
from torchvision.transforms import v2

import peer


class Images(Dataset):
    def __init__(self, paths, load, transform):
        self.paths, self.load, self.transform = paths, load, transform

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, i):
        return self.transform(self.load(self.paths[i]))


def load_pil(path):
    with open(path, "rb") as file:
        return Image.open(file).convert("RGB")


def load_tensor(path):
    return decode_image(path, mode=ImageReadMode.RGB)


class CentreBox(torch.nn.Module):
    def forward(self, image):
        height, width = v2.functional.get_size(image)
        x, y, box_width, box_height = peer.centre_box(width, height)
        return v2.functional.resized_crop(image, y, x, box_height, box_width, [peer.SIDE, peer.SIDE], antialias=True)


WAYS = {
    "pil": (load_pil, [transforms.RandomResizedCrop(peer.SIDE), transforms.RandomHorizontalFlip()],
            [transforms.ToTensor(), transforms.Normalize(peer.MEAN, peer.STD)]),
    "v2": (load_tensor, [v2.RandomResizedCrop(peer.SIDE, antialias=True), v2.RandomHorizontalFlip()],
           [v2.ToDtype(torch.float32, scale=True), v2.Normalize(peer.MEAN, peer.STD)]),
}
PATHS = peer.image_paths(sys.argv[1])
LOAD, RANDOM, FORMAT = WAYS[sys.argv[2]]


def loader(paths, geometry, shuffle):
    dataset = Images(paths, LOAD, transforms.Compose([*geometry, *FORMAT]))
    return DataLoader(dataset, batch_size=peer.BATCH, shuffle=shuffle)


def run(epochs):
    return sum(len(batch) for batch in loader(PATHS * epochs, RANDOM, True))


def pixels():
    return torch.cat(list(loader(PATHS[:peer.PIXEL_IMAGES], [CentreBox()], False))).numpy()


torch.set_num_threads(1)
peer.serve(peer.timed(run), pixels)
