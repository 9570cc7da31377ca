// Data sets made from others, and what a predicate over samples is shown.
#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "python/bindings/arguments.h"
#include "python/bindings/call_arguments.h"
#include "python/bindings/dataset.h"
#include "python/bindings/interpreter_lock.h"
#include "python/bindings/interruptible.h"
#include "stoker/base/error.h"
#include "stoker/base/units.h"
#include "stoker/format/dataset_views.h"
#include "stoker/format/labels.h"
#include "stoker/runtime/open_stores.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace stoker::python {
namespace {

/// What is known of a sample without reading it: the Python class SampleFacts.
struct PySampleFacts {
  SampleRow row;
  std::shared_ptr<const Dataset> dataset;  // which the row's names are in: a predicate may keep what it is shown
};

std::vector<std::string> name_list(std::string_view name, const nb::list& values) {
  std::vector<std::string> texts;
  for (const nb::handle value : values) texts.push_back(name_argument(name, value));
  return texts;
}

std::vector<std::int64_t> integer_list(std::string_view name, const nb::list& values, std::int64_t least) {
  std::vector<std::int64_t> integers;
  for (const nb::handle value : values) integers.push_back(integer_argument(name, value, least, INT64_MAX));
  return integers;
}

nb::list python_list(const std::vector<std::int64_t>& values) {
  nb::list list;
  for (const std::int64_t value : values) list.append(value);
  return list;
}

bool is_truth_value(nb::handle value) { return PyBool_Check(plain_value(value).ptr()); }

/// Those for which the mask is true.
std::vector<std::int64_t> numbers_in_mask(const nb::list& mask, std::int64_t samples) {
  if (static_cast<std::int64_t>(nb::len(mask)) != samples) {
    fail(ErrorKind::kUsage, "the mask has {}, and the data set {}; a mask says of each sample whether it is chosen",
         counted(nb::len(mask), "value"), counted(samples, "sample"));
  }
  std::vector<std::int64_t> numbers;
  for (std::int64_t number = 0; const nb::handle value : mask) {
    if (!is_truth_value(value)) {
      fail(ErrorKind::kUsage, "a mask has True or False for each sample; for sample {} it has {}", number,
           describe(value));
    }
    if (plain_value(value).is(nb::handle(Py_True))) numbers.push_back(number);
    ++number;
  }
  return numbers;
}

/// As many as a predicate sees before the next are read; `first` is one of the samples.
std::vector<SampleRow> next_rows(const Dataset& data, std::int64_t first) {
  constexpr std::int64_t kRowsMax = 256;
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(std::min(kRowsMax, data.size() - first)));
  std::iota(numbers.begin(), numbers.end(), first);
  std::vector<SampleRow> rows(numbers.size());
  read_from(data, [&] {
    data.prepare(numbers);
    for (std::size_t i = 0; i < rows.size(); ++i) data.read(numbers[i], rows[i]);
  });
  return rows;
}

/// Those for which the predicate is true.
std::vector<std::int64_t> numbers_where(const PyDataset& self, const nb::object& predicate) {
  std::vector<std::int64_t> numbers;
  for (std::int64_t number = 0; number < self.dataset->size();) {
    for (SampleRow& row : next_rows(*self.dataset, number)) {
      const nb::object facts = nb::cast(PySampleFacts{std::move(row), self.dataset});
      if (nb::cast<bool>(nb::bool_(call_python(predicate, facts)))) numbers.push_back(number);
      ++number;
    }
  }
  return numbers;
}

/// The samples, by numbers, that `chosen` asks for.
std::vector<std::int64_t> numbers_chosen(const PyDataset& self, nb::handle chosen) {
  if (nb::isinstance<nb::callable>(chosen)) return numbers_where(self, nb::borrow(chosen));
  std::vector<std::string> keys;
  if (is_path(chosen)) {
    const std::string path = path_argument("chosen", chosen);
    run_unless_interrupted([&](const std::stop_token& stop) { keys = read_key_list(path, open_stores({}, stop)); });
  } else {
    const nb::list items = list_argument("chosen", chosen, "keys or numbers of samples, a mask, a path or a predicate");
    if (nb::len(items) > 0 && is_truth_value(items[0])) return numbers_in_mask(items, self.dataset->size());
    if (nb::len(items) == 0 || !nb::isinstance<nb::str>(items[0])) return integer_list("a sample's number", items, 0);
    keys = name_list("a sample's key", items);
  }
  std::vector<std::int64_t> numbers;
  run_unless_interrupted([&](const std::stop_token& stop) { numbers = samples_of_keys(*self.dataset, keys, stop); });
  return numbers;
}

