"""Calls a function of the user's in the program's own thread, whose random generators stay as they are."""

import random
import sys

import numpy


def call_here(caller, arrays, seed):
    """As the caller does in a process of its own."""
    if not caller.seeds:
        return caller(arrays, seed)
    with KeepsGenerators():
        return caller(arrays, seed)


class KeepsGenerators:
    """Gives the generators that a call seeds back to the program as they were."""

    def __enter__(self):
        self.random, self.numpy = random.getstate(), numpy.random.get_state()
        self.torch, self.gpus = sys.modules.get("torch"), None
        if self.torch:
            self.on_cpu = self.torch.get_rng_state()
            if self.torch.cuda.is_initialized():
                self.gpus = self.torch.cuda.get_rng_state_all()

    def __exit__(self, *_):
        random.setstate(self.random)
        numpy.random.set_state(self.numpy)
        if self.torch:
            self.torch.set_rng_state(self.on_cpu)
            if self.gpus:
                self.torch.cuda.set_rng_state_all(self.gpus)
            else:  # GPUs that come into use later begin with the program's seed
                self.torch.cuda.manual_seed_all(self.torch.initial_seed())
        elif "torch" in sys.modules:
            sys.modules["torch"].seed()  # by chance, as it is after an import
