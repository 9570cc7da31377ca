#include "python/bindings/dataset.h"

#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "python/bindings/arguments.h"
#include "python/bindings/interpreter_lock.h"
#include "python/bindings/interruptible.h"
#include "python/bindings/log.h"
#include "python/bindings/module.h"
#include "python/bindings/numpy_array.h"
#include "stoker/base/error.h"
#include "stoker/base/units.h"
#include "stoker/format/dataset_views.h"
#include "stoker/runtime/open.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace stoker::python {
namespace {

nb::object tokens_as_given(const std::optional<TokenSamples>& tokens) {
  if (!tokens) return nb::none();
  return tokens->length ? nb::cast(*tokens->length) : nb::cast("documents");
}

nb::object document_seed_as_given(const std::optional<TokenSamples>& tokens) {
  return tokens && tokens->document_seed ? nb::cast(*tokens->document_seed) : nb::none();
}

nb::object token_type_as_given(const std::optional<TokenSamples>& tokens) {
  return tokens && tokens->type ? nb::cast(std::string(to_string(*tokens->type))) : nb::none();
}

nb::object token_field_as_given(const std::optional<TokenSamples>& tokens) {
  return tokens && !tokens->field.empty() ? to_python_text(tokens->field) : nb::none();
}

std::optional<TokenSamples> token_options(nb::handle tokens, nb::handle type, nb::handle streams,
                                          nb::handle document_seed, nb::handle field) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  TokenSamples options;
  options.streams = integer_argument("streams", streams, 0, kMost);
  if (!type.is_none()) options.type = parse_token_type(text_argument("token_type", type));
  if (!document_seed.is_none()) {
    options.document_seed = static_cast<std::uint64_t>(integer_argument("document_seed", document_seed, 0, kMost));
  }
  if (!field.is_none()) options.field = name_argument("token_field", field);
  if (tokens.is_none()) {
    if (!type.is_none() || options.streams > 0 || options.document_seed || !options.field.empty()) {
      fail(ErrorKind::kUsage,
           "token_type, token_field, streams and document_seed have an effect only with tokens: give tokens, too, the "
           "length of a sequence or 'documents'");
    }
    return std::nullopt;
  }
  if (!nb::isinstance<nb::str>(tokens)) {
    options.length = integer_argument("tokens", tokens, 1, kMost);
  } else if (text_argument("tokens", tokens) != "documents") {
    fail(ErrorKind::kUsage, "tokens is {}, but must be a whole number or 'documents'", describe(tokens));
  }
  return options;
}

PyDataset open_paths(nb::handle data, const OpenOptions& options) {
  follow_log_level();
  deliver_log();
  std::vector<std::string> paths = paths_argument("data", data);
  PyDataset opened{.dataset = nullptr, .paths = paths, .is_subset = false, .reduce = nullptr};
  run_unless_interrupted([&](const std::stop_token& stop) { opened.dataset = open(paths, stop, options); });
  opened.reduce = [paths = std::move(paths), options] {
    const auto text_or_none = [](const std::string& text) { return text.empty() ? nb::none() : to_python_text(text); };
    return nb::make_tuple(
        maker("reopen"),
        nb::make_tuple(texts(paths), text_or_none(options.index_folder), options.use_indexes,
                       std::string(to_string(options.io)), options.direct, text_or_none(options.store.endpoint),
                       text_or_none(options.store.region), options.store.anonymous, text_or_none(options.fields.image),
                       text_or_none(options.fields.label), tokens_as_given(options.tokens),
                       token_type_as_given(options.tokens), options.tokens ? options.tokens->streams : 0,
                       document_seed_as_given(options.tokens), token_field_as_given(options.tokens)));
  };
  return opened;
}

// As the stub file has it.
constexpr const char* kOpen =
    "def open(data: _Path | Sequence[_Path], index_dir: _Path | None = None, use_index: bool = True, "
    "io: str = 'auto', direct: bool = False, store_endpoint: str | None = None, store_region: str | None = None, "
    "store_anonymous: bool = False, image_field: str | None = None, label_field: str | None = None, "
    "tokens: int | str | None = None, token_type: str | None = None, streams: int = 0, "
    "document_seed: int | None = None, token_field: str | None = None) -> Dataset";

