"""Writes what a loader measures as scalars, beside a training's own:

    writer = torch.utils.tensorboard.SummaryWriter()
    for step, (image, label) in enumerate(loader):
        train(image, label)
        if step % 100 == 0:
            stoker.tensorboard.write_scalars(writer, loader, step)

Any object with add_scalar(tag, value, step) will do as the writer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, Union

import stoker

if TYPE_CHECKING:
    _Loader = Union[stoker.Loader, stoker.torch.Loader]


class Writer(Protocol):
    """What is asked of a SummaryWriter.

    >>> class Printed:
    ...     def add_scalar(self, tag, scalar_value, global_step):
    ...         print(tag, scalar_value, global_step)
    """

    def add_scalar(self, tag: str, scalar_value: float, global_step: int) -> Any: ...


def write_scalars(writer: Writer, loader: _Loader, step: int, *, prefix: str = "stoker") -> None:
    """Writes the loader's report, of the epoch that runs or ran last, and its knobs as scalars of this step.

    >>> class Names(list):
    ...     def add_scalar(self, tag, scalar_value, global_step):
    ...         self.append(tag)
    >>> loader, names = stoker.Loader("photos", "imagenet-train", batch=8, threads=2), Names()
    >>> stoker.tensorboard.write_scalars(names, loader, step=0)
    >>> "stoker/samples_per_s" in names and "stoker/knobs/threads" in names
    True
    """
    try:
        report = loader.report(epoch=loader.state_dict()["epoch"])
    except stoker.Error:  # none has begun
        report = loader.report()
    scalars = {
        "samples_per_s": report.samples_per_s,
        "gpu_idle": report.gpu_idle,
        "step_s": report.step_s,
        **{f"wait/{cause.replace(' ', '_')}": share for cause, share in report.wait.items()},
        **{f"knobs/{knob}": getattr(loader, knob) for knob in ("threads", "prefetch", "io_depth", "transfer_index")},
    }
    for name, value in scalars.items():
        writer.add_scalar(f"{prefix}/{name}", value, step)
