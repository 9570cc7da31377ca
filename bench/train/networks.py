"""The networks whose time per mini-batch the tables have: two that are fully connected, three that see images of ImageNet's size or
of CIFAR's, and one that reads words. As PyTorch has them; -S takes made-up data of its own size, -R real data's."""

import torch
from torch import nn


class Residual(nn.Module):
    """Two convolutions and a way around them."""

    def __init__(self, before, after, stride):
        super().__init__()
        self.way = nn.Sequential(nn.Conv2d(before, after, 3, stride, 1, bias=False), nn.BatchNorm2d(after), nn.ReLU(),
                                 nn.Conv2d(after, after, 3, 1, 1, bias=False), nn.BatchNorm2d(after))
        self.around = nn.Identity() if stride == 1 else nn.Sequential(nn.Conv2d(before, after, 1, stride, bias=False), nn.BatchNorm2d(after))

    def forward(self, images):
        return torch.relu(self.way(images) + self.around(images))


class Words(nn.Module):
    """Two layers that remember, over a vocabulary as large as Penn Treebank's."""

    WORDS, UNITS = 10_000, 256

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(self.WORDS, self.UNITS)
        self.memory = nn.LSTM(self.UNITS, self.UNITS, num_layers=2, batch_first=True)
        self.out = nn.Linear(self.UNITS, self.WORDS)

    def forward(self, words):
        return self.out(self.memory(self.embedding(words))[0])


def fully_connected(inputs, outputs, width=2048):
    return nn.Sequential(nn.Linear(inputs, width), nn.Sigmoid(), nn.Linear(width, width), nn.Sigmoid(), nn.Linear(width, width), nn.Sigmoid(),
                         nn.Linear(width, outputs))


def alexnet_of_cifar():
    return nn.Sequential(nn.Conv2d(3, 32, 5, 1, 2), nn.MaxPool2d(3, 2), nn.ReLU(), nn.Conv2d(32, 32, 5, 1, 2), nn.ReLU(), nn.AvgPool2d(3, 2),
                         nn.Conv2d(32, 64, 5, 1, 2), nn.ReLU(), nn.AvgPool2d(3, 2), nn.Flatten(), nn.Linear(64 * 3 * 3, 10))


def resnet_of_cifar(blocks=9):
    layers = [nn.Conv2d(3, 16, 3, 1, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU()]
    before = 16
    for after in (16, 32, 64):
        layers += [Residual(before if block == 0 else after, after, 2 if block == 0 and after != before else 1) for block in range(blocks)]
        before = after
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10))


def of_torchvision(name):
    import torchvision

    return getattr(torchvision.models, name)(num_classes=1000)


FCN_S, FCN_R = 26_752, 784  # numbers that go in
STEPS = 32                  # words of a sequence

# What is made, samples of a batch, and the data that feed it.
NETWORKS = {
    "FCN-S": (lambda: fully_connected(FCN_S, FCN_S), 64, "vectors"),
    "AlexNet-S": (lambda: of_torchvision("alexnet"), 16, "photos"),
    "ResNet-50": (lambda: of_torchvision("resnet50"), 16, "photos"),
    "FCN-R": (lambda: fully_connected(FCN_R, 10), 1024, "digits"),
    "AlexNet-R": (alexnet_of_cifar, 1024, "small"),
    "ResNet-56": (resnet_of_cifar, 128, "small"),
    "LSTM": (Words, 128, "words"),
}
