// Batch, and Tensor: one of its outputs. Each holds the batch's memory, as does everything made from a Tensor without
// copying; only when the last is gone does the loader use the memory again.
#include "python/bindings/batch.h"

#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "python/bindings/arguments.h"
#include "python/bindings/batch_pickle.h"
#include "python/bindings/dlpack.h"
#include "python/bindings/module.h"
#include "python/bindings/numpy_array.h"
#include "stoker/base/error.h"
#include "stoker/base/spelling.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace stoker::python {
namespace {

struct PyTensor {
  std::shared_ptr<const Batch> batch;
  TensorView view;
};

nb::tuple shape_of(const PyTensor& tensor) {
  nb::list shape;
  for (const std::int64_t extent : tensor.view.shape.extents()) shape.append(extent);
  return nb::tuple(shape);
}

dlpack::Device device_of(const PyTensor& tensor) {
  const int gpu = tensor.batch->gpu();
  return gpu < 0 ? dlpack::Device{} : dlpack::Device{dlpack::kCuda, gpu};
}

// What a consumer does with the tensor in its stream comes when it is written, and before its memory is used again.
void take_into_stream(const PyTensor& tensor, nb::handle stream) {
  if (tensor.batch->gpu() < 0) {
    if (!stream.is_none()) throw nb::buffer_error("a tensor on the CPU has no stream: it must be None");
    return;
  }
  const std::int64_t number = stream.is_none() ? std::int64_t{kDefaultStream} : nb::cast<std::int64_t>(stream);
  if (number == -1) return;  // the consumer sees to it, with Batch.record_stream()
  if (number <= 0) throw nb::buffer_error("the stream must be a CUDA handle, or 1 or 2 for the default streams");
  tensor.batch->wait_on(static_cast<DeviceStream>(number));
}

nb::object to_dlpack(const PyTensor& tensor, nb::handle stream, nb::handle max_version, nb::handle dl_device,
                     std::optional<bool> copy) {
  const dlpack::Device device = device_of(tensor);
  if (!dl_device.is_none() && nb::cast<std::pair<int, int>>(dl_device) != std::pair(device.type, device.id)) {
    throw nb::buffer_error(
        fmt::format("the tensor is on device ({}, {}); copy it from there", device.type, device.id).c_str());
  }
  if (device.type == dlpack::kCuda && copy.value_or(false)) {
    throw nb::buffer_error("a tensor on a GPU is not copied here; copy the framework's tensor");
  }
  take_into_stream(tensor, stream);
  const bool versioned = !max_version.is_none() && nb::cast<int>(max_version[0]) >= 1;
  return dlpack::make_capsule(
      tensor.view, device, tensor.batch,
      {.versioned = versioned, .copy = copy.value_or(false), .read_only = tensor.batch->read_only()});
}

nb::object to_numpy(const PyTensor& tensor) {
  if (const int gpu = tensor.batch->gpu(); gpu >= 0) {
    throw nb::type_error(
        fmt::format("the tensor is on cuda:{}; torch.from_dlpack(tensor).cpu() brings it to numpy", gpu).c_str());
  }
  return numpy_view(tensor.view, tensor.batch, tensor.batch->read_only());
}

// A number, or what frameworks have: PyTorch's streams `cuda_stream`, CuPy's `ptr`, others `__cuda_stream__`.
DeviceStream stream_argument(nb::handle stream) {
  nb::object handle = nb::borrow(stream);
  if (nb::hasattr(stream, "cuda_stream")) {
    handle = stream.attr("cuda_stream");
  } else if (nb::hasattr(stream, "__cuda_stream__")) {
    handle = nb::object(stream.attr("__cuda_stream__")())[1];
  } else if (nb::hasattr(stream, "ptr")) {
    handle = stream.attr("ptr");
  }
  if (!nb::isinstance<nb::int_>(handle)) {
    fail(ErrorKind::kUsage, "record_stream takes a stream of PyTorch or CuPy, or a CUDA handle as a number");
  }
  const auto number = nb::cast<std::uintptr_t>(handle);
  return number == 0 ? kDefaultStream : number;  // CUDA takes either for it
}

void record_stream(const PyBatch& self, nb::handle stream) { self.batch->record_stream(stream_argument(stream)); }

// What numpy.asarray() calls: with numpy's meaning of the arguments.
nb::object to_array(const PyTensor& tensor, nb::handle dtype, std::optional<bool> copy) {
  nb::object array = to_numpy(tensor);
  const nb::object wanted = dtype.is_none() ? nb::object(array.attr("dtype")) : nb::borrow(dtype);
  const bool same = nb::cast<bool>(array.attr("dtype").attr("__eq__")(wanted));
  if (same && !copy.value_or(false)) return array;
  if (copy.has_value() && !*copy) throw nb::value_error("another dtype needs a copy");
  return array.attr("astype")(wanted);
}

[[noreturn]] void refuse_to_compute() {
  throw nb::type_error(
      "a stoker.Tensor cannot be compared or indexed: take numpy.asarray(tensor) or torch.from_dlpack(tensor), which "
      "do not copy, or use stoker.torch.Loader");
}

// Without it Python would say that a tensor differs from whatever it is compared with. Arrays of numpy compare their
// elements with the tensor's by themselves.
nb::object compared(const PyTensor&, nb::handle other) {
  if (nb::isinstance(other, nb::module_::import_("numpy").attr("ndarray"))) return nb::borrow(Py_NotImplemented);
  refuse_to_compute();
}

std::string repr_tensor(const PyTensor& tensor) {
  return fmt::format("Tensor(shape={}, dtype='{}')", nb::cast<std::string>(nb::str(nb::handle(shape_of(tensor)))),
                     numpy_name(tensor.view.dtype));
}

// An output whose samples have different numbers of rows: the values of all of them, and where those of each begin.
struct PyRagged {
  PyTensor values, offsets;
};

// An output whose samples were filled up to one number of rows, and how many each had.
struct PyPadded {
  PyTensor values, counts;
};

nb::object output(const PyBatch& self, const std::string& name) {
  const auto& outputs = self.batch->outputs();
  const auto found = std::find_if(outputs.begin(), outputs.end(), [&](const auto& spec) { return spec.name == name; });
  if (found == outputs.end()) return nb::cast(PyTensor{self.batch, self.batch->output(name)});  // which says what is
  const std::vector<TensorView> tensors = self.batch->tensors(static_cast<std::size_t>(found - outputs.begin()));
  if (tensors.size() == 1) return nb::cast(PyTensor{self.batch, tensors[0]});
  if (found->row_padding) return nb::cast(PyPadded{{self.batch, tensors[0]}, {self.batch, tensors[1]}});
  return nb::cast(PyRagged{{self.batch, tensors[0]}, {self.batch, tensors[1]}});
}

nb::list rows_by_sample(const PyRagged& self) {
  const nb::object values = to_numpy(self.values), offsets = to_numpy(self.offsets).attr("tolist")();
  nb::list rows;
  for (std::size_t i = 0; i + 1 < nb::len(offsets); ++i) {
    rows.append(values[nb::slice(nb::object(offsets[i]), nb::object(offsets[i + 1]), nb::none())]);
  }
  return rows;
}

// Without those that fill it up.
nb::list rows_by_sample(const PyPadded& self) {
  const nb::object values = to_numpy(self.values), counts = to_numpy(self.counts).attr("tolist")();
  nb::list rows;
  for (std::size_t i = 0; i < nb::len(counts); ++i) {
    rows.append(values[nb::int_(i)][nb::slice(nb::none(), nb::object(counts[i]), nb::none())]);
  }
  return rows;
}

// As a sequence of its samples' rows.
template <typename Output>
void bind_rows(nb::class_<Output>& type, nb::list (*rows)(const Output&), const char* doc) {
  type.def("as_list", rows, doc)
      .def("__iter__", [rows](const Output& self) { return nb::iter(rows(self)); })
      .def(
          "__getitem__",
          [rows](const Output& self, nb::ssize_t slot) { return nb::object(rows(self).attr("__getitem__")(slot)); },
          "slot"_a);
}

// Of bytes: what `make` makes of those of each sample.
template <typename Make>
nb::list bytes_by_sample(const PyRagged& self, const Make& make) {
  if (self.values.view.dtype != DType::kU8 || self.values.view.shape.rank() != 1) {
    fail(ErrorKind::kUsage, "its rows are not bytes, but of dtype '{}': as_list() gives them as arrays",
         numpy_name(self.values.view.dtype));
  }
  nb::list all;
  for (const nb::handle row : rows_by_sample(self)) all.append(make(nb::bytes(nb::object(row.attr("tobytes")()))));
  return all;
}

nb::list texts_by_sample(const PyRagged& self) {
  return bytes_by_sample(self, [](const nb::bytes& bytes) { return nb::object(bytes.attr("decode")("utf-8")); });
}

std::string repr_ragged(const PyRagged& self) {
  return fmt::format("Ragged(values={}, offsets={})", repr_tensor(self.values), repr_tensor(self.offsets));
}

std::string repr_padded(const PyPadded& self) {
  return fmt::format("Padded(values={}, counts={})", repr_tensor(self.values), repr_tensor(self.counts));
}

nb::object item(const PyBatch& self, nb::handle name) {
  if (!nb::isinstance<nb::str>(name)) {
    fail(ErrorKind::kUsage,
         "a batch is neither a tuple nor a list: its outputs have names, such as batch.{}; the batches of "
         "stoker.torch.Loader unpack like tuples",
         self.batch->outputs().front().name);
  }
  return output(self, shown_text(name));
}

nb::object output_attribute(const PyBatch& self, const nb::str& attribute) {
  const std::string name = shown_text(attribute);
  const auto& outputs = self.batch->outputs();
  if (std::none_of(outputs.begin(), outputs.end(), [&](const OutputSpec& spec) { return spec.name == name; })) {
    std::vector<std::string> names;
    names.reserve(outputs.size());
    for (const OutputSpec& spec : outputs) names.push_back(spec.name);
    throw nb::attribute_error(fmt::format("the batch has no output '{}'{}; it has {}", name, did_you_mean(name, names),
                                          fmt::join(names, ", "))
                                  .c_str());
  }
  return output(self, name);
}

nb::tuple output_names(const PyBatch& self) {
  nb::list names;
  for (const OutputSpec& spec : self.batch->outputs()) names.append(to_python_text(spec.name));
  return nb::tuple(names);
}

nb::list attribute_names(nb::handle self) {
  nb::list names(nb::module_::import_("builtins").attr("object").attr("__dir__")(self));
  for (const nb::handle name : output_names(nb::cast<const PyBatch&>(self))) names.append(name);
  return names;
}

// New memory: what stands in each slot is told by values, not by views of the batch.
template <typename T>
nb::object per_slot(const PyBatch& self, const char* dtype, T (*value)(const Batch&, int slot)) {
  nb::object array = nb::module_::import_("numpy").attr("empty")(self.batch->size(), dtype);
  Py_buffer buffer;
  if (PyObject_GetBuffer(array.ptr(), &buffer, PyBUF_WRITABLE) != 0) throw nb::python_error();
  for (int slot = 0; slot < self.batch->size(); ++slot) static_cast<T*>(buffer.buf)[slot] = value(*self.batch, slot);
  PyBuffer_Release(&buffer);
  return array;
}

nb::object valid(const PyBatch& self) {
  return per_slot<bool>(self, "bool", [](const Batch& batch, int slot) { return batch.valid(slot); });
}

nb::object position(const PyBatch& self) {
  return per_slot<std::int64_t>(
      self, "int64", [](const Batch& batch, int slot) { return batch.position[static_cast<std::size_t>(slot)]; });
}

nb::list key(const PyBatch& self) {
  nb::list keys;
  for (const std::string& text : self.batch->key) keys.append(to_python_text(text));
  return keys;
}

nb::dict errors_by_slot(const PyBatch& self) {
  nb::dict errors;
  for (std::size_t slot = 0; slot < self.batch->errors.size(); ++slot) {
    if (!self.batch->errors[slot].empty()) errors[nb::int_(slot)] = to_python_text(self.batch->errors[slot]);
  }
  return errors;
}

std::size_t bytes_of(const PyBatch& self) {
  std::size_t bytes = 0;
  for (std::size_t output = 0; output < self.batch->outputs().size(); ++output) {
    for (const TensorView& tensor : self.batch->tensors(output)) bytes += tensor.bytes();
  }
  return bytes;
}

std::string repr_batch(const PyBatch& self) {
  std::string outputs;
  for (const OutputSpec& spec : self.batch->outputs()) {
    outputs += fmt::format(", {}={}", spec.name, nb::cast<std::string>(nb::repr(output(self, spec.name))));
  }
  return fmt::format("Batch(epoch={}, index={}{})", self.batch->epoch, self.batch->index, outputs);
}

void bind_tensor(nb::module_& module) {
  nb::class_<PyTensor>(module, "Tensor",
                       "One output of a batch, for numpy.asarray() or torch.from_dlpack(), neither of which copies. An "
                       "output on a\nGPU is ready in the framework's current stream; the host does not wait for it."
                       "\n\n>>> import numpy\n"
                       ">>> batch = next(iter(stoker.Loader(\"photos\", \"imagenet-train\", batch=8)))\n"
                       ">>> numpy.asarray(batch.image).shape\n"
                       "(8, 3, 224, 224)")
      .def_prop_ro("shape", &shape_of, "The extents; the first is the number of samples.")
      .def_prop_ro(
          "dtype",
          [](const PyTensor& self) -> nb::object {
            nb::str name(numpy_name(self.view.dtype).data());
            if (self.view.dtype == DType::kBF16) return name;
            return nb::module_::import_("numpy").attr("dtype")(name);
          },
          "The numpy.dtype; for bf16, which numpy lacks, the text 'bfloat16'.")
      .def_prop_ro(
          "layout",
          [](const PyTensor& self) -> nb::object {
            if (!self.view.layout) return nb::none();
            const std::string_view layout = to_string(*self.view.layout);
            return nb::str(layout.data(), layout.size());
          },
          "The order of an image's axes: 'nchw' or 'nhwc'.")
      .def("__len__", [](const PyTensor& self) { return self.view.shape[0]; })
      .def("__eq__", &compared, nb::is_operator())
      .def("__ne__", &compared, nb::is_operator())
      .def(
          "__getitem__", [](const PyTensor&, nb::handle) { refuse_to_compute(); }, "index"_a)
      .def("__repr__", &repr_tensor)
      .def("numpy", &to_numpy,
           "An array over the batch's memory, which is not reused while the array exists."
           "\n\n>>> batch = next(iter(stoker.Loader(\"photos\", \"imagenet-train\", batch=8)))\n"
           ">>> batch.image.numpy().shape\n"
           "(8, 3, 224, 224)")
      .def("__array__", &to_array, "dtype"_a = nb::none(), "copy"_a = nb::none())
      .def("__dlpack__", &to_dlpack, nb::kw_only(), "stream"_a = nb::none(), "max_version"_a = nb::none(),
           "dl_device"_a = nb::none(), "copy"_a = nb::none())
      .def("__dlpack_device__", [](const PyTensor& self) {
        const dlpack::Device device = device_of(self);
        return std::pair(device.type, device.id);
      });
}

void bind_ragged(nb::module_& module) {
  nb::class_<PyRagged> type(
      module, "Ragged",
      "An output of a batch of which each sample has as many rows as it has, such as its boxes."
      "\n\n>>> recipe = stoker.recipe().view(\"coded\", field=\"image\").decode_bytes(most=1 << 20)\n"
      ">>> batch = next(iter(stoker.Loader(\"photos\", recipe, batch=8)))\n"
      ">>> batch.coded.as_bytes()[0][:2]  # a JPEG begins so\n"
      "b'\\xff\\xd8'");
  type.def_prop_ro(
          "values", [](const PyRagged& self) { return self.values; }, "The rows of all samples, one after another.")
      .def_prop_ro(
          "offsets", [](const PyRagged& self) { return self.offsets; },
          "For each sample, the index of its first row in values; the last element is the number of rows.")
      .def(
          "as_bytes",
          [](const PyRagged& self) { return bytes_by_sample(self, [](const nb::bytes& bytes) { return bytes; }); },
          "For each sample, its bytes as a copy."
          "\n\n>>> recipe = stoker.recipe().view(\"coded\", field=\"image\").decode_bytes(most=1 << 20)\n"
          ">>> batch = next(iter(stoker.Loader(\"photos\", recipe, batch=8)))\n"
          ">>> batch.coded.as_bytes()[0] == "
          "stoker.open(\"photos\")[list(stoker.open(\"photos\").keys).index(batch.key[0])][\"jpg\"]\n"
          "True")
      .def("as_texts", &texts_by_sample,
           "For each sample, its bytes as a text."
           "\n\n>>> words = stoker.recipe(\"imagenet-val\").view(\"word\", field=\"txt\").decode_text()\n"
           ">>> sorted(next(iter(stoker.Loader(\"captions.tar\", words, batch=2))).word.as_texts())\n"
           "['a cat', 'a dog']")
      .def("__len__", [](const PyRagged& self) { return self.offsets.view.shape[0] - 1; })
      .def("__repr__", &repr_ragged);
  bind_rows<PyRagged>(type, &rows_by_sample,
                      "For each sample, its rows as an array over the batch's memory."
                      "\n\n>>> recipe = stoker.recipe().view(\"coded\", field=\"image\").decode_bytes(most=1 << 20)\n"
                      ">>> batch = next(iter(stoker.Loader(\"photos\", recipe, batch=8)))\n"
                      ">>> [row.dtype.name for row in batch.coded.as_list()] == [\"uint8\"] * 8\n"
                      "True");
}

void bind_padded(nb::module_& module) {
  nb::class_<PyPadded> type(module, "Padded",
                            "An output of a batch whose samples were filled up to one number of rows, by pad_to."
                            "\n\n>>> recipe = stoker.recipe().view(\"head\", field=\"image\").decode_bytes(most=16, "
                            "longer=\"cut\").pad_to(16)\n"
                            ">>> next(iter(stoker.Loader(\"photos\", recipe, batch=8))).head.values\n"
                            "Tensor(shape=(8, 16), dtype='uint8')");
  type.def_prop_ro(
          "values", [](const PyPadded& self) { return self.values; }, "The rows, as many for each sample.")
      .def_prop_ro(
          "counts", [](const PyPadded& self) { return self.counts; },
          "For each sample, the number of rows before padding; larger than in values if rows were cut off.")
      .def("__len__", [](const PyPadded& self) { return self.counts.view.shape[0]; })
      .def("__repr__", &repr_padded);
  bind_rows<PyPadded>(
      type, &rows_by_sample,
      "For each sample, its rows that are here, without those that fill it up, as an array over the batch's "
      "memory."
      "\n\n>>> recipe = stoker.recipe().view(\"head\", field=\"image\").decode_bytes(most=16, "
      "longer=\"cut\").pad_to(16)\n"
      ">>> batch = next(iter(stoker.Loader(\"photos\", recipe, batch=8)))\n"
      ">>> len(batch.head.as_list()[0])\n"
      "16");
}

}  // namespace

