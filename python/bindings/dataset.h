// A data set as Python sees it.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <string>
#include <vector>

#include "stoker/format/dataset.h"

namespace stoker::python {

/// The Python class Dataset.
struct PyDataset {
  std::shared_ptr<const Dataset> dataset;
  std::vector<std::string> paths;  // where it was opened, for messages
};

/// A Dataset as it is; a path or a list of paths is opened.
PyDataset dataset_argument(nanobind::handle data);

}  // namespace stoker::python
