// The user's choice of the fields that hold a sample's image and its label, where the usual ones are not meant.
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/format/dataset.h"

namespace stoker {

struct FieldChoice {
  std::string image{};  // empty: as SampleRow::image_field() finds it
  std::string label{};  // empty: as the format has it
};

/// The same with the names as fields of these names have them, and empty where the choice is the usual one: "image"
/// stands for the usual image, "label" and "cls" for the usual label, unless a field is called so. Throws kUsage,
/// naming the fields there are, for a name that no field has.
FieldChoice resolved(const FieldChoice& choice, const std::vector<std::string>& fields);

/// The samples with these fields as their images and labels. Labels are read now, one for each sample: whole numbers,
/// or names of classes, which are numbered as the data set's classes if all are among them, else in byte order. Samples
/// without the field have no label. Throws as resolved() and FieldTexts, and kClosed.
std::shared_ptr<const Dataset> with_fields(std::shared_ptr<const Dataset> data, const FieldChoice& choice,
                                           const std::stop_token& stop = {});

}  // namespace stoker
