"""Calls a function of the user's for one sample after another: in a process of its own, which a worker of Stoker's starts and
talks to (main), or in the worker's thread (Caller alone).

The process gets two descriptors: a channel, whose messages are JSON, and memory, in which the values of a sample lie. The first
message describes the function; each further one is a sample. It knows nothing of Stoker's package, so that it starts quickly.
"""

import ctypes
import importlib
import inspect
import json
import mmap
import os
import pickle
import random
import signal
import socket
import sys
import time
import traceback

import numpy

DTYPE_NUMBERS = {"u8": 0, "i64": 1, "f16": 2, "bf16": 3, "f32": 4, "f64": 5, "i8": 6, "i16": 7, "i32": 8, "u16": 9, "u32": 10, "u64": 11, "bool": 12}
DTYPES = {
    "u8": numpy.uint8, "i8": numpy.int8, "u16": numpy.uint16, "i16": numpy.int16, "u32": numpy.uint32, "i32": numpy.int32,
    "u64": numpy.uint64, "i64": numpy.int64, "bool": numpy.bool_, "f16": numpy.float16, "f32": numpy.float32, "f64": numpy.float64,
    "bf16": numpy.dtype(numpy.uint16, metadata={"stoker": "bf16"}),  # which numpy does not have
}
NAMES = {numpy.dtype(dtype): name for name, dtype in DTYPES.items() if name != "bf16"}
PR_SET_PDEATHSIG = 1


def name_of(dtype):
    """As Stoker calls the type of an array's numbers."""
    return (dtype.metadata or {}).get("stoker") or NAMES[dtype]


class Values(ctypes.Structure):
    """StokerValues of library/stoker_function.h."""

    _fields_ = [("data", ctypes.c_void_p), ("dtype", ctypes.c_uint32), ("rank", ctypes.c_uint32), ("shape", ctypes.c_int64 * 6)]


class LibraryCall(ctypes.Structure):
    """StokerFunctionCall."""

    _fields_ = [("version", ctypes.c_uint32), ("taken_count", ctypes.c_uint32), ("given_count", ctypes.c_uint32),
                ("taken", ctypes.POINTER(Values)), ("given", ctypes.POINTER(Values)), ("seed", ctypes.c_uint32 * 4),
                ("arguments", ctypes.c_char_p), ("error", ctypes.c_char_p)]


class Library:
    """A function in a shared object."""

    def __init__(self, spec):
        path, _, symbol = spec["library"].rpartition(":")
        self.function = getattr(ctypes.CDLL(path), symbol)
        self.gives, self.arguments = spec["gives"], spec["arguments"].encode()

    def __call__(self, *arrays, seed):
        taken = (Values * len(arrays))(*(self.values(array, name_of(array.dtype)) for array in arrays))
        results = [numpy.zeros(given["shape"], DTYPES[given["dtype"]]) for given in self.gives]
        given = (Values * len(results))(*(self.values(each, about["dtype"]) for each, about in zip(results, self.gives)))
        error = ctypes.create_string_buffer(512)
        call = LibraryCall(1, len(taken), len(given), taken, given, (ctypes.c_uint32 * 4)(*words_of(seed)), self.arguments,
                           ctypes.cast(error, ctypes.c_char_p))
        status = self.function(ctypes.byref(call))
        if status:
            raise Mistake(f"failed with status {status}: {error.value.decode(errors='replace')}")
        rows = [each.shape[0] for each in given]
        for about, count in zip(self.gives, rows):
            if about["ragged"] and not 0 <= count <= about["shape"][0]:
                raise Mistake(f"gave {count} rows of '{about['name']}', and there is room for {about['shape'][0]}")
        cut = [each[:count] if about["ragged"] else each for each, about, count in zip(results, self.gives, rows)]
        return cut if len(cut) > 1 else cut[0]

    @staticmethod
    def values(array, dtype):
        return Values(array.ctypes.data, DTYPE_NUMBERS[dtype], array.ndim, (ctypes.c_int64 * 6)(*array.shape))


class Mistake(Exception):
    """What the function did wrong, as the end of a sentence that begins with its name."""


def load(spec, payload):
    """The function, by its name or from what was pickled."""
    if spec["library"]:
        return Library(spec)
    for place in reversed(spec.get("path", [])):
        if place not in sys.path:
            sys.path.insert(0, place)
    if payload:
        about_main, pickled = pickle.loads(payload)
        if about_main:
            from multiprocessing import spawn

            spawn.prepare(about_main)
        return pickle.loads(pickled)
    module, _, path = spec["python"].partition(":")
    if not path:
        raise ValueError(f"'{spec['python']}' is not written as module:function")
    found = importlib.import_module(module)
    for name in path.split("."):
        found = getattr(found, name)
    if not callable(found):
        raise TypeError(f"{spec['python']} is {type(found).__name__}, which cannot be called")
    return found