PyDataset open_data(nb::handle data, nb::handle index_dir, nb::handle use_index, nb::handle io, nb::handle direct,
                    nb::handle store_endpoint, nb::handle store_region, nb::handle store_anonymous,
                    nb::handle image_field, nb::handle label_field, nb::handle tokens, nb::handle token_type,
                    nb::handle streams, nb::handle document_seed, nb::handle token_field) {
  OpenOptions options;
  if (!index_dir.is_none()) options.index_folder = path_argument("index_dir", index_dir);
  options.use_indexes = flag_argument("use_index", use_index);
  options.io = parse_io(text_argument("io", io));
  options.direct = flag_argument("direct", direct);
  if (!store_endpoint.is_none()) options.store.endpoint = text_argument("store_endpoint", store_endpoint);
  if (!store_region.is_none()) options.store.region = text_argument("store_region", store_region);
  options.store.anonymous = flag_argument("store_anonymous", store_anonymous);
  if (!image_field.is_none()) options.fields.image = name_argument("image_field", image_field);
  if (!label_field.is_none()) options.fields.label = name_argument("label_field", label_field);
  options.tokens = token_options(tokens, token_type, streams, document_seed, token_field);
  if (!options.use_indexes && !options.index_folder.empty()) {
    fail(ErrorKind::kUsage, "index_dir is given, but use_index is False; leave one of them out");
  }
  return open_paths(data, options);
}

// Memory of Python's for a field's bytes.
struct FieldBytes {
  nb::object object;
  MutableBytes memory;

  explicit FieldBytes(std::uint64_t length) {
    PyObject* made = PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(length));
    if (!made) throw nb::python_error();
    object = nb::steal(made);
    memory = {reinterpret_cast<std::uint8_t*>(PyBytes_AS_STRING(made)), length};  // which no other thread knows yet
  }
};

nb::dict sample(const PyDataset& self, nb::handle index) {
  const Dataset& dataset = *self.dataset;
  if (PyBool_Check(index.ptr()) || !PyIndex_Check(index.ptr())) integer_argument("the index", index, 0, 0);
  Py_ssize_t number = PyNumber_AsSsize_t(index.ptr(), PyExc_IndexError);
  if (number == -1 && PyErr_Occurred()) throw nb::python_error();
  if (number < 0) number += dataset.size();
  if (number < 0 || number >= dataset.size()) {
    throw nb::index_error(fmt::format("the data set has {}", counted(dataset.size(), "sample")).c_str());
  }
  SampleRow row;
  read_from(dataset, [&] { row = dataset.row(number); });
  std::vector<FieldBytes> values;
  for (const SampleField& field : row.fields) values.emplace_back(field.length);
  read_from(dataset, [&] {
    for (std::size_t i = 0; i < values.size(); ++i) {
      try {
        read_checked(row, row.fields[i], values[i].memory);
      } catch (const Error& error) {
        throw error.with_context(describe(row));
      }
    }
  });
  nb::dict fields;
  for (std::size_t i = 0; i < values.size(); ++i) fields[to_python_text(row.fields[i].name)] = values[i].object;
  fields["label"] = row.label;
  fields["key"] = to_python_text(row.key);
  return fields;
}

/// Calls `see` with each sample, without the interpreter's lock.
void see_all(const Dataset& dataset, const std::function<void(const SampleRow&)>& see) {
  run_unless_interrupted([&](const std::stop_token& stop) {
    for_each_row(dataset, stop, [&](std::int64_t, const SampleRow& row) { see(row); });
  });
}

nb::object labels(const PyDataset& self) {
  const auto all = std::make_shared<std::vector<std::int64_t>>();
  all->reserve(static_cast<std::size_t>(self.dataset->size()));
  see_all(*self.dataset, [&](const SampleRow& row) { all->push_back(row.label); });
  return numpy_view({reinterpret_cast<std::uint8_t*>(all->data()), DType::kI64, {self.dataset->size()}}, all);
}

nb::list keys(const PyDataset& self) {
  std::vector<std::string> all;
  all.reserve(static_cast<std::size_t>(self.dataset->size()));
  see_all(*self.dataset, [&](const SampleRow& row) { all.push_back(row.key); });
  return texts(all);
}

}  // namespace

void read_from(const Dataset& dataset, const std::function<void()>& read) {
  if (!dataset.meters().empty()) return run_unless_interrupted([&](const std::stop_token&) { read(); });
  const Unlocked unlocked;
  read();
}

