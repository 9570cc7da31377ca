#include "cli/common_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <system_error>

#include "stoker/base/units.h"
#include "stoker/plan/recipe.h"

namespace stoker {

void refuse_option(const std::string& name, std::string_view text, const std::string& wanted) {
  constexpr std::size_t kQuoted = 40;
  const std::string shown = text.size() <= kQuoted ? std::string(text) : fmt::format("{}...", text.substr(0, kQuoted));
  refuse(name, fmt::format("'{}' is not {}", shown, wanted));
}

template <std::integral Integer>
Integer parse_integer(const std::string& name, std::string_view text, Range<Integer> range) {
  Integer value = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stopped != end || value < range.least || value > range.most) {
    refuse_option(name, text, fmt::format("a whole number from {} to {}", range.least, range.most));
  }
  return value;
}

template int parse_integer(const std::string& name, std::string_view text, Range<int> range);
template std::int64_t parse_integer(const std::string& name, std::string_view text, Range<std::int64_t> range);
template std::uint64_t parse_integer(const std::string& name, std::string_view text, Range<std::uint64_t> range);

Option* add_text_option(Command& command, const std::string& name, std::string& value, const std::string& doc) {
  const auto read = [&value, name](const std::string& text) {
    if (text.empty()) refuse(name, "its value is empty");
    value = text;
  };
  return command.add_option(name, read, doc);
}

Option* add_choice_option(Command& command, const std::string& name, std::string& value,
                          const std::vector<std::string>& words, const std::string& doc) {
  const auto read = [&value, name, words](const std::string& text) {
    if (std::find(words.begin(), words.end(), text) == words.end()) {
      refuse(name, fmt::format("{} not in {{{}}}", text, fmt::join(words, ",")));
    }
    value = text;
  };
  return command.add_option(name, read, doc);
}

namespace {

Option* add_data(Command& command, std::vector<std::string>& data, std::string_view rest) {
  return command
      .add_texts(
          "DATA", data,
          fmt::format(
              "Folder, shard of any format, list of files, glob, brace pattern or URL; several are concatenated{}",
              rest))
      ->option_text("...");
}

Option* add_recipe(Command& command, std::string& recipe, std::string_view need) {
  return add_text_option(command, "--recipe", recipe,
                         fmt::format("{}{}, or a TOML file", need, fmt::join(Recipe::names(), ", ")))
      ->option_text("NAME|FILE.toml");
}

}  // namespace

void add_data_argument(Command& command, std::vector<std::string>& data) { add_data(command, data, "")->required(); }

void add_optional_data_argument(Command& command, std::vector<std::string>& data, std::string_view without) {
  add_data(command, data, fmt::format("; {}", without));
}

void add_recipe_option(Command& command, std::string& recipe) { add_recipe(command, recipe, "Required; ")->required(); }

Option* add_optional_recipe(Command& command, std::string& recipe, std::string_view need) {
  return add_recipe(command, recipe, need);
}

void add_threads_option(Command& command, int& threads) {
  const auto read = [&threads](const std::string& text) {
    threads = text == "auto" ? 0 : parse_integer<int>("--threads", text, {1});
  };
  command.add_option("--threads", read, "Worker threads; auto: one per available core")->option_text("N|auto");
}

void add_seed_option(Command& command, std::uint64_t& seed) {
  add_integer_option(command, "--seed", seed, {0}, "Seed of all random numbers; 0")->option_text("S");
}

void add_pixels_option(Command& command, DecodeLimits& limits) {
  const auto read = [&limits](const std::string& text) {
    limits = DecodeLimits::up_to(parse_integer<std::int64_t>("--pixels-max", text, {1}));
  };
  command
      .add_option("--pixels-max", read,
                  fmt::format("Images of more pixels are bad samples; {}", DecodeLimits().pixels_max))
      ->option_text("N");
}

void add_job_options(Command& command, std::optional<std::uint64_t>& memory, DecodeLimits& limits) {
  add_parsed_option(command, "--memory", memory, parse_size,
                    "Memory budget of the job, such as 512MiB; 2GiB, or half of the machine's")
      ->option_text("SIZE");
  add_pixels_option(command, limits);
}

