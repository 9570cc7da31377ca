"""A small ResNet learns as well from Stoker's recipe as from torchvision's transforms: the accuracies of several seeds do
not differ by more than those of the seeds do."""

import os
import statistics

import numpy as np
import pytest
import torch
from PIL import Image
from torch import nn
from torchvision import transforms

import stoker
import stoker.torch

pytestmark = pytest.mark.skipif("STOKER_TEST_FULL" not in os.environ, reason="only with ./dev test --full")

CLASSES, SIDE = 10, 32
TRAIN, TEST = 1500, 1000
BATCH, EPOCHS, SEEDS = 64, 10, (1, 2, 3)
MEAN, STD = (0.4914, 0.4822, 0.4465), (0.2470, 0.2435, 0.2616)


def shape_of(kind, x, y, size):
    """Where a class's shape covers pixels at x, y from its centre."""
    inside = (abs(x) < size) & (abs(y) < size)
    masks = (lambda: x**2 + y**2 < size**2,
             lambda: (x**2 + y**2 < size**2) & (x**2 + y**2 > size**2 / 3),
             lambda: inside,
             lambda: inside & ((abs(x) > size / 2) | (abs(y) > size / 2)),
             lambda: inside & (y > 2 * abs(x) - size),
             lambda: inside & ((abs(x) < size / 4) | (abs(y) < size / 4)),
             lambda: inside & (abs(abs(x) - abs(y)) < size / 3),
             lambda: inside & (y // 3 % 2 == 0),
             lambda: inside & (x // 3 % 2 == 0),
             lambda: inside & ((x // 3 + y // 3) % 2 == 0))
    return masks[kind]()


def picture_of(kind, rng):
    y, x = np.mgrid[0:SIDE, 0:SIDE]
    center, size = rng.uniform(11, SIDE - 11, 2), rng.uniform(7, 11)
    ground, color = rng.uniform(30, 225, (2, 3))
    color += np.where(color > ground, 1, -1) * 30  # never alike
    slope = np.outer(rng.uniform(-1, 1, 3), (x - 16).ravel()).T.reshape(SIDE, SIDE, 3)
    pixels = np.where(shape_of(kind, x - center[0], y - center[1], size)[..., None], color, ground) + slope
    return np.clip(pixels + rng.normal(0, 70, pixels.shape), 0, 255).astype(np.uint8)


def write_images(folder, count, seed):
    rng = np.random.default_rng(seed)
    for number in range(count):
        kind = number % CLASSES
        path = folder / f"class{kind}" / f"{number:05}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(picture_of(kind, rng)).save(path)
    return folder


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    root = tmp_path_factory.mktemp("parity")
    return write_images(root / "train", TRAIN, 1), write_images(root / "test", TEST, 2)


class Block(nn.Module):
    def __init__(self, before, after, stride):
        super().__init__()
        self.way = nn.Sequential(nn.Conv2d(before, after, 3, stride, 1, bias=False), nn.BatchNorm2d(after), nn.ReLU(),
                                 nn.Conv2d(after, after, 3, 1, 1, bias=False), nn.BatchNorm2d(after))
        self.past = nn.Sequential(nn.Conv2d(before, after, 1, stride, bias=False), nn.BatchNorm2d(after))

    def forward(self, x):
        return torch.relu(self.way(x) + self.past(x))


def network():
    return nn.Sequential(nn.Conv2d(3, 16, 3, 1, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU(), Block(16, 16, 1),
                         Block(16, 32, 2), Block(32, 64, 2), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, CLASSES))


class TorchvisionBatches:
    """torchvision's transforms of the same files, in an order of its own."""

    def __init__(self, folder, seed):
        paths = sorted(folder.rglob("*.png"))
        self.images = [Image.open(path).convert("RGB") for path in paths]
        self.labels = torch.tensor([int(path.parent.name[5:]) for path in paths])
        self.transform = transforms.Compose([
            transforms.RandomCrop(SIDE, padding=4), transforms.RandomHorizontalFlip(), transforms.RandAugment(2, 9),
            transforms.ToTensor(), transforms.Normalize(MEAN, STD)])
        self.order = np.random.default_rng(seed)

    def epoch(self, _):
        for chosen in np.array_split(self.order.permutation(len(self.images)), len(self.images) // BATCH):
            yield torch.stack([self.transform(self.images[i]) for i in chosen]), self.labels[chosen]


def stoker_batches(folder, seed):
    recipe = (stoker.recipe().decode("faithful").random_crop(SIDE, padding=4).random_flip()
              .rand_augment(num_ops=2, magnitude=9).normalize("cifar10"))
    return stoker.torch.Loader(folder, recipe, batch=BATCH, seed=seed, threads=1)


def upright_images(folder):
    recipe = stoker.recipe().decode("faithful").center_crop(SIDE).normalize("cifar10")
    with stoker.torch.Loader(folder, recipe, batch=TEST, order="none", tail="pad") as loader:
        image, label = next(iter(loader))
        return image.clone(), label.clone()


def accuracy_after_training(batches, seed, images, labels):
    torch.manual_seed(seed)
    net, epochs = network(), EPOCHS
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, weight_decay=5e-4, nesterov=True)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.2, epochs * (TRAIN // BATCH + 1))
    for epoch in range(epochs):
        net.train()
        for image, label in batches.epoch(epoch):
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(image), label).backward()
            optimizer.step()
            schedule.step()
    net.eval()
    with torch.no_grad():
        return float((net(images).argmax(1) == labels).float().mean())


def test_a_network_learns_as_well_as_from_torchvisions_transforms(folders):
    train, test = folders
    images, labels = upright_images(test)
    ours, theirs = [], []
    for seed in SEEDS:
        with stoker_batches(train, seed) as loader:
            ours.append(accuracy_after_training(loader, seed, images, labels))
        theirs.append(accuracy_after_training(TorchvisionBatches(train, seed), seed, images, labels))
    spread = max(statistics.stdev(ours), statistics.stdev(theirs), 0.01)
    told = f"Stoker {ours}, torchvision {theirs}"
    assert min(theirs) > 0.5, f"the network does not learn at all, so nothing is compared: {told}"
    assert abs(statistics.mean(ours) - statistics.mean(theirs)) < 3 * spread * (2 / len(SEEDS)) ** 0.5, told