PyDataset subset_of(const PyDataset& self, nb::handle chosen) {
  std::vector<std::int64_t> numbers = numbers_chosen(self, chosen);
  PyDataset made{.dataset = nullptr, .paths = self.paths, .is_subset = true, .reduce = nullptr};
  run_unless_interrupted([&](const std::stop_token& stop) { made.dataset = subset(self.dataset, numbers, stop); });
  made.reduce = [parent = self, numbers = std::move(numbers)] {
    return nb::make_tuple(maker("subset"), nb::make_tuple(parent, python_list(numbers), parent.dataset->fingerprint()));
  };
  return made;
}

PyDataset labelled(const PyDataset& self, nb::handle labels, nb::handle classes) {
  Labels chosen;
  if (!classes.is_none()) {
    chosen.classes = name_list("a class", list_argument("classes", classes, "a list of names"));
  }
  if (is_path(labels)) {
    const std::string path = path_argument("labels", labels);
    run_unless_interrupted([&](const std::stop_token& stop) {
      chosen = labels_given(*self.dataset, path, chosen.classes, stop, open_stores({}, stop));
    });
  } else {
    chosen.numbers =
        integer_list("a label", list_argument("labels", labels, "a number for each sample, or a path"), -1);
  }
  PyDataset made{.dataset = nullptr, .paths = self.paths, .is_subset = self.is_subset, .reduce = nullptr};
  run_unless_interrupted([&](const std::stop_token& stop) {
    made.dataset = with_labels(self.dataset, chosen.numbers, chosen.classes, stop);
  });
  made.reduce = [parent = self, chosen = std::move(chosen)] {
    return nb::make_tuple(maker("with_labels"), nb::make_tuple(parent, python_list(chosen.numbers),
                                                               texts(chosen.classes), parent.dataset->fingerprint()));
  };
  return made;
}

PyDataset mixture(const nb::args& positional, const nb::kwargs& named) {
  const CallSignature signature{"mix", {"data", "weights"}, 2};
  const CallArguments given(signature, positional, named);
  std::vector<PyDataset> parts;
  std::vector<std::shared_ptr<const Dataset>> datasets;
  PyDataset made;
  for (const nb::handle part : list_argument("data", given["data"], "a list of data sets or paths")) {
    parts.push_back(dataset_argument(part));
    datasets.push_back(parts.back().dataset);
    made.paths.insert(made.paths.end(), parts.back().paths.begin(), parts.back().paths.end());
  }
  std::vector<double> numbers;
  for (const nb::handle weight : list_argument("weights", given["weights"], "a list of numbers")) {
    double number = 0;
    if (!nb::try_cast(weight, number)) fail(ErrorKind::kUsage, "a weight must be a number, not {}", describe(weight));
    numbers.push_back(number);
  }
  made.dataset = mix(datasets, numbers);
  made.reduce = [parts = std::move(parts), numbers = std::move(numbers)] {
    nb::list of_parts, of_weights;
    for (const PyDataset& part : parts) of_parts.append(part);
    for (const double number : numbers) of_weights.append(number);
    return nb::make_tuple(maker("mix"), nb::make_tuple(of_parts, of_weights));
  };
  return made;
}

nb::object fact(const PySampleFacts& self, int ImageFacts::*member) {
  return self.row.facts ? nb::int_((*self.row.facts).*member) : nb::object(nb::none());
}

nb::object clean(const PySampleFacts& self) {
  if (self.row.soundness == Soundness::kUnknown) return nb::none();
  return nb::bool_(self.row.soundness == Soundness::kClean);
}

