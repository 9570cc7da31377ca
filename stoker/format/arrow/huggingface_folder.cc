#include "stoker/format/arrow/huggingface_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "stoker/base/error.h"
#include "stoker/base/json_values.h"
#include "stoker/format/member_name.h"

namespace stoker {
namespace {

using HuggingfaceJson = nlohmann::json;

constexpr std::string_view kStateName = "state.json", kDictName = "dataset_dict.json", kInfoName = "dataset_info.json";
constexpr std::uint64_t kListBytesMax = std::uint64_t{64} << 20;

/// What the folder's file says; null for one that is not there, or is not JSON, or too deep.
HuggingfaceJson json_in(const Stores& stores, const Location& folder, std::string_view name) {
  const Location at = folder / name;
  const std::optional<ObjectFacts> facts = stores.find(at);
  if (!facts || !facts->is_file() || facts->size > kListBytesMax) return nullptr;
  std::vector<std::uint8_t> text(facts->size);
  read_fully(*stores.open(at), 0, text);
  HuggingfaceJson json = parse_data_json(as_text(text));
  if (json.is_discarded()) return nullptr;
  return json;
}

/// Null for what has no such member.
const HuggingfaceJson* huggingface_member(const HuggingfaceJson& of, const char* name) {
  if (!of.is_object()) return nullptr;
  const auto found = of.find(name);
  return found == of.end() ? nullptr : &*found;
}

/// A name in the folder that a list gives. Throws kData naming the list.
Location listed_place(const Location& folder, const HuggingfaceJson* name, std::string_view list) {
  const std::string* const path = name ? name->get_ptr<const std::string*>() : nullptr;
  if (!path || path->empty() || leads_elsewhere(*path) || path->find('\0') != std::string::npos ||
      path->find("://") != std::string::npos) {
    fail(ErrorKind::kData, "'{}' lists a name that is not one in its folder", folder / list);
  }
  return folder / *path;
}

std::vector<Location> tables_of_state(const Stores& stores, const Location& folder, const HuggingfaceJson& files) {
  std::vector<Location> tables;
  for (const HuggingfaceJson& file : files) {
    tables.push_back(listed_place(folder, huggingface_member(file, "filename"), kStateName));
  }
  stores.expect(tables);
  for (const Location& table : tables) {
    if (!stores.find(table)) {
      fail(ErrorKind::kNotFound, "'{}' is not there, and '{}' lists it", table, folder / kStateName);
    }
  }
  return tables;
}

/// "cifar10-train.arrow" and "cifar10-train-00000-of-00002.arrow" are tables of the split "train".
bool is_table_of_split(std::string_view name, std::string_view split) {
  constexpr std::string_view kEnding = ".arrow", kNumber = "00000";
  if (!name.ends_with(kEnding)) return false;
  name.remove_suffix(kEnding.size());
  const auto take_number_after = [&](std::string_view before) {
    if (name.size() < before.size() + kNumber.size()) return false;
    const std::string_view number = name.substr(name.size() - kNumber.size());
    const std::string_view rest = name.substr(0, name.size() - kNumber.size());
    if (number.find_first_not_of("0123456789") != std::string_view::npos || !rest.ends_with(before)) return false;
    name = rest.substr(0, rest.size() - before.size());
    return true;
  };
  if (take_number_after("-of-") && !take_number_after("-")) return false;
  return name.size() > split.size() && name.ends_with(split) && name[name.size() - split.size() - 1] == '-';
}

[[noreturn]] void fail_splits(const Location& folder, const std::vector<std::string>& of_each) {
  std::string places;
  for (const std::string& one : of_each) {
    places += fmt::format("{}'{}'", places.empty() ? "" : " or ", folder / one);
  }
  fail(ErrorKind::kUsage, "'{}' holds several splits of a data set; give {}", folder, places);
}

/// Of a folder of the cache, where the tables of all splits lie side by side.
std::vector<Location> tables_of_splits(const Stores& stores, const Location& folder, const HuggingfaceJson& splits) {
  const std::unique_ptr<Folder> entries = stores.list(folder);
  std::vector<std::string> patterns;
  std::vector<Location> tables;
  for (const auto& [split, described] : splits.items()) {
    const std::size_t before = tables.size();
    for (std::size_t i = 0; i < entries->size(); ++i) {
      const Folder::Entry entry = (*entries)[i];
      if (!entry.is_folder && is_table_of_split(entry.name, split)) tables.push_back(folder / entry.name);
    }
    if (tables.size() > before) patterns.push_back(fmt::format("*-{}*.arrow", split));
  }
  if (patterns.size() > 1) fail_splits(folder, patterns);
  std::sort(tables.begin(), tables.end());
  return tables;
}

std::vector<Location> tables_of_dict(const Stores& stores, const Location& folder, const HuggingfaceJson& splits) {
  std::vector<std::string> names;
  for (const HuggingfaceJson& split : splits) names.push_back(listed_place(folder, &split, kDictName).name());
  if (names.size() > 1) fail_splits(folder, names);
  return names.empty() ? std::vector<Location>() : listed_huggingface_tables(stores, folder / names.front());
}

}  // namespace

bool is_huggingface_list_name(std::string_view name) {
  return name == kStateName || name == kDictName || name == kInfoName;
}

std::vector<Location> listed_huggingface_tables(const Stores& stores, const Location& folder) {
  const HuggingfaceJson state = json_in(stores, folder, kStateName);
  const HuggingfaceJson* const files = huggingface_member(state, "_data_files");
  if (files && files->is_array()) return tables_of_state(stores, folder, *files);
  const HuggingfaceJson dict = json_in(stores, folder, kDictName);
  const HuggingfaceJson* const folders = huggingface_member(dict, "splits");
  if (folders && folders->is_array()) return tables_of_dict(stores, folder, *folders);
  const HuggingfaceJson info = json_in(stores, folder, kInfoName);
  const HuggingfaceJson* const splits = huggingface_member(info, "splits");
  if (splits && splits->is_object()) return tables_of_splits(stores, folder, *splits);
  return {};
}

}  // namespace stoker
