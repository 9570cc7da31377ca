// The part of the data, its labels and its decoding that a run takes in place of what data and recipe say.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/parser.h"
#include "stoker/format/dataset.h"
#include "stoker/plan/recipe.h"
#include "stoker/runtime/open.h"

namespace stoker {

struct DataViewOptions {
  std::string subset, labels, decode;  // empty: all samples; the data's own labels; as the recipe says
};

/// Adds --subset and --labels.
void add_sample_choice_options(Command& command, std::string& subset, std::string& labels);
/// Adds these and --decode.
void add_data_view_options(Command& command, DataViewOptions& views);

/// Throws as open_samples() does, and for lists that do not suit the data.
std::shared_ptr<const Dataset> open_views(const std::vector<std::string>& data, const OpenOptions& open,
                                          const DataViewOptions& views);

/// Throws as Recipe::load() does.
Recipe load_recipe(const std::string& name, const DataViewOptions& views);

}  // namespace stoker