def words_of(seed):
    return [seed >> 32 * word & 0xFFFFFFFF for word in range(4)]


def takes_rng(function):
    try:
        return "rng" in inspect.signature(function).parameters
    except (TypeError, ValueError):  # of builtins
        return False


def described(value):
    shape = getattr(value, "shape", None)
    if shape is None:
        return type(value).__name__
    return f"{str(value.dtype).removeprefix('torch.')} {list(shape)}"


class Forms:
    """Turns arrays into what the function wants, and its results into arrays."""

    def __init__(self, values):
        self.values = values
        if values in ("torch", "torchvision"):
            import torch

            torch.set_num_threads(1)
            self.torch = torch
        if values == "torchvision":
            from torchvision import tv_tensors

            self.tv_tensors = tv_tensors
        if values == "pil":
            import PIL.Image

            self.pillow = PIL.Image

    def given_to(self, kinds, arrays):
        pictures = [array.shape[:2] for kind, array in zip(kinds, arrays) if kind in ("image", "mask") and array.ndim >= 2]
        return [self.one(kind, array, pictures[0] if pictures else None) for kind, array in zip(kinds, arrays)]

    def one(self, kind, array, size):
        if kind in ("text", "bytes"):
            return array.tobytes().decode() if kind == "text" else array.tobytes()
        if self.values == "numpy":
            return array
        if self.values == "pil":
            is_picture = array.dtype == numpy.uint8 and (kind == "mask" or (kind == "image" and array.shape[-1] == 3))
            return self.pillow.fromarray(array) if is_picture else array
        tensor = self.torch.from_numpy(array)
        if self.values == "torch":
            return tensor
        if kind == "image":
            return self.tv_tensors.Image(tensor.permute(2, 0, 1) if array.shape[-1] == 3 else tensor)
        if kind == "mask":
            return self.tv_tensors.Mask(tensor)
        if kind == "boxes" and size is not None:
            return self.tv_tensors.BoundingBoxes(tensor, format="XYXY", canvas_size=tuple(size))
        return tensor

    @staticmethod
    def array(value, dtype):
        """A result as an array; of plain numbers and lists in this type, else in its own."""
        if isinstance(value, numpy.ndarray):
            return value
        if hasattr(value, "detach"):  # a tensor of PyTorch
            value = value.detach().cpu()
            if str(value.dtype) == "torch.bfloat16":
                import torch

                value = value.contiguous().view(torch.int16)
                return value.numpy().view(numpy.uint16)
            return value.numpy()
        if isinstance(value, str):
            value = value.encode()
        if isinstance(value, (bytes, bytearray)):
            return numpy.frombuffer(value, numpy.uint8)
        if isinstance(value, (list, tuple, bool, int, float)):
            return numpy.asarray(value, dtype)
        return numpy.asarray(value)


