#include "python/bindings/batch_pickle.h"

#include <nanobind/stl/string.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "python/bindings/dataset.h"
#include "python/bindings/interpreter_lock.h"
#include "python/bindings/numpy_array.h"
#include "stoker/base/error.h"

namespace nb = nanobind;

namespace stoker::python {
namespace {

constexpr int kProtocolWithBuffers = 5;

nb::bytes python_bytes(std::string_view text) { return nb::bytes(text.data(), text.size()); }

nb::list python_bytes(const std::vector<std::string>& texts) {
  nb::list list;
  for (const std::string& text : texts) list.append(python_bytes(text));
  return list;
}

std::vector<std::string> texts_of(nb::handle list) {
  std::vector<std::string> texts;
  for (const nb::handle one : list) {
    const auto text = nb::cast<nb::bytes>(one);
    texts.emplace_back(text.c_str(), text.size());
  }
  return texts;
}

template <typename T>
nb::bytes memory_of(const std::vector<T>& values) {
  return nb::bytes(values.data(), values.size() * sizeof(T));
}

template <typename T>
std::vector<T> values_of(nb::handle memory) {
  const auto bytes = nb::cast<nb::bytes>(memory);
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.c_str(), values.size() * sizeof(T));
  return values;
}

// For a pickle that does not hand on buffers; such a copy can be written to where the original can.
nb::object python_copy(Bytes bytes, bool read_only) {
  if (read_only) return nb::bytes(bytes.data(), bytes.size());
  return nb::bytearray(bytes.data(), bytes.size());
}

nb::object or_none(const std::optional<std::int64_t>& value) { return value ? nb::int_(*value) : nb::none(); }

// An output has rows of its own number, or padded ones, or neither.
nb::tuple spec_facts(const OutputSpec& spec) {
  nb::list shape;
  for (const std::int64_t extent : spec.shape.extents()) shape.append(extent);
  nb::object layout = nb::none(), padded = nb::none();
  if (spec.layout) layout = nb::str(std::string(to_string(*spec.layout)).c_str());
  if (spec.row_padding) {
    padded =
        nb::make_tuple(spec.row_padding->rows, spec.row_padding->fill, spec.row_padding->cuts, spec.row_padding->room);
  }
  return nb::make_tuple(spec.name, std::string(to_string(spec.dtype)), nb::tuple(shape), layout,
                        spec.arrangement == &ragged_arrangement(), or_none(spec.padding), padded);
}

OutputSpec spec_of(nb::handle facts) {
  OutputSpec spec;
  spec.name = nb::cast<std::string>(facts[0]);
  spec.dtype = parse_dtype(nb::cast<std::string>(facts[1]));
  for (const nb::handle extent : nb::object(facts[2])) {
    const auto count = nb::cast<std::int64_t>(extent);
    if (count < 0 || spec.shape.rank() == Shape::kMaxRank) fail(ErrorKind::kData, "this is not an output's shape");
    spec.shape.append(count);
  }
  if (const nb::object layout = facts[3]; !layout.is_none()) spec.layout = parse_layout(nb::cast<std::string>(layout));
  if (nb::cast<bool>(facts[4])) spec.arrangement = &ragged_arrangement();
  if (const nb::object padding = facts[5]; !padding.is_none()) spec.padding = nb::cast<std::int64_t>(padding);
  if (const nb::object padded = facts[6]; !padded.is_none()) {
    spec.arrangement = &padded_arrangement();
    spec.row_padding = RowPadding{nb::cast<std::int64_t>(padded[0]), nb::cast<double>(padded[1]),
                                  nb::cast<bool>(padded[2]), nb::cast<std::int64_t>(padded[3])};
  }
  if (spec.arrangement != &dense_arrangement() && spec.shape.rank() == 0) {
    fail(ErrorKind::kData, "'{}' has rows, and no shape", spec.name);
  }
  return spec;
}

/// Buffers of Python objects, until the last tensor over them is gone: on whatever thread that is.
class Buffers {
 public:
  Buffers() = default;
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;
  ~Buffers() {
    const Locked locked;
    if (!locked) return;  // they end with the interpreter
    for (Py_buffer& buffer : buffers_) PyBuffer_Release(&buffer);
  }

