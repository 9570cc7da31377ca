#include "stoker/format/pack_contents.h"

#include "stoker/format/dataset.h"

namespace stoker {

bool is_class_number(const SampleRow& row, const SampleField& field) {
  return field.name == "cls" && (row.label >= 0 || row.says_unknown);
}

void PackContents::add(const SampleRow& row) {
  if (samples_ == 0) first_sample_ = describe(row);
  const SampleField* const image = row.image_field();
  if (image && images_.find(image->name) == images_.end()) images_.emplace(image->name);
  if (!image && first_without_image_.empty()) first_without_image_ = describe(row);
  has_labels_ = has_labels_ || row.label >= 0 || row.says_unknown;
  for (const SampleField& field : row.fields) {
    if (&field == image || is_class_number(row, field)) continue;
    auto known = others_.find(field.name);
    if (known == others_.end()) {
      known = others_.emplace(field.name, Occurrence()).first;
      if (samples_ > 0) known->second.first_without = first_sample_;
    }
    ++known->second.samples;
  }
  ++samples_;
  for (auto& [name, occurrence] : others_) {
    if (occurrence.samples < samples_ && occurrence.first_without.empty()) occurrence.first_without = describe(row);
  }
}

}  // namespace stoker
