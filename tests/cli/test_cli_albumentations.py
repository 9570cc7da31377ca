"""Transforms of albumentations in a recipe, in an environment of their own: the loader's samples are those of a bare call with the
sample's seed, for any number of threads. With --full."""

import os
import pathlib
import subprocess
import tarfile
import textwrap

from foreign_formats import full, python_with

PACKAGES = ["albumentations==2.0.8", "numpy==2.4.6"]
SCRIPT = """
    import pathlib
    import sys

    import albumentations as A
    import numpy as np
    import stoker


    def compose():
        return A.Compose([A.RandomResizedCrop((24, 20)), A.HorizontalFlip(p=0.5), A.RandomBrightnessContrast(p=1), A.GaussNoise(p=1)],
                         bbox_params=A.BboxParams("pascal_voc", label_fields=["classes"]))


    class Seeded:
        '''Tells with what it was seeded, as a picture cannot.'''

        def __init__(self):
            self.compose, self.seed = compose(), 0

        def set_random_seed(self, seed):
            self.seed = seed
            self.compose.set_random_seed(seed)

        def __call__(self, image, bboxes, classes):
            made = self.compose(image=image, bboxes=bboxes, classes=classes)
            return {"image": made["image"], "bboxes": np.float32(made["bboxes"]).reshape(-1, 4), "classes": np.int64(made["classes"]),
                    "seed": self.seed, "before": np.ascontiguousarray(image[:8, :8])}


    def batches(threads):
        recipe = stoker.recipe().decode("faithful").resize((60, 50)).layout("nhwc")
        recipe = recipe.view("boxes", field="json").like("image").decode_boxes("coco")
        recipe = recipe.view("labels").like("boxes").box_labels()
        recipe = recipe.map(Seeded(), {"image": "image", "boxes": "bboxes", "labels": "classes"},
                            {"image": ("u8", (24, 20, 3)), "boxes": ("f32", (4,), 9), "labels": ("i64", (), 9), "seed": ("i64", ()),
                             "before": ("u8", (8, 8, 3))}, name="seeded")
        return recipe, list(stoker.Loader(sys.argv[1], recipe, batch=4, seed=3, threads=threads, tune="off"))


    def main():
        plain = stoker.recipe().decode("faithful").resize((60, 50)).layout("nhwc")
        plain = plain.view("boxes", field="json").like("image").decode_boxes("coco").view("labels").like("boxes").box_labels()
        data = stoker.open(sys.argv[1])
        fields = {data[number]["key"]: data[number] for number in range(len(data))}
        first = None
        for threads in (1, 2):
            recipe, made = batches(threads)
            found = [(batch.key[slot], np.from_dlpack(batch.image)[slot].copy(), np.array(batch.boxes.as_list()[slot]),
                      int(np.from_dlpack(batch.seed)[slot])) for batch in made for slot in range(4)]
            for key, image, boxes, seed in found:
                before, bare = plain.apply(fields[key]), compose()
                bare.set_random_seed(seed)
                want = bare(image=before["image"], bboxes=before["boxes"], classes=before["labels"])
                np.testing.assert_array_equal(image, want["image"])
                np.testing.assert_array_equal(boxes.reshape(-1, 4), np.float32(want["bboxes"]).reshape(-1, 4))
            if first is not None:
                assert [each[3] for each in found] == [each[3] for each in first]
            first = found
        assert len({each[3] for each in first}) == len(first)
        print(len(first), "equal")


    if __name__ == "__main__":
        main()
"""


@full
def test_transforms_of_albumentations_with_boxes(stoker, samples, tmp_path):
    folder = tmp_path / "boxes"
    for number, image in enumerate(sorted(pathlib.Path(samples[0]).rglob("*.jpg"))[:8]):
        folder.mkdir(exist_ok=True)
        (folder / f"{number}.jpg").write_bytes(image.read_bytes())
        (folder / f"{number}.json").write_text(f'[{{"bbox": [{number}, 3, 20, 15], "category_id": {number}}}]')
    with tarfile.open(tmp_path / "a.tar", "w") as tar:
        for file in sorted(folder.iterdir()):
            tar.add(file, file.name)
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(SCRIPT))
    python = python_with(tmp_path, *PACKAGES)
    module = pathlib.Path(os.environ["STOKER_BIN"]).parent / "python"
    done = subprocess.run([python, script, tmp_path / "a.tar"], env={**os.environ, "PYTHONPATH": str(module)}, text=True,
                          capture_output=True)
    assert (done.returncode, done.stdout) == (0, "8 equal\n"), done.stderr
