#include "stoker/format/labels.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/trimmed.h"
#include "stoker/base/units.h"
#include "stoker/format/class_number.h"
#include "stoker/format/dataset_views.h"
#include "stoker/format/field_texts.h"
#include "stoker/format/member_name.h"
#include "stoker/format/text_lines.h"
#include "stoker/storage/location.h"
#include "stoker/storage/stores.h"

namespace stoker {
namespace {

constexpr std::uint64_t kLabelBytesMax = std::uint64_t{1} << 30;

std::vector<TextLine> lines_of(const std::string& path, const Stores& stores) {
  std::optional<std::vector<TextLine>> lines = read_text_lines(*stores.open(path), kLabelBytesMax);
  if (!lines) fail(ErrorKind::kData, "'{}' is not a text file, or is larger than 1 GiB", Location(path));
  return *std::move(lines);
}

/// Takes the first column of a CSV line away from it.
std::string take_column(std::string_view& line) {
  std::string column;
  line = trimmed(line);
  const bool quoted = line.starts_with('"');
  std::size_t at = quoted ? 1 : 0;
  for (; at < line.size(); ++at) {
    if (!quoted && line[at] == ',') break;
    if (quoted && line[at] == '"') {
      if (at + 1 == line.size() || line[at + 1] != '"') break;
      ++at;  // a quote within quotes is written twice
    }
    column += line[at];
  }
  const std::size_t comma = line.find(',', at);
  line.remove_prefix(comma == std::string_view::npos ? line.size() : comma + 1);
  return quoted ? column : std::string(trimmed(column));
}

/// A sample's key, or the name of a file of it, and its label, as one line has them.
std::pair<std::string, std::string> split_line(std::string_view line) {
  if (line.find(',') == std::string_view::npos) {
    const std::size_t space = line.find_last_of(" \t");
    if (space == std::string_view::npos) return {std::string(line), ""};
    return {std::string(trimmed(line.substr(0, space))), std::string(line.substr(space + 1))};
  }
  std::string name = take_column(line);
  return {std::move(name), take_column(line)};
}

bool is_any_number(std::string_view text) {
  return is_fractional_number(text) || parse_whole_number(text, text.size()).has_value();
}

/// What samples' labels are written as becomes numbers.
Labels numbered(const std::vector<std::string_view>& names, const std::vector<std::string>& classes,
                const std::string& where) {
  Labels labels;
  std::unordered_map<std::string_view, std::int64_t> number_of;
  for (const std::string& name : classes) {
    if (!number_of.emplace(name, static_cast<std::int64_t>(number_of.size())).second) {
      fail(ErrorKind::kUsage, "the class '{}' is named twice", name);
    }
  }
  const auto parse = [](std::string_view name) -> std::optional<std::int64_t> {
    const std::optional<std::int64_t> number = parse_whole_number(name, name.size());
    return number ? std::optional(std::max<std::int64_t>(*number, -1)) : std::nullopt;  // below 0: unknown
  };
  const auto is_number = [&](std::string_view name) { return !number_of.contains(name) && parse(name).has_value(); };
  if (std::all_of(names.begin(), names.end(), is_number)) {
    for (const std::string_view name : names) labels.numbers.push_back(*parse(name));
    labels.classes = classes;
    return labels;
  }
  const auto fraction = std::find_if(names.begin(), names.end(), is_fractional_number);
  if (classes.empty() && fraction != names.end() && std::all_of(names.begin(), names.end(), is_any_number)) {
    fail(ErrorKind::kData,
         "{}: '{}' is a number with a fraction, so it is not a class; store such numbers in a field of JSON, and read "
         "them by json_number in the recipe",
         where, *fraction);
  }
  if (classes.empty()) {
    const std::set<std::string_view> sorted(names.begin(), names.end());
    labels.classes.assign(sorted.begin(), sorted.end());
    for (const std::string_view name : sorted) number_of.emplace(name, static_cast<std::int64_t>(number_of.size()));
  } else {
    labels.classes = classes;
  }
  for (const std::string_view name : names) {
    const auto number = number_of.find(name);
    if (number == number_of.end())
      fail(ErrorKind::kData, "{}: '{}' is not among the classes given ({})", where, name, classes.size());
    labels.numbers.push_back(number->second);
  }
  return labels;
}

}  // namespace

Labels read_labels(const Dataset& data, const std::string& path, const std::vector<std::string>& classes,
                   const std::stop_token& stop, const Stores& stores) {
  std::unordered_map<std::string, std::string> listed;
  std::set<std::string> ambiguous;
  for (const TextLine& line : lines_of(path, stores)) {
    const auto [name, label] = split_line(line.text);
    for (const std::string& key : keys_of_name(name)) {
      const auto [entry, is_new] = listed.try_emplace(key, label);
      if (!is_new && entry->second != label) ambiguous.insert(key);
    }
  }
  std::vector<std::string_view> names;
  std::int64_t missing = 0;
  std::string first_missing;
  for_each_row(data, stop, [&](std::int64_t, const SampleRow& row) {
    const auto entry = listed.find(row.key);
    if (entry == listed.end() || entry->second.empty()) {
      if (missing++ == 0) first_missing = row.key;
    } else if (ambiguous.contains(row.key)) {
      fail(ErrorKind::kData, "'{}' gives sample '{}' different labels", Location(path), row.key);
    } else {
      names.push_back(entry->second);
    }
  });
  if (missing > 0) {
    fail(ErrorKind::kData, "'{}' has no label for {} of {}; the first is '{}'", Location(path), missing,
         counted(data.size(), "sample"), first_missing);
  }
  return numbered(names, classes, fmt::format("'{}'", Location(path)));
}

Labels labels_of_folders(const Dataset& data, const std::vector<std::string>& classes, const std::stop_token& stop) {
  std::set<std::string> folders;
  std::vector<std::string_view> names;
  for_each_row(data, stop, [&](std::int64_t, const SampleRow& row) {
    const std::size_t slash = row.key.find('/');
    if (slash == std::string::npos) {
      fail(ErrorKind::kData, "sample '{}' is not in a folder that could be its class", row.key);
    }
    names.push_back(*folders.insert(row.key.substr(0, slash)).first);
  });
  if (!classes.empty()) return numbered(names, classes, "the folders");
  return numbered(names, {folders.begin(), folders.end()}, "the folders");
}

Labels labels_given(const Dataset& data, const std::string& given, const std::vector<std::string>& classes,
                    const std::stop_token& stop, const Stores& stores) {
  if (given == "folders") return labels_of_folders(data, classes, stop);
  return read_labels(data, given, classes, stop, stores);
}

Labels labels_of_texts(const LabelTexts& texts, const std::vector<std::string>& classes, const std::string& field) {
  const std::vector<std::optional<std::string>>& of_samples = texts.texts;
  const auto is_negative = [](const std::string& text) {
    return parse_whole_number(text, text.size()).value_or(0) < 0;
  };
  std::vector<std::string_view> present;
  std::vector<std::int64_t> places;
  for (std::size_t i = 0; i < of_samples.size(); ++i) {
    if (!of_samples[i] || is_negative(*of_samples[i])) continue;
    present.push_back(*of_samples[i]);
    places.push_back(static_cast<std::int64_t>(i));
  }
  if (present.empty() && !of_samples.empty()) fail(ErrorKind::kData, "no sample has a label in its field '{}'", field);
  const auto is_known = [&](std::string_view name) {
    return std::find(classes.begin(), classes.end(), name) != classes.end();
  };
  const std::set<std::string_view> distinct(present.begin(), present.end());
  const bool are_known = !texts.are_numbers && std::all_of(distinct.begin(), distinct.end(), is_known);
  Labels found = numbered(present, are_known ? classes : std::vector<std::string>(), "the field '" + field + "'");
  Labels labels{.numbers = std::vector<std::int64_t>(of_samples.size(), -1), .classes = std::move(found.classes)};
  for (std::size_t i = 0; i < places.size(); ++i) {
    labels.numbers[static_cast<std::size_t>(places[i])] = found.numbers[i];
  }
  return labels;
}

Labels labels_of_field(const Dataset& data, const std::string& field, const std::stop_token& stop) {
  FieldTexts texts(field);
  for_each_row(data, stop, [&](std::int64_t, const SampleRow& row) { texts.add(row); });
  return labels_of_texts(texts.take(), data.classes(), field);
}

std::vector<std::string> read_key_list(const std::string& path, const Stores& stores) {
  std::vector<std::string> names;
  for (const TextLine& line : lines_of(path, stores)) names.emplace_back(line.text);
  return names;
}

std::vector<std::int64_t> samples_listed(const Dataset& data, const std::string& path, const Stores& stores,
                                         const std::stop_token& stop) {
  std::vector<std::int64_t> samples = samples_of_keys(data, read_key_list(path, stores), stop);
  if (samples.empty()) fail(ErrorKind::kData, "the list '{}' names no sample", Location(path));
  return samples;
}

}  // namespace stoker
