"""Calls a function of the user's for one sample after another: in a process of its own, which a worker of Stoker's starts and
talks to (main), or in the user's thread (Caller alone), where the program's state is left as it is.

The process gets three descriptors: a channel, whose messages are JSON; memory, in which the values of a sample lie; and the end of
a pipe whose other end is closed when the program ends. The first message says where the memory describes the function; each
further one is a sample: its random seed, and where its values lie. It knows nothing of Stoker's package, so that it starts
quickly.
"""

import contextlib
import ctypes
import fcntl
import importlib
import inspect
import json
import mmap
import os
import pickle
import random
import select
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
MESSAGE_MAX = 1 << 20
SEED_DIGITS = 32  # with which the message of a sample begins
F_SETSIG = 10  # which the module fcntl does not have in all versions


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


def load(spec, payload, in_own_process):
    """The function, by its name or from what was pickled. Only a process of its own has to become like the user's script."""
    if spec["library"]:
        return Library(spec)
    for place in reversed(spec.get("path", [])):
        place = os.fsdecode(bytes.fromhex(place))  # JSON has no bytes
        if place not in sys.path:
            sys.path.insert(0, place)
    if payload:
        about_main, pickled = pickle.loads(payload)
        if about_main and in_own_process:
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

    def __init__(self, values, takes):
        self.values, self.takes = values, takes
        if values in ("torch", "torchvision"):
            import torch

            self.torch = torch
        if values == "torchvision":
            from torchvision import tv_tensors

            self.tv_tensors = tv_tensors
        if values == "pil":
            import PIL.Image

            self.pillow = PIL.Image

    def given_to(self, arrays):
        return [self.one(taken, array, arrays) for taken, array in zip(self.takes, arrays)]

    def one(self, taken, array, arrays):
        kind, is_planar = taken["kind"], taken["layout"] == "nchw"
        if kind in ("text", "bytes"):
            return array.tobytes().decode() if kind == "text" else array.tobytes()
        if self.values == "numpy":
            return array
        if self.values == "pil":
            if kind == "image":
                return self.pillow.fromarray(numpy.ascontiguousarray(array.transpose(1, 2, 0)) if is_planar else array)
            return self.pillow.fromarray(array) if kind == "mask" and array.dtype == numpy.uint8 else array
        tensor = self.torch.from_numpy(array)
        if self.values == "torch":
            return tensor
        if kind == "image":
            return self.tv_tensors.Image(tensor if is_planar else tensor.permute(2, 0, 1))
        if kind in ("mask", "masks"):
            return self.tv_tensors.Mask(tensor)
        if kind == "boxes":
            return self.tv_tensors.BoundingBoxes(tensor, format=taken["form"].upper(), canvas_size=self.canvas(taken, arrays))
        return tensor

    def canvas(self, boxes, arrays):
        """Height and width of the image that the boxes belong to."""
        if boxes["image"] is None:
            return tuple(boxes["canvas"])
        shape = arrays[boxes["image"]].shape
        return shape[1:] if self.takes[boxes["image"]]["layout"] == "nchw" else shape[:2]

    def in_place(self, taken, value):
        """What takes the place of these boxes, in their form."""
        if self.values != "torchvision" or taken["kind"] != "boxes" or not isinstance(value, self.tv_tensors.BoundingBoxes):
            return value
        form = value.format.name.lower()
        if form == taken["form"] or form not in ("xyxy", "xywh", "cxcywh"):
            return value
        from torchvision import ops

        return ops.box_convert(value.as_subclass(self.torch.Tensor), form, taken["form"])

    def in_layout(self, taken, array, shape):
        """What takes the place of this image, in its layout; as it is, if what is to be given has that shape alone."""
        if self.values not in ("pil", "torchvision") or taken["kind"] != "image" or array.ndim != 3:
            return array
        is_planar = self.values == "torchvision"
        if is_planar == (taken["layout"] == "nchw"):
            return array
        turned = array.transpose(1, 2, 0) if is_planar else array.transpose(2, 0, 1)
        return array if list(array.shape) == shape != list(turned.shape) else turned

    @staticmethod
    def array(value, name):
        """A result as an array; of plain numbers and lists in the type of this name if that is one of fractions."""
        if isinstance(value, numpy.ndarray):
            return value
        if hasattr(value, "detach"):  # a tensor of PyTorch
            value = value.detach().cpu()
            if str(value.dtype) != "torch.bfloat16":
                return value.numpy()
            value = value.float().numpy()  # which has all numbers of that type
            return as_bf16(value) if name == "bf16" else value
        if isinstance(value, str):
            value = value.encode()
        if isinstance(value, (bytes, bytearray)):
            return numpy.frombuffer(value, numpy.uint8)
        if is_plain(value) and name == "bf16":
            return as_bf16(numpy.asarray(value, numpy.float32))
        if is_plain(value) and not is_whole_type(name):
            return numpy.asarray(value, DTYPES[name])
        return numpy.asarray(value)


