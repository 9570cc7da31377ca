// A data set as Python sees it.
#pragma once

#include <nanobind/nanobind.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "stoker/format/dataset.h"

namespace stoker::python {

/// The Python class Dataset.
struct PyDataset {
  std::shared_ptr<const Dataset> dataset;
  std::vector<std::string> paths;  // where it was opened, for messages
  bool is_subset = false;          // or one with other labels
  /// What pickle is to call, and with what, to make the same in another process.
  std::function<nanobind::tuple()> reduce;
};

/// A Dataset as it is; a path or a list of paths is opened.
PyDataset dataset_argument(nanobind::handle data);

/// Reads without the interpreter's lock; Ctrl-C ends it where stores may not answer. Local reads must be short: they
/// take no thread for it.
void read_from(const Dataset& dataset, const std::function<void()>& read);

/// One of the functions that make a data set again, for PyDataset::reduce.
nanobind::object maker(const char* name);

/// As Python has them.
nanobind::list texts(const std::vector<std::string>& values);

/// Data sets made from others: subset(), with_labels(), stoker.mix().
void bind_dataset_views(nanobind::module_& module, nanobind::class_<PyDataset>& dataset);

}  // namespace stoker::python
