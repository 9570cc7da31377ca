"""The functions that pickle calls to recreate a data set or a loader in another process: pickle cannot name functions
of the compiled module."""

from stoker import _stoker

def reopen(*arguments):
    return _stoker.open(*arguments)


def subset(data, numbers, fingerprint):
    return _unchanged(data, fingerprint).subset(numbers)


def with_labels(data, labels, classes, fingerprint):
    return _unchanged(data, fingerprint).with_labels(labels, classes)


def _unchanged(data, fingerprint):
    """What numbers stand for depends on all samples."""
    if data._fingerprint != fingerprint:
        raise _stoker.Error(f"{data!r} has other samples than when its subset or labels were pickled: make them again, or pickle paths and keys")
    return data


def mix(data, weights):
    return _stoker.mix(data, weights)


def batch(facts, parts):
    return _stoker._batch(facts, parts)


def operator_call(name, args):
    return getattr(_stoker.op, name)(**args)


def loader(kind, data, recipe, options, state):
    """Of a class made from Loader, too, whose own __init__ may take something else: pickle restores what that sets."""
    made = kind.__new__(kind)
    _stoker.Loader.__init__(made, data, recipe, **options)
    _stoker.Loader.load_state_dict(made, state)
    return made