class Caller:
    """The function, with what it takes and gives."""

    def __init__(self, spec, payload=b""):
        self.function = load(spec, payload)
        self.takes, self.gives = spec["takes"], spec["gives"]
        self.kinds = [taken["kind"] for taken in self.takes]
        self.parameters = [taken["parameter"] for taken in self.takes]
        # Results are found by the parameter of the value that they take the place of.
        by_view = {taken["view"]: taken["parameter"] for taken in self.takes if taken["parameter"]}
        self.results = [by_view.get(given["name"], given["name"]) for given in self.gives]
        self.forms = Forms(spec["values"])
        self.more = json.loads(spec["arguments"] or "{}") if spec["python"] else {}
        self.takes_seed = bool(spec["library"])
        self.takes_rng = takes_rng(self.function)
        self.seeds = spec["random"] == "seeded" and not (self.takes_rng or self.takes_seed)
        self.reseed = getattr(self.function, "set_random_seed", None)  # as albumentations' Compose has it
        self.inside_ns, self.seeds_torch = 0, False

    def seed(self, seed):
        """Whatever the function draws from is a function of this number."""
        random.seed(seed)
        numpy.random.seed(words_of(seed))
        torch = sys.modules.get("torch")
        self.seeds_torch = torch is not None
        if torch:
            torch.manual_seed(seed & 0x7FFFFFFFFFFFFFFF)
        if self.reseed:
            self.reseed(seed & 0xFFFFFFFF)

    def __call__(self, arrays, seed):
        """The results as arrays, in the order of what it gives. Raises Mistake."""
        values = self.forms.given_to(self.kinds, arrays)
        more = dict(self.more)
        if self.takes_seed:
            more["seed"] = seed
        elif self.takes_rng:
            more["rng"] = numpy.random.Generator(numpy.random.Philox(key=[seed & 0xFFFFFFFFFFFFFFFF, seed >> 64]))
        elif self.seeds:
            self.seed(seed)
        began = time.perf_counter_ns()
        try:
            result = self.call(values, more)
            if self.seeds and not self.seeds_torch and "torch" in sys.modules:  # which this call was the first to need
                self.seed(seed)
                result = self.call(values, more)
        except Mistake:
            raise
        except Exception as error:
            raise Mistake(f"raised {type(error).__name__}: {one_line(error)}{place_of(error)}") from error
        self.inside_ns = time.perf_counter_ns() - began
        return [self.checked(given, value) for given, value in zip(self.gives, self.in_order(result))]

    def call(self, values, more):
        if self.parameters[0]:
            return self.function(**dict(zip(self.parameters, values)), **more)
        return self.function(*values, **more)

    def in_order(self, result):
        if isinstance(result, dict):
            absent = [name for name in self.results if name not in result]
            if absent:
                raise Mistake(f"gave no '{absent[0]}', only {', '.join(map(str, result)) or 'an empty dict'}")
            return [result[name] for name in self.results]
        if len(self.gives) == 1:
            return [result]
        if not isinstance(result, (tuple, list)) or len(result) != len(self.gives):
            count = f"{len(result)} values" if isinstance(result, (tuple, list)) else f"one {type(result).__name__}"
            raise Mistake(f"gave {count}, but is to give {len(self.gives)}: {', '.join(given['name'] for given in self.gives)}")
        return result

    def checked(self, given, value):
        dtype, shape = DTYPES[given["dtype"]], given["shape"]
        try:
            array = self.forms.array(value, dtype)
        except Exception as error:
            raise Mistake(f"gave '{given['name']}' as {type(value).__name__}, of which no array can be made: {one_line(error)}") from error
        if given["ragged"]:
            if array.size == 0:
                return numpy.empty([0, *shape[1:]], dtype)
            if array.dtype == dtype and list(array.shape[1:]) == shape[1:] and array.ndim == len(shape):
                if len(array) > shape[0]:
                    raise Mistake(f"gave {len(array)} rows of '{given['name']}', and there is room for {shape[0]}")
                return array
        elif array.dtype == dtype and list(array.shape) == shape:
            return array
        wanted = f"{numpy.dtype(dtype).name} {['n', *shape[1:]] if given['ragged'] else shape}".replace("'", "")
        raise Mistake(f"gave '{given['name']}' as {described(array)}, but is to give {wanted}")


def one_line(error):
    text = " ".join(str(error).split())
    return text if len(text) <= 500 else text[:500] + "..."


def place_of(error):
    """Where the function raised it: the last line that is not in a library."""
    frames = traceback.extract_tb(error.__traceback__)[1:]
    own = [frame for frame in frames if "site-packages" not in frame.filename and "dist-packages" not in frame.filename]
    if not own and not frames:
        return ""
    frame = (own or frames)[-1]
    return f" ({os.path.basename(frame.filename)}, line {frame.lineno})"


class Memory:
    """The memory that the worker shares with this process, mapped as far as it goes."""

    def __init__(self, descriptor):
        self.descriptor, self.mapped = descriptor, None

    def of(self, size):
        if self.mapped is None or len(self.mapped) != size:
            self.mapped = mmap.mmap(self.descriptor, size)
        return self.mapped

    def array(self, size, dtype, shape, begin):
        count = 1
        for extent in shape:
            count *= extent
        return numpy.frombuffer(self.of(size), dtype, count, begin).reshape(shape)


def serve(channel, memory):
    """Answers until the worker goes away."""

    def answer(message):
        channel.send(json.dumps(message).encode())

    spec = json.loads(channel.recv(1 << 20))
    begin = spec["begin"]
    try:
        caller = Caller(spec, memory.of(spec["size"])[begin : begin + spec["payload"]])
    except BaseException as error:
        return answer({"error": f"{type(error).__name__}: {one_line(error)}"})
    answer({})
    while message := channel.recv(1 << 20):
        call = json.loads(message)
        arrays = [memory.array(call["size"], DTYPES[dtype], shape, place) for dtype, shape, place in call["values"]]
        try:
            results = caller(arrays, int(call["seed"], 16))
        except Mistake as mistake:
            answer({"error": str(mistake)})
            continue
        for place, result in zip(call["given"], results):
            memory.array(call["size"], result.dtype, result.shape, place)[...] = result
        answer({"ns": caller.inside_ns, "rows": [len(result) if result.ndim else 1 for result in results]})


def main(channel, memory):
    # Ctrl-C is for the program, which then ends this process; and so does its end, also in the midst of a call.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    sys.argv[:] = ["-c"]
    try:
        serve(socket.socket(fileno=channel), Memory(memory))
    except (ConnectionError, BrokenPipeError):
        pass


if __name__ == "__main__" and len(sys.argv) == 3:
    main(int(sys.argv[1]), int(sys.argv[2]))
