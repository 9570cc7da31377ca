#include "cli/data_views.h"

#include <utility>

#include "cli/common_options.h"
#include "stoker/base/error.h"
#include "stoker/format/dataset_views.h"
#include "stoker/format/labels.h"
#include "stoker/runtime/open_stores.h"
#include "stoker/runtime/samples/sample_reader.h"

namespace stoker {

void add_data_view_options(Command& command, DataViewOptions& views) {
  add_text_option(command, "--subset", views.subset, "Only the samples whose keys this list has")->option_text("FILE");
  add_text_option(command, "--labels", views.labels,
                  "A list or CSV file of keys and labels; or folders: a key's first folder is its class")
      ->option_text("FILE|folders");
  add_text_option(command, "--decode", views.decode,
                  "How JPEGs are decoded, whatever the recipe says (stoker ops decode)")
      ->option_text("planar|faithful");
}

std::shared_ptr<const Dataset> open_views(const std::vector<std::string>& data, const OpenOptions& open,
                                          const DataViewOptions& views) {
  std::shared_ptr<const Dataset> dataset = open_samples(data, open);
  if (!views.subset.empty()) {
    dataset = subset(dataset, samples_of_keys(*dataset, read_key_list(views.subset, open_stores(open))));
    if (dataset->size() == 0) fail(ErrorKind::kData, "the list '{}' names no sample", views.subset);
  }
  if (views.labels.empty()) return dataset;
  Labels labels = views.labels == "folders" ? labels_of_folders(*dataset)
                                            : read_labels(*dataset, views.labels, {}, {}, open_stores(open));
  return with_labels(dataset, std::move(labels.numbers), std::move(labels.classes));
}

Recipe load_recipe(const std::string& name, const DataViewOptions& views) {
  Recipe recipe = Recipe::load(name);
  if (!views.decode.empty()) recipe.set_decode_mode(views.decode);
  return recipe;
}

}  // namespace stoker