void add_store_options(Command& command, StoreOptions& store) {
  add_text_option(command, "--store-endpoint", store.endpoint, "Service that speaks S3's protocol, for s3:// and gs://")
      ->option_text("URL");
  add_text_option(command, "--store-region", store.region, "Region of the bucket")->option_text("R");
  command.add_flag("--store-anonymous", store.anonymous, "Do not look for keys, and do not sign requests");
}

void add_open_options(Command& command, OpenOptions& open) {
  add_parsed_option(command, "--io", open.io, parse_io, "How shards are read; auto: by io_uring where it works")
      ->option_text("auto|uring|pread");
  command.add_flag("--direct", open.direct, "Read shards past the page cache (O_DIRECT)");
  Option* folder = add_text_option(command, "--index-dir", open.index_folder, "Look for indexes in this folder first");
  folder->option_text("DIR");
  const auto scan = [&open] { open.use_indexes = false; };
  command.add_flag_callback("--no-index", scan, "Scan every shard, and do not cache the result")->excludes(folder);
  add_field_options(command, open.fields);
  add_token_options(command, open.tokens);
  add_store_options(command, open.store);
}

void add_token_options(Command& command, std::optional<TokenSamples>& tokens) {
  // Texts are read before it is seen whether what they need was given.
  const auto those = [&tokens]() -> TokenSamples& { return tokens ? *tokens : tokens.emplace(); };
  const auto samples = [those](const std::string& text) {
    TokenSamples& made = those();
    if (text != "documents") made.length = parse_integer<std::int64_t>("--tokens", text, {1});
  };
  Option* const option = command.add_option(
      "--tokens", samples,
      "Read DATA as tokens (.bin with .idx, .npy, or plain numbers), in sequences of LENGTH, or as whole documents");
  option->option_text("LENGTH|documents");
  const auto type = [those](const std::string& text) { those().type = parse_token_type(text); };
  command.add_option("--token-type", type, "Type of the tokens in files that do not name it, such as u16")
      ->option_text("TYPE")
      ->needs(option);
  const auto field = [those](const std::string& text) { those().field = text; };
  command
      .add_option("--token-field", field,
                  "Field of samples of any format that holds the tokens; each sample is a document")
      ->option_text("NAME")
      ->needs(option);
  const auto streams = [those](const std::string& text) {
    those().streams = parse_integer<std::int64_t>("--streams", text, {1});
  };
  command
      .add_option("--streams", streams,
                  "Read N streams of tokens that continue from batch to batch; a global batch has N samples")
      ->option_text("N")
      ->needs(option);
  const auto document_seed = [those](const std::string& text) {
    those().document_seed = parse_integer<std::uint64_t>("--document-seed", text, {0});
  };
  command
      .add_option("--document-seed", document_seed, "For sequences: shuffle the documents of each file with this seed")
      ->option_text("N")
      ->needs(option);
}

void require_for_tokens(const Command& command, std::initializer_list<std::string_view> these) {
  constexpr std::string_view kOfAll[] = {"--tokens", "--store-endpoint", "--store-region", "--store-anonymous",
                                         "--json"};
  for (const std::string& name : command.given()) {
    if (std::find(std::begin(kOfAll), std::end(kOfAll), name) != std::end(kOfAll)) continue;
    if (std::find(these.begin(), these.end(), name) != these.end()) continue;
    fail(ErrorKind::kUsage, "{} has no effect with --tokens; leave it out", name);
  }
}

void add_field_options(Command& command, FieldChoice& fields) {
  add_text_option(command, "--image-field", fields.image, "Field that holds the image, if it is not the usual one")
      ->option_text("NAME");
  add_text_option(command, "--label-field", fields.label, "Field that holds the label: a number or the name of a class")
      ->option_text("NAME");
}

void add_json_flag(Command& command, bool& json) {
  command.add_flag("--json", json, "Print one JSON object instead of text");
}

void set_example(Command& command, const std::string& example) { command.footer("Example: " + example); }

}  // namespace stoker
