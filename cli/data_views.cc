#include "cli/data_views.h"

#include <utility>

#include "cli/common_options.h"
#include "stoker/base/error.h"
#include "stoker/format/dataset_views.h"
#include "stoker/format/labels.h"
#include "stoker/runtime/open_stores.h"
#include "stoker/runtime/samples/sample_reader.h"

namespace stoker {

void add_sample_choice_options(Command& command, std::string& subset, std::string& labels) {
  add_text_option(command, "--subset", subset, "Only the samples whose keys this list has")->option_text("FILE");
  add_text_option(command, "--labels", labels,
                  "A list or CSV file of keys and labels; or folders: a key's first folder is its class")
      ->option_text("FILE|folders");
}

void add_data_view_options(Command& command, DataViewOptions& views) {
  add_sample_choice_options(command, views.subset, views.labels);
  add_text_option(command, "--decode", views.decode,
                  "Decode JPEGs like this, whatever the recipe says (see stoker ops decode)")
      ->option_text("planar|faithful");
}

std::shared_ptr<const Dataset> open_views(const std::vector<std::string>& data, const OpenOptions& open,
                                          const DataViewOptions& views) {
  std::shared_ptr<const Dataset> dataset = open_samples(data, open);
  if (!views.subset.empty()) {
    dataset = subset(dataset, samples_listed(*dataset, views.subset, open_stores(open)));
  }
  if (views.labels.empty()) return dataset;
  Labels labels = labels_given(*dataset, views.labels, {}, {}, open_stores(open));
  return with_labels(dataset, std::move(labels.numbers), std::move(labels.classes));
}

Recipe load_recipe(const std::string& name, const DataViewOptions& views) {
  Recipe recipe = Recipe::load(name);
  if (!views.decode.empty()) recipe.set_decode_mode(views.decode);
  return recipe;
}

}  // namespace stoker