def is_plain(value):
    """Numbers of Python's, or lists of them: they have no type to be kept."""
    return isinstance(value, (list, tuple, bool, int, float))


def is_whole_type(name):
    return name != "bf16" and numpy.dtype(DTYPES[name]).kind in "iub"


def as_bf16(array):
    """The bits of the nearest numbers of that type, even ones where two are as near."""
    bits = array.view(numpy.uint32).astype(numpy.uint64)
    rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
    return numpy.where(numpy.isnan(array), 0x7FC0, rounded).astype(numpy.uint16)


def is_whole(number):
    try:
        return bool(int(number) == number)
    except Exception:  # of what is infinite or no number
        return False


def in_whole_type(array, value, dtype):
    """An array that was made of this value, in a type of whole numbers; raises Mistake where the type lacks one of its numbers.
    An array of fractions stays as it is."""
    low, high = (0, 1) if dtype == numpy.bool_ else (numpy.iinfo(dtype).min, numpy.iinfo(dtype).max)
    if array.dtype.kind in "iub":
        numbers = (int(array.min()), int(array.max()))
    elif is_plain(value) and array.dtype.kind in "fO":
        array = numpy.asarray(value, object)  # floats do not have all whole numbers
        numbers = array.flat
    else:
        return array
    for number in numbers:
        if not is_whole(number) or not low <= number <= high:
            raise Mistake(f"{one_line(number)[:40] or type(number).__name__}, which {numpy.dtype(dtype).name} does not have")
    return array.astype(dtype)


class SeedsTorch:
    """While a function runs that may be the first to import torch: seeds its generator as soon as it is there, and leaves the
    others as they were before torch was loaded. So the function draws what it draws in a process that has torch already."""

    def __init__(self, seed):
        self.seed = seed

    def __enter__(self):
        sys.meta_path.insert(0, self)

    def __exit__(self, *_):
        sys.meta_path.remove(self)

    def find_spec(self, name, path=None, target=None):
        if name != "torch":
            return None
        others = [finder for finder in sys.meta_path if not isinstance(finder, SeedsTorch) and hasattr(finder, "find_spec")]
        spec = next(filter(None, (finder.find_spec(name, path, target) for finder in others)), None)
        if spec is None or spec.loader is None:
            return spec
        load = spec.loader.exec_module

        def load_and_seed(module):
            states = random.getstate(), numpy.random.get_state()
            load(module)
            random.setstate(states[0])
            numpy.random.set_state(states[1])
            seed_torch(module, self.seed)

        spec.loader.exec_module = load_and_seed
        return spec


def seed_torch(torch, seed):
    torch.manual_seed(seed & 0x7FFFFFFFFFFFFFFF)


class Caller:
    """The function, with what it takes and gives."""

    def __init__(self, spec, payload=b"", in_own_process=False):
        self.function = load(spec, payload, in_own_process)
        self.takes, self.gives = spec["takes"], spec["gives"]
        self.parameters = [taken["parameter"] for taken in self.takes]
        # Results are found by the parameter of the value that they take the place of.
        by_view = {taken["view"]: taken["parameter"] for taken in self.takes if taken["parameter"]}
        self.results = [by_view.get(given["name"], given["name"]) for given in self.gives]
        places = {taken["view"]: taken for taken in self.takes}
        self.places = [places.get(given["name"]) for given in self.gives]
        self.forms = Forms(spec["values"], self.takes)
        self.more = json.loads(spec["arguments"] or "{}") if spec["python"] else {}
        self.takes_seed = bool(spec["library"])
        self.takes_rng = takes_rng(self.function)
        self.seeds = spec["random"] == "seeded" and not (self.takes_rng or self.takes_seed)
        self.reseed = getattr(self.function, "set_random_seed", None)  # as albumentations' Compose has it
        self.inside_ns = 0

    def seed(self, seed):
        """Whatever the function draws from is a function of this number."""
        random.seed(seed)
        numpy.random.seed(seed >> 96)  # one word of the four: numpy takes six times as long for more
        if "torch" in sys.modules:
            seed_torch(sys.modules["torch"], seed)
        if self.reseed:
            self.reseed(seed & 0xFFFFFFFF)

    def __call__(self, arrays, seed):
        """The results as arrays, in the order of what it gives. Raises Mistake."""
        values = self.forms.given_to(arrays)
        more = dict(self.more)
        if self.takes_seed:
            more["seed"] = seed
        elif self.takes_rng:
            more["rng"] = numpy.random.Generator(numpy.random.SFC64(seed))  # numpy's fastest, half of Philox's time
        elif self.seeds:
            self.seed(seed)
        began = time.perf_counter_ns()
        try:
            with SeedsTorch(seed) if self.seeds and "torch" not in sys.modules else contextlib.nullcontext():
                result = self.call(values, more)
        except Mistake:
            raise
        except Exception as error:
            raise Mistake(f"raised {described_error(error)}{place_of(error)}") from error
        self.inside_ns = time.perf_counter_ns() - began
        return [self.checked(*each) for each in zip(self.gives, self.places, self.in_order(result))]

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

    def checked(self, given, place, value):
        """A result as an array as it is to be given, in the place of the value taken or of none."""
        dtype, shape = DTYPES[given["dtype"]], given["shape"]
        try:
            array = self.forms.array(self.forms.in_place(place, value) if place else value, given["dtype"])
        except Exception as error:
            raise Mistake(f"gave '{given['name']}' as {type(value).__name__}, of which no array can be made: {one_line(error)}") from error
        if given["ragged"] and array.size == 0:
            return numpy.empty([0, *shape[1:]], dtype)
        if place and not given["ragged"] and not is_plain(value):
            array = self.forms.in_layout(place, array, shape)
        if list(array.shape[1:]) == shape[1:] and array.ndim == len(shape) if given["ragged"] else list(array.shape) == shape:
            if array.dtype != dtype and is_whole_type(given["dtype"]) and not isinstance(value, (str, bytes, bytearray)):
                try:
                    array = in_whole_type(array, value, dtype)
                except Mistake as mistake:
                    raise Mistake(f"gave '{given['name']}' with {mistake}") from None
            if given["ragged"] and len(array) > shape[0]:
                raise Mistake(f"gave {len(array)} rows of '{given['name']}', and there is room for {shape[0]}")
            if array.dtype == dtype:
                return array
        wanted = f"{numpy.dtype(dtype).name} {['n', *shape[1:]] if given['ragged'] else shape}".replace("'", "")
        raise Mistake(f"gave '{given['name']}' as {described(array)}, but is to give {wanted}")