void bind_batch(nb::module_& module) {
  bind_tensor(module);
  bind_ragged(module);
  bind_padded(module);
  nb::class_<PyBatch> batch(
      module, "Batch",
      "A batch that a loader yields, or a Preprocessor. Each output of the recipe is an attribute (batch.image) and an "
      "item\n(batch['image']).\n\nIts memory is reused for a later batch when no reference to it is left. Pickled into "
      "another process it is on the "
      "CPU; by\nprotocol 5 its tensors go there without a copy of ours."
      "\n\n>>> batch = next(iter(stoker.Loader(\"photos\", \"imagenet-train\", batch=8)))\n"
      ">>> batch.outputs\n"
      "('image', 'label')\n"
      ">>> batch.image\n"
      "Tensor(shape=(8, 3, 224, 224), dtype='float32')");
  batch.def("__getitem__", &item, "name"_a.none())
      .def("__getattr__", &output_attribute, "name"_a)
      .def("__dir__", &attribute_names)
      .def("__len__", [](const PyBatch& self) { return self.batch->size(); })
      .def("__repr__", &repr_batch)
      .def("__reduce_ex__", &reduce_batch, "protocol"_a)
      .def("record_stream", &record_stream, "stream"_a.none(),
           "Tells the loader that another stream than the one that took the tensors uses them, too: the memory is "
           "not\nreused before the stream has done the work submitted until the last reference to this batch is gone. "
           "Takes a\nstream of PyTorch or CuPy, or its CUDA handle; for a batch on the CPU it has no effect."
           "\n\n>>> batch = next(iter(stoker.Loader(\"photos\", \"imagenet-train\", batch=8)))\n"
           ">>> batch.record_stream(2)  # CUDA's handle of the thread's stream; or a torch.cuda.Stream")
      .def(
          "random_seed",
          [](const PyBatch& self, nb::handle name) { return self.batch->random_seed(text_argument("name", name)); },
          "name"_a.none() = "",
          "A number below 2**63 for random numbers that you draw for this batch: a function of the loader's seed, the "
          "epoch,\nthe batch's first position and the name, and so the same after a resume and for any number of "
          "threads."
          "\n\n>>> batch = next(iter(stoker.Loader(\"photos\", \"imagenet-train\", batch=8)))\n"
          ">>> random = numpy.random.default_rng(batch.random_seed(\"noise\"))\n"
          ">>> noise = random.normal(size=batch.image.shape)")
      .def_prop_ro("outputs", &output_names, "The names of the outputs, in the recipe's order.")
      .def_prop_ro("valid", &valid,
                   "For each slot, whether it holds a sample; false for padding and skipped bad samples, where labels "
                   "are -100 and\nimages zeros.")
      .def_prop_ro("errors", &errors_by_slot,
                   "What is wrong with the bad items, by slot, in a batch of a Preprocessor; empty in a batch of a "
                   "Loader, which logs it.")
      .def_prop_ro("key", &key, "The samples' keys.")
      .def_prop_ro("position", &position, "The samples' positions in the epoch's global order.")
      .def_prop_ro(
          "epoch", [](const PyBatch& self) { return self.batch->epoch; }, "The epoch's number.")
      .def_prop_ro(
          "index", [](const PyBatch& self) { return self.batch->index; }, "The batch's number within the epoch.");
  batch.def_prop_ro("_bytes", &bytes_of);
  batch.def_prop_ro("_seed", [](const PyBatch& self) { return self.batch->seed; });
  module.def("_batch", &batch_from_pickle, "facts"_a, "parts"_a);
  module.def(
      "_batch_random_seed",
      [](std::uint64_t seed, std::int64_t epoch, std::int64_t position, nb::handle name) {
        return batch_random_seed(seed, epoch, position, text_argument("name", name));
      },
      "seed"_a, "epoch"_a, "position"_a, "name"_a.none());
}

}  // namespace stoker::python
