"""torchvision's and albumentations' side of the benchmark of structured samples: their transforms in a DataLoader of PyTorch.
Usage: structured_peers.py KIND RECIPE FOLDER BATCH WORKERS, where KIND is

    pil             torchvision v2, on Pillow's images until they are tensors, as in torchvision's references
    tensor          torchvision v2, on tensors, which its own decoder makes
    late            the faster of these orders for any of them: tensors, whose colours change after the last resize
    albumentations  albumentations, on OpenCV's images
"""

import json
import pathlib
import sys

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, RandomSampler

import structured_loop

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
SSD_MEAN = (123, 117, 104)
FILLS = {"lsj": (124, 116, 104), "lsj-boxes": (124, 116, 104), "deeplab-train": (0, 0, 0), "mask2former-train": (128, 128, 128)}
IGNORED = 255  # by losses
SAMPLES_MAX = 1 << 30


class Sample:
    """What belongs to an image, in memory, as a training has it. Masks of objects are made when they are asked for."""

    def __init__(self, path):
        objects = json.loads(path.with_suffix(".json").read_text())
        corners = np.array([one["bbox"] for one in objects], np.float32).reshape(-1, 4)
        self.boxes = np.concatenate([corners[:, :2], corners[:, :2] + corners[:, 2:]], 1)
        self.labels = np.array([one["category_id"] for one in objects], np.int64)
        self.outlines = [one["segmentation"] for one in objects]

    def masks(self, height, width):
        from pycocotools import mask

        made = [mask.decode(mask.merge(mask.frPyObjects(outlines, height, width))) for outlines in self.outlines]
        return np.stack(made) if made else np.zeros((0, height, width), np.uint8)


class Samples(Dataset):
    """Of a recipe, transformed one by one."""

    def __init__(self, recipe, folder):
        self.paths = sorted(pathlib.Path(folder).glob("*.jpg"))
        self.has_objects = recipe in ("ssd-train", "lsj", "lsj-boxes")
        self.has_instances = recipe == "lsj"
        self.samples = [Sample(path) for path in self.paths] if self.has_objects else []

    def __len__(self):
        return len(self.paths)


class Torchvision(Samples):
    def __init__(self, kind, recipe, folder):
        super().__init__(recipe, folder)
        self.kind, self.transform = kind, torchvision_transform(kind, recipe)

    def __getitem__(self, number):
        from PIL import Image
        from torchvision import tv_tensors
        from torchvision.io import ImageReadMode, decode_image

        path = self.paths[number]
        if self.kind == "pil":
            image = Image.open(path).convert("RGB")
            width, height = image.size
        else:
            image = tv_tensors.Image(decode_image(str(path), ImageReadMode.RGB))
            height, width = image.shape[1:]
        if not self.has_objects:
            return self.transform(image, tv_tensors.Mask(torch.from_numpy(np.array(Image.open(path.with_suffix(".mask.png"))))))
        sample = self.samples[number]
        target = {"boxes": tv_tensors.BoundingBoxes(torch.from_numpy(sample.boxes), format="XYXY", canvas_size=(height, width)),
                  "labels": torch.from_numpy(sample.labels)}
        if self.has_instances:
            target["masks"] = tv_tensors.Mask(torch.from_numpy(sample.masks(height, width)))
        return self.transform(image, target)


def torchvision_transform(kind, recipe):
    from PIL import Image
    from torchvision import tv_tensors
    from torchvision.transforms import v2

    plain = [v2.ToImage()] if kind == "pil" else []
    normalized = [*plain, v2.ToDtype(torch.float32, scale=True), v2.Normalize(MEAN, STD)]
    ignored = {tv_tensors.Image: FILLS.get(recipe, 0), Image.Image: FILLS.get(recipe, 0), tv_tensors.Mask: IGNORED, "others": 0}
    colours, flip = v2.RandomPhotometricDistort(), v2.RandomHorizontalFlip()
    early, late = ([], [colours]) if kind == "late" else ([colours], [])
    if recipe == "ssd-train":
        # What the model does first, a resize and taking off the mean, included.
        return v2.Compose([*early, v2.RandomZoomOut(fill=SSD_MEAN), v2.RandomIoUCrop(), flip, v2.Resize((300, 300)), *late, *plain,
                           v2.ToDtype(torch.float32), v2.Normalize(SSD_MEAN, (1, 1, 1)), v2.SanitizeBoundingBoxes()])
    if recipe in ("lsj", "lsj-boxes"):
        return v2.Compose([v2.ScaleJitter((1024, 1024), (0.1, 2)), v2.RandomCrop(1024, pad_if_needed=True, fill=ignored), flip,
                           *normalized, v2.SanitizeBoundingBoxes()])
    if recipe == "deeplab-train":
        return v2.Compose([v2.RandomResize(260, 1040), flip, v2.RandomCrop(480, pad_if_needed=True, fill=ignored), *normalized])
    assert recipe == "mask2former-train"
    return v2.Compose([v2.RandomResize(256, 1024), *early, v2.RandomCrop(512, pad_if_needed=True, fill=ignored), *late, flip, *normalized])


