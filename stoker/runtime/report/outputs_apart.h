// What is written during a training must not be what it reads.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "stoker/format/dataset.h"
#include "stoker/runtime/report/output_paths.h"

namespace stoker {

/// To be called before any output is emptied. Throws kUsage, naming the option, for an output that is one of the files
/// that `data` names, or a shard of the data set: by whatever path, or link, it is reached.
void check_outputs_apart(std::initializer_list<OutputPath> outputs, const std::vector<std::string>& data,
                         const Dataset& dataset);

}  // namespace stoker
