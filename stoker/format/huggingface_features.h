// What Hugging Face's `datasets` says about a file's columns, as JSON text in the file: of columns of classes, the
// names.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stoker {

/// The names of the classes by number, of each column that holds numbers of classes: {"info": {"features": {"label":
/// {"_type": "ClassLabel", "names": ["cat", "dog"]}}}}. Nothing from a text that is not such.
std::map<std::string, std::vector<std::string>, std::less<>> class_names_of(std::string_view huggingface);

/// A column of integers, in which labels may be.
struct IntegerColumn {
  std::string name{};  // in lower case
  std::string path{};  // as `datasets` calls it
};

/// Which of these columns has the labels, and the names of its classes.
struct LabelColumn {
  std::size_t number = 0;
  std::vector<std::string> classes{};
};

/// The first that has one of the usual names, else the only one that `huggingface` describes as one of classes.
std::optional<LabelColumn> label_column(std::span<const IntegerColumn> columns, std::string_view huggingface);

/// A column as `datasets` describes it.
struct HuggingfaceFeature {
  enum class Kind { kImage, kClass, kText, kBytes };

  std::string column;
  Kind kind = Kind::kBytes;
};

/// The JSON text that describes the columns: those of kind kClass with the names, unless there are none, or
/// `datasets` would refuse them: two classes of one name, or a name that is not UTF-8.
std::string huggingface_text(const std::vector<HuggingfaceFeature>& features, const std::vector<std::string>& classes);

}  // namespace stoker