  const Py_buffer& add(nb::handle object) {
    buffers_.emplace_back();
    if (PyObject_GetBuffer(object.ptr(), &buffers_.back(), PyBUF_SIMPLE) != 0) {
      buffers_.pop_back();
      throw nb::python_error();
    }
    return buffers_.back();
  }

 private:
  std::vector<Py_buffer> buffers_;
};

/// The same bytes, where 64-bit numbers may lie.
MutableBytes aligned(MutableBytes bytes, std::vector<Memory>& copies) {
  if (reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(std::int64_t) == 0) return bytes;
  copies.emplace_back(host_allocator(), bytes.size());
  std::memcpy(copies.back().data(), bytes.data(), bytes.size());
  return {copies.back().data(), bytes.size()};
}

BatchParts parts_of(const nb::list& objects) {
  struct Owned {
    Buffers buffers;
    std::vector<Memory> copies;
  };
  auto owned = std::make_shared<Owned>();
  BatchParts parts{.outputs = {}, .owner = owned};
  for (const nb::handle object : objects) {
    const Py_buffer& buffer = owned->buffers.add(object);
    parts.read_only |= buffer.readonly != 0;
    const MutableBytes bytes(static_cast<std::uint8_t*>(buffer.buf), static_cast<std::size_t>(buffer.len));
    parts.outputs.push_back(aligned(bytes, owned->copies));
  }
  return parts;
}

}  // namespace

nb::tuple reduce_batch(const PyBatch& self, int protocol) {
  const Batch& batch = *self.batch;
  nb::list specs, parts;
  for (std::size_t output = 0; output < batch.outputs().size(); ++output) {
    specs.append(spec_facts(batch.outputs()[output]));
    auto room = std::make_shared<std::vector<std::uint8_t>>();  // for an output that is on a GPU
    const Bytes bytes = batch.host_bytes(output, *room);
    if (protocol < kProtocolWithBuffers) {
      parts.append(python_copy(bytes, batch.read_only()));
      continue;
    }
    using Held = std::pair<std::shared_ptr<const Batch>, std::shared_ptr<const void>>;
    const TensorView view{
        const_cast<std::uint8_t*>(bytes.data()), DType::kU8, {static_cast<std::int64_t>(bytes.size())}};
    const nb::object array = numpy_view(view, std::make_shared<Held>(self.batch, room), batch.read_only());
    parts.append(nb::module_::import_("pickle").attr("PickleBuffer")(array));
  }
  const nb::tuple facts =
      nb::make_tuple(specs, batch.epoch, batch.index, memory_of(batch.status), memory_of(batch.position),
                     memory_of(batch.sample), python_bytes(batch.key), memory_of(batch.substituted_for),
                     python_bytes(batch.substituted_key), python_bytes(batch.errors), batch.seed);
  return nb::make_tuple(maker("batch"), nb::make_tuple(facts, parts));
}

PyBatch batch_from_pickle(const nb::tuple& facts, const nb::list& parts) {
  std::vector<OutputSpec> specs;
  for (const nb::handle spec : nb::object(facts[0])) specs.push_back(spec_of(spec));
  auto status = values_of<SlotStatus>(facts[3]);
  const auto slots = static_cast<int>(status.size());
  auto batch = std::make_shared<Batch>(std::move(specs), slots, parts_of(parts));
  batch->epoch = nb::cast<std::int64_t>(facts[1]);
  batch->index = nb::cast<std::int64_t>(facts[2]);
  batch->status = std::move(status);
  batch->position = values_of<std::int64_t>(facts[4]);
  batch->sample = values_of<std::int64_t>(facts[5]);
  batch->key = texts_of(facts[6]);
  batch->substituted_for = values_of<std::int64_t>(facts[7]);
  batch->substituted_key = texts_of(facts[8]);
  batch->errors = texts_of(facts[9]);
  batch->seed = nb::cast<std::uint64_t>(facts[10]);
  for (const std::size_t count : {batch->position.size(), batch->sample.size(), batch->key.size(),
                                  batch->substituted_for.size(), batch->substituted_key.size()}) {
    if (count != batch->status.size()) fail(ErrorKind::kData, "the batch's facts are not of the same slots");
  }
  return {std::move(batch)};
}

}  // namespace stoker::python
