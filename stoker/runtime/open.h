// Opening a data set with the threads to read it.
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "stoker/format/dataset.h"

namespace stoker {

/// Opens DATA: a folder, a shard, a text file of paths, a glob or brace pattern. Its reads run on a pool of threads
/// that lives as long as the data set. Throws Error naming what is wrong, and kClosed when asked to `stop`.
std::shared_ptr<const Dataset> open(const std::string& data, const std::stop_token& stop = {});
std::shared_ptr<const Dataset> open(const std::vector<std::string>& data, const std::stop_token& stop = {});

}  // namespace stoker