class Albumentations(Samples):
    def __init__(self, recipe, folder):
        super().__init__(recipe, folder)
        self.recipe, self.transform = recipe, albumentations_transform(recipe)

    def __getitem__(self, number):
        import cv2

        path = self.paths[number]
        image = cv2.imread(str(path), cv2.IMREAD_COLOR_RGB)
        if not self.has_objects:
            mask = cv2.imread(str(path.with_suffix(".mask.png")), cv2.IMREAD_UNCHANGED)
            made = self.transform(image=image, mask=mask)
            return as_tensor(made["image"]), torch.from_numpy(made["mask"])
        sample = self.samples[number]
        more = {"masks": sample.masks(*image.shape[:2])} if self.has_instances else {}
        # It refuses boxes without area.
        made = self.transform(image=image, bboxes=sample.boxes, labels=sample.labels, **more)
        return as_tensor(made["image"]), {"boxes": torch.from_numpy(np.float32(made["bboxes"])),
                                          "labels": torch.as_tensor(np.int64(made["labels"])),
                                          **{name: torch.from_numpy(np.ascontiguousarray(made[name])) for name in more}}


def as_tensor(image):
    return torch.from_numpy(np.ascontiguousarray(image.transpose(2, 0, 1)))


def albumentations_transform(recipe):
    import albumentations as A
    import cv2

    cv2.setNumThreads(1)
    fill = {"fill": FILLS[recipe], "fill_mask": IGNORED}
    end = [A.HorizontalFlip(p=0.5), A.Normalize(MEAN, STD)]
    boxes = A.BboxParams("pascal_voc", label_fields=["labels"])
    if recipe in ("lsj", "lsj-boxes"):
        # Of what fits: the scale is drawn after the image is as large as the output.
        return A.Compose([A.LongestMaxSize(1024), A.RandomScale((-0.9, 1), p=1),
                          A.PadIfNeeded(1024, 1024, position="top_left", fill=FILLS[recipe]), A.RandomCrop(1024, 1024), *end], bbox_params=boxes)
    side, scales = (480, range(260, 1041)) if recipe == "deeplab-train" else (512, range(256, 1025))
    colours = [A.ColorJitter((0.875, 1.125), (0.5, 1.5), (0.5, 1.5), (-0.05, 0.05), p=0.5)] if recipe == "mask2former-train" else []
    return A.Compose([A.SmallestMaxSize(list(scales)), A.PadIfNeeded(side, side, **fill), A.RandomCrop(side, side), *colours, *end])


class Peer:
    def __init__(self, samples, batch, workers):
        self.samples, self.batch, self.workers = samples, batch, workers

    def batches(self):
        """For ever, by new processes: nothing is left of an earlier round."""
        order = RandomSampler(self.samples, replacement=True, num_samples=SAMPLES_MAX)
        return batches_of(DataLoader(self.samples, self.batch, sampler=order, num_workers=self.workers, collate_fn=collate))

    @staticmethod
    def facts(batch):
        images, targets = batch
        return images.numpy(), sum(len(one["boxes"]) for one in targets) if isinstance(targets, list) else 0


def batches_of(loader):
    yield from loader


def collate(samples):
    images, targets = zip(*samples)
    return torch.stack(images), list(targets) if isinstance(targets[0], dict) else torch.stack(targets)


def main():
    kind, recipe, folder, batch, workers = sys.argv[1:]
    torch.set_num_threads(1)
    samples = Albumentations(recipe, folder) if kind == "albumentations" else Torchvision(kind, recipe, folder)
    structured_loop.serve(Peer(samples, int(batch), int(workers)), int(batch))


if __name__ == "__main__":
    main()
