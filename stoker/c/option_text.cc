#include "stoker/c/option_text.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include "stoker/base/error.h"
#include "stoker/base/spelling.h"
#include "stoker/base/units.h"
#include "stoker/runtime/loader_option_table.h"

namespace stoker {
namespace {

std::uint64_t parse_whole(std::string_view text, std::uint64_t least, std::uint64_t most) {
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stopped != end || value < least || value > most) {
    fail(ErrorKind::kUsage, "'{}' is not a whole number from {} to {}", text, least, most);
  }
  return value;
}

bool parse_flag(std::string_view text) {
  if (text != "true" && text != "false") fail(ErrorKind::kUsage, "'{}' is neither true nor false", text);
  return text == "true";
}

OptionValue parse_value(const OptionForm& form, std::string_view text) {
  switch (form.kind) {
    case OptionKind::kInteger: return parse_whole(text, form.least, form.most);
    case OptionKind::kSize: return parse_size(text);
    case OptionKind::kFlag: return parse_flag(text);
    default: break;
  }
  if (text.empty()) fail(ErrorKind::kUsage, "its value is empty");
  return std::string(text);
}

// For an option about tokens that says how, and not that they are.
TokenSamples& tokens_of(OpenOptions& options) {
  if (!options.tokens) fail(ErrorKind::kUsage, "it is about tokens: give tokens, the length of a sequence, before it");
  return *options.tokens;
}

constexpr std::uint64_t kWholeMax = std::numeric_limits<std::int64_t>::max();

struct OpenOptionRow {
  std::string_view name;
  void (*set)(OpenOptions&, std::string_view);
};

constexpr OpenOptionRow kOpenOptions[] = {
    {"io", [](OpenOptions& options, std::string_view text) { options.io = parse_io(text); }},
    {"direct", [](OpenOptions& options, std::string_view text) { options.direct = parse_flag(text); }},
    {"use_index", [](OpenOptions& options, std::string_view text) { options.use_indexes = parse_flag(text); }},
    {"index_dir", [](OpenOptions& options, std::string_view text) { options.index_folder = text; }},
    {"store_endpoint", [](OpenOptions& options, std::string_view text) { options.store.endpoint = text; }},
    {"store_region", [](OpenOptions& options, std::string_view text) { options.store.region = text; }},
    {"store_anonymous",
     [](OpenOptions& options, std::string_view text) { options.store.anonymous = parse_flag(text); }},
    {"image_field", [](OpenOptions& options, std::string_view text) { options.fields.image = text; }},
    {"label_field", [](OpenOptions& options, std::string_view text) { options.fields.label = text; }},
    {"tokens",
     [](OpenOptions& options, std::string_view text) {
       TokenSamples& tokens = options.tokens.emplace();
       if (text != "documents") tokens.length = static_cast<std::int64_t>(parse_whole(text, 1, kWholeMax));
     }},
    {"token_type",
     [](OpenOptions& options, std::string_view text) { tokens_of(options).type = parse_token_type(text); }},
    {"token_field", [](OpenOptions& options, std::string_view text) { tokens_of(options).field = text; }},
    {"streams",
     [](OpenOptions& options, std::string_view text) {
       tokens_of(options).streams = static_cast<std::int64_t>(parse_whole(text, 1, kWholeMax));
     }},
    {"document_seed",
     [](OpenOptions& options, std::string_view text) {
       tokens_of(options).document_seed = parse_whole(text, 0, kWholeMax);
     }},
};

// Finds the row of the text's name, and has `set` set its value.
template <typename Row, typename Set>
void set_row(std::span<const Row> rows, std::string_view text, const Set& set) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) {
    fail(ErrorKind::kUsage, "'{}' is not an option: options are \"name=value\"", text);
  }
  const std::string name(text.substr(0, equals));
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return row.name == name; });
  if (found == rows.end()) {
    std::vector<std::string> names;
    for (const Row& row : rows) names.emplace_back(row.name);
    fail(ErrorKind::kUsage, "there is no option '{}'{}", name, did_you_mean(name, names));
  }
  try {
    set(*found, text.substr(equals + 1));
  } catch (const Error& error) {
    throw error.with_context(name);
  }
}

}  // namespace

void set_option(LoaderOptions& options, std::string_view text) {
  set_row(loader_option_table(), text, [&](const LoaderOptionSpec& row, std::string_view value) {
    if (row.initial == "auto" && value == "auto") return;
    row.set(options, parse_value(row.form, value));
  });
}

void set_option(OpenOptions& options, std::string_view text) {
  set_row(std::span<const OpenOptionRow>(kOpenOptions), text, [&](const OpenOptionRow& row, std::string_view value) {
    if (value.empty()) fail(ErrorKind::kUsage, "its value is empty");
    row.set(options, value);
  });
}

}  // namespace stoker
