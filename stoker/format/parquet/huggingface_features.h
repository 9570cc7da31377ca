// What Hugging Face's `datasets` says about a file's columns, as JSON text in the file: of columns of classes, the
// names.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace stoker {

/// The names of the classes by number, of each column that holds numbers of classes: {"info": {"features": {"label":
/// {"_type": "ClassLabel", "names": ["cat", "dog"]}}}}. Nothing from a text that is not such.
std::map<std::string, std::vector<std::string>, std::less<>> class_names_of(std::string_view huggingface);

}  // namespace stoker