nb::dict field_lengths(const PySampleFacts& self) {
  nb::dict fields;
  for (const SampleField& field : self.row.fields) fields[to_python_text(field.name)] = field.length;
  return fields;
}

std::string repr_facts(const PySampleFacts& self) {
  const auto text = [](nb::handle value) { return nb::cast<std::string>(nb::repr(value)); };
  std::string facts = fmt::format("SampleFacts(key={}, label={}, fields={}", text(to_python_text(self.row.key)),
                                  self.row.label, text(field_lengths(self)));
  if (self.row.facts) {
    const ImageFacts& image = *self.row.facts;
    facts += fmt::format(", width={}, height={}, components={}", image.width, image.height, image.components);
  }
  return facts + fmt::format(", clean={})", text(clean(self)));
}

}  // namespace

void bind_dataset_views(nb::module_& module, nb::class_<PyDataset>& dataset) {
  nb::class_<PySampleFacts>(module, "SampleFacts",
                            "What is known about a sample before it is read. Facts about its image come from an index: "
                            "without one they are None."
                            "\n\n>>> stoker.open(\"photos\").subset(lambda sample: sample.bytes > 0)\n"
                            "Dataset(24 samples, 3 classes)")
      .def_prop_ro(
          "key", [](const PySampleFacts& self) { return to_python_text(self.row.key); }, "The sample's name.")
      .def_prop_ro(
          "label", [](const PySampleFacts& self) { return self.row.label; }, "The class number, -1 if unknown.")
      .def_prop_ro(
          "bytes", [](const PySampleFacts& self) { return self.row.bytes(); }, "Bytes of all fields.")
      .def_prop_ro("fields", &field_lengths, "Bytes of each field, by name.")
      .def_prop_ro(
          "width", [](const PySampleFacts& self) { return fact(self, &ImageFacts::width); }, "Columns of the image.")
      .def_prop_ro(
          "height", [](const PySampleFacts& self) { return fact(self, &ImageFacts::height); }, "Rows of the image.")
      .def_prop_ro(
          "components", [](const PySampleFacts& self) { return fact(self, &ImageFacts::components); },
          "Colour components of the image: 1, 3 or 4.")
      .def_prop_ro("clean", &clean, "Whether the image was sound when its shard was indexed; None if unknown.")
      .def("__repr__", &repr_facts);
  dataset
      .def("subset", &subset_of, "chosen"_a.none(),
           nb::sig("def subset(self, chosen: Sequence[str] | Sequence[int] | Sequence[bool] | _Path | "
                   "Callable[[SampleFacts], bool]) -> Dataset"),
           "Some of the samples, in their order: those with the given keys or numbers, each once however often it is "
           "given;\nthose for which a mask (a bool for each sample) or a predicate is true; or those whose keys are in "
           "a list file."
           "\n\n>>> data = stoker.open(\"photos\")\n"
           ">>> data.subset(data.labels == 2)\n"
           "Dataset(8 samples, 3 classes)\n"
           ">>> len(data.subset(lambda facts: facts.bytes < 1 << 20))\n"
           "24")
      .def("with_labels", &labelled, "labels"_a.none(), "classes"_a.none() = nb::none(),
           nb::sig("def with_labels(self, labels: _Path | Sequence[int], classes: Sequence[str] | None = None) -> "
                   "Dataset"),
           "The same samples with other labels: from a list or CSV file of keys and labels, from the 'folders' "
           "that\ntheir keys begin with, or as given. classes: names in the order of their numbers; by default in byte "
           "order."
           "\n\n>>> data = stoker.open(\"photos\")\n"
           ">>> data.with_labels(data.labels % 2, [\"even\", \"odd\"])\n"
           "Dataset(24 samples, 2 classes)");
  module.def("mix", &mixture, nb::sig("def mix(data: Sequence[Dataset | _Path], weights: Sequence[float]) -> Dataset"),
             "Mixes several data sets: in the long run, the share of samples from each is exactly its weight's."
             "\n\n>>> stoker.mix([\"photos\", \"imagenet/train\"], weights=[0.7, 0.3])\n"
             "Dataset(64 samples, 3 classes)");
}

}  // namespace stoker::python