def one_line(told):
    """What an error or a number says of itself; nothing where it fails at that, as a class of the user's may."""
    try:
        text = " ".join(str(told).split()).encode("utf-8", "backslashreplace").decode()
    except Exception:
        return ""
    return text if len(text) <= 500 else text[:500] + "..."


def described_error(error):
    text = one_line(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


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


class Places:
    """Where the values of samples lie, taken and given: the same for one sample after another as a rule, so that little is to be
    done for each."""

    def __init__(self, memory, text):
        told = json.loads(text)
        self.memory, self.size, self.begins = memory, told["size"], told["given"]
        self.arrays = [memory.array(self.size, DTYPES[dtype], shape, place) for dtype, shape, place in told["values"]]
        self.rooms = [None] * len(self.begins)

    def taken(self):
        return [array.view() for array in self.arrays]  # the function may change the shape of what it gets

    def give(self, results):
        for number, result in enumerate(results):
            room = self.rooms[number]
            if room is None or room.shape != result.shape or room.dtype != result.dtype:
                room = self.rooms[number] = self.memory.array(self.size, result.dtype, result.shape, self.begins[number])
            room[...] = result


def serve(channel, memory):
    """Answers until the worker goes away."""

    def answer(message):
        channel.send(json.dumps(message).encode())

    first = json.loads(channel.recv(MESSAGE_MAX))
    described, end = first["begin"], first["begin"] + first["description"]
    spec = json.loads(memory.of(first["size"])[described:end])
    try:
        caller = Caller(spec, memory.of(first["size"])[end : end + first["payload"]], in_own_process=True)
        if spec["values"] in ("torch", "torchvision"):
            caller.forms.torch.set_num_threads(1)
    except BaseException as error:
        return answer({"error": described_error(error)})
    answer({})
    text, places = None, None
    while message := channel.recv(MESSAGE_MAX):
        if message[SEED_DIGITS:] != text:
            text = message[SEED_DIGITS:]
            places = Places(memory, text)
        try:
            results = caller(places.taken(), int(message[:SEED_DIGITS], 16))
        except Mistake as mistake:
            answer({"error": str(mistake)})
            continue
        places.give(results)
        rows = ",".join([str(len(result) if result.ndim else 1) for result in results])
        channel.send(b'{"ns":%d,"rows":[%s]}' % (caller.inside_ns, rows.encode()))


def end_with(pipe):
    """The system kills this process once the other end of the pipe is closed: whichever thread of the program started it, and
    also in the midst of a call."""
    fcntl.fcntl(pipe, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(pipe, F_SETSIG, signal.SIGKILL)
    fcntl.fcntl(pipe, fcntl.F_SETFL, fcntl.fcntl(pipe, fcntl.F_GETFL) | os.O_ASYNC)
    if select.select([pipe], [], [], 0)[0]:
        sys.exit()  # it was closed before


def main(channel, memory, pipe):
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the program, which then ends this process
    end_with(pipe)
    sys.argv[:] = ["-c"]
    try:
        serve(socket.socket(fileno=channel), Memory(memory))
    except (ConnectionError, BrokenPipeError):
        pass


if __name__ == "__main__" and len(sys.argv) == 4:
    main(*map(int, sys.argv[1:]))