nb::list texts(const std::vector<std::string>& values) {
  nb::list list;
  for (const std::string& value : values) list.append(to_python_text(value));
  return list;
}

nb::object maker(const char* name) { return nb::module_::import_("stoker._pickle").attr(name); }

PyDataset dataset_argument(nb::handle data) {
  if (nb::isinstance<PyDataset>(data)) return nb::cast<PyDataset>(data);
  return open_paths(data, {});
}

void bind_dataset(nb::module_& module) {
  nb::class_<PyDataset> dataset(module, "Dataset",
                                "The samples of a folder or of shards; made by stoker.open()."
                                "\n\n>>> data = stoker.open(\"photos\")\n"
                                ">>> data\n"
                                "Dataset(24 samples, 3 classes)\n"
                                ">>> sorted(data[0])\n"
                                "['jpg', 'key', 'label']");
  dataset
      .def("__init__", [](PyDataset*, const nb::args&,
                          const nb::kwargs&) { fail(ErrorKind::kUsage, "a data set is opened by stoker.open(path)"); })
      .def("__len__", [](const PyDataset& self) { return self.dataset->size(); })
      .def(
          "__getitem__", &sample, "index"_a.none(),
          "The sample as it is stored: its fields as bytes by name, 'label' (-1 if unknown) and 'key'. These two hide\n"
          "fields of the same names.")
      .def("__reduce__", [](const PyDataset& self) { return self.reduce(); })
      .def_prop_ro("_fingerprint", [](const PyDataset& self) { return self.dataset->fingerprint(); })
      .def("__repr__",
           [](const PyDataset& self) {
             return fmt::format("Dataset({}, {})", counted(self.dataset->size(), "sample"),
                                counted(self.dataset->classes().size(), "class"));
           })
      .def_prop_ro(
          "classes", [](const PyDataset& self) { return texts(self.dataset->classes()); },
          "The names of the classes by label; empty if the data set does not name them.")
      .def_prop_ro(
          "fields", [](const PyDataset& self) { return texts(self.dataset->field_names()); },
          "The names of all fields of the samples.")
      .def_prop_ro("labels", &labels,
                   "The label of each sample, -1 where it is unknown, as numpy's int64.\n\n>>> "
                   "numpy.bincount(stoker.open(\"photos\").labels).tolist()\n[8, 8, 8]")
      .def_prop_ro("keys", &keys, "The key of each sample: its name, as in Batch.key.");
  bind_dataset_views(module, dataset);
  module.def("open", &open_data, "data"_a.none(), "index_dir"_a.none() = nb::none(), "use_index"_a.none() = true,
             "io"_a.none() = "auto", "direct"_a.none() = false, "store_endpoint"_a.none() = nb::none(),
             "store_region"_a.none() = nb::none(), "store_anonymous"_a.none() = false,
             "image_field"_a.none() = nb::none(), "label_field"_a.none() = nb::none(), "tokens"_a.none() = nb::none(),
             "token_type"_a.none() = nb::none(), "streams"_a.none() = 0, "document_seed"_a.none() = nb::none(),
             "token_field"_a.none() = nb::none(), nb::sig(kOpen),
             "Opens a data set: a folder, shards of any format, a list of files, a glob, a brace pattern, a URL, or a "
             "list of these.\n\nindex_dir: look for the shards' indexes in this folder first\nuse_index: False scans "
             "every shard, and does not cache the result\nio: how shards are read: 'uring', 'pread', or "
             "'auto', which is io_uring where it works\ndirect: bypass the page cache when reading "
             "shards\nstore_endpoint, store_region: for s3:// and gs://, the service that speaks S3's protocol, and "
             "the bucket's region\nstore_anonymous: do not look for keys, and do not sign requests\nimage_field, "
             "label_field: the fields that hold images and labels (numbers, or names of classes), if not the usual "
             "ones\ntokens: read tokens (.bin with .idx, .npy, or plain numbers): in sequences of this length, or as "
             "whole 'documents'\ntoken_type: type of the tokens in files that do not name it, such as 'u16'\nstreams: "
             "read this many streams of tokens that continue from batch to batch; a global batch has as many "
             "samples\ndocument_seed: for sequences, shuffle the documents of each file with this seed\n"
             "token_field: field of samples of any format that holds the tokens, such as 'input_ids'; each sample is a "
             "document"
             "\n\n>>> len(stoker.open(\"photos\"))\n"
             "24");
}

}  // namespace stoker::python
