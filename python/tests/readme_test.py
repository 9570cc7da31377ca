"""The README's examples that a few images are enough for, run as they stand there."""

import pathlib
import re

import pytest

README = pathlib.Path(__file__).parents[2] / "README.md"


def example(word):
    """The block of Python in which the word stands."""
    (block,) = [text for text in re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL) if word in text]
    return block


@pytest.mark.parametrize("batch", [7, 8, 50])
def test_evaluation_counts_every_image_once(folder, tmp_path, monkeypatch, capsys, batch):
    torch = pytest.importorskip("torch")
    (tmp_path / "imagenet").mkdir()
    (tmp_path / "imagenet" / "val").symlink_to(folder)
    monkeypatch.chdir(tmp_path)

    def says_class_0(image):
        return torch.eye(3)[torch.zeros(len(image), dtype=torch.long)]

    seen = {"model": says_class_0}
    exec(example("batch.valid").replace("batch=256", f"batch={batch}"), seen)
    of_class_0 = len(list((folder / sorted(path.name for path in folder.iterdir())[0]).iterdir()))
    assert (seen["right"], seen["count"]) == (of_class_0, 50)
    assert capsys.readouterr().out == f"{of_class_0 / 50:.1%} of 50 images\n"
