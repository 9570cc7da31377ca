#include "stoker/runtime/loader_option_table.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <concepts>
#include <type_traits>
#include <vector>

#include "stoker/base/error.h"
#include "stoker/device/device.h"

namespace stoker {
namespace {

using ::testing::AnyOf;
using ::testing::ElementsAreArray;
using ::testing::EndsWith;
using ::testing::Not;
using ::testing::StartsWith;

template <typename Field>
std::string shown(const Field& field) {
  if constexpr (std::is_enum_v<Field>) {
    return fmt::to_string(static_cast<int>(field));
  } else if constexpr (std::same_as<Field, std::shared_ptr<Device>>) {
    return field ? std::string(field->name()) : "";
  } else if constexpr (requires { field.has_value(); }) {
    return field ? shown(*field) : "";
  } else if constexpr (std::same_as<Field, DecodeLimits>) {
    return shown(field.pixels_max);
  } else {
    return fmt::to_string(field);
  }
}

template <auto kField>
std::string field(const LoaderOptions& options) {
  return shown(options.*kField);
}

// For each row, a value other than the default, and the field that it is for.
struct Example {
  std::string_view name;
  OptionValue value;
  std::string (*field)(const LoaderOptions&);
};

OptionValue number(std::uint64_t value) { return value; }
OptionValue text(std::string_view value) { return std::string(value); }

using Of = LoaderOptions;
const std::vector<Example> kExamples = {
    {"batch", number(7), field<&Of::batch>},
    {"global_batch", number(7), field<&Of::global_batch>},
    {"seed", number(7), field<&Of::seed>},
    {"threads", number(7), field<&Of::threads>},
    {"prefetch", number(7), field<&Of::prefetch>},
    {"memory", number(7), field<&Of::memory>},
    {"order", text("windowed"), field<&Of::order>},
    {"window", number(7), field<&Of::window>},
    {"lanes", number(7), field<&Of::lanes>},
    {"rank", number(7), field<&Of::rank>},
    {"world", number(7), field<&Of::world>},
    {"tail", text("wrap"), field<&Of::tail>},
    {"audit", text("audit"), field<&Of::audit>},
    {"bad_sample", text("skip"), field<&Of::bad_sample>},
    {"quarantine", text("list"), field<&Of::quarantine>},
    {"cache", text("disk=folder:1GB"), field<&Of::cache>},
    {"cache_memory", number(7), field<&Of::cache_memory>},
    {"repeats", number(7), field<&Of::repeats>},
    {"batch_repeats", number(7), field<&Of::batch_repeats>},
    {"device", text("emulated:execute"), field<&Of::device>},
    {"transfer_index", number(1), field<&Of::transfer_index>},
    {"device_memory", number(7), field<&Of::device_memory>},
    {"nvjpeg", true, field<&Of::nvjpeg>},
    {"pin_memory", true, field<&Of::pin_memory>},
    {"pin_threads", false, field<&Of::pin_threads>},
    {"io_depth", number(7), field<&Of::io_depth>},
    {"metrics_address", text("9100"), field<&Of::metrics_address>},
    {"dashboard_address", text("9101"), field<&Of::dashboard_address>},
    {"name", text("train"), field<&Of::name>},
    {"trace", text("trace.json"), field<&Of::trace>},
    {"tune", text("once"), field<&Of::tune>},
    {"pixels_max", number(7), field<&Of::limits>},
};

std::vector<std::string> fields_of(const LoaderOptions& options) {
  std::vector<std::string> fields;
  for (const Example& example : kExamples) fields.push_back(example.field(options));
  return fields;
}

std::string placeholder(const LoaderOptionSpec& option) {
  return std::string(option.command_line.substr(option.command_line.find(' ') + 1));
}

std::vector<std::string> words_of(const LoaderOptionSpec& option) {
  std::vector<std::string> words(1);
  for (const char c : placeholder(option)) {
    if (c == '|') {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  return words;
}

TEST(LoaderOptionTable, EachRowSetsItsFieldAndNoOther) {
  std::vector<std::string_view> names, known;
  for (const LoaderOptionSpec& option : loader_option_table()) names.push_back(option.name);
  for (const Example& example : kExamples) known.push_back(example.name);
  ASSERT_THAT(names, ElementsAreArray(known)) << "a new row needs an example here";
  for (std::size_t i = 0; i < kExamples.size(); ++i) {
    LoaderOptions options;
    std::vector<std::string> expected = fields_of(options);
    loader_option(names[i]).set(options, kExamples[i].value);
    EXPECT_NE(fields_of(options)[i], expected[i]) << names[i];
    expected[i] = fields_of(options)[i];
    EXPECT_EQ(fields_of(options), expected) << names[i];
  }
}

TEST(LoaderOptionTable, InitialValuesAreThoseOfTheOptions) {
  for (std::size_t i = 0; i < kExamples.size(); ++i) {
    const LoaderOptionSpec& option = loader_option_table()[i];
    LoaderOptions options;
    const std::string initial = kExamples[i].field(options);
    if (option.initial.empty() || option.initial == "auto") {
      EXPECT_THAT(initial, AnyOf("", "0", option.unset)) << option.name;
      continue;
    }
    const bool is_number = option.form.kind == OptionKind::kInteger, is_flag = option.form.kind == OptionKind::kFlag;
    option.set(options, is_number ? number(std::stoull(std::string(option.initial)))
                        : is_flag ? OptionValue(option.initial == "True")
                                  : text(option.initial));
    EXPECT_EQ(kExamples[i].field(options), initial) << option.name;
    EXPECT_EQ(option.unset, "") << option.name;
  }
}

TEST(LoaderOptionTable, IntegersAtTheirLimitsFitTheirFields) {
  for (std::size_t i = 0; i < kExamples.size(); ++i) {
    const LoaderOptionSpec& option = loader_option_table()[i];
    if (option.form.kind != OptionKind::kInteger) continue;
    for (const std::uint64_t value : {option.form.least, option.form.most}) {
      LoaderOptions options;
      option.set(options, value);
      EXPECT_EQ(kExamples[i].field(options), fmt::to_string(value)) << option.name;
    }
  }
}

TEST(LoaderOptionTable, WordsAreAllThatAreTaken) {
  for (const LoaderOptionSpec& option : loader_option_table()) {
    if (option.form.kind != OptionKind::kWord) continue;
    const std::vector<std::string> words = words_of(option);
    EXPECT_GE(words.size(), 2) << option.name;
    LoaderOptions options;
    for (const std::string& word : words) EXPECT_NO_THROW(option.set(options, word)) << option.name;
    try {
      option.set(options, text("bogus"));
      ADD_FAILURE() << option.name << " takes any word";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUsage);
      EXPECT_THAT(error.what(), EndsWith(fmt::format("{} or {}", words[words.size() - 2], words.back())));
    }
  }
}

TEST(LoaderOptionTable, TheCommandLineHasTheSameNames) {
  for (const LoaderOptionSpec& option : loader_option_table()) {
    if (option.command_line.empty() || option.form.kind == OptionKind::kAddress) continue;
    std::string flag = fmt::format("--{}{}", option.initial == "True" ? "no-" : "", option.name);
    std::replace(flag.begin(), flag.end(), '_', '-');
    const bool takes_value = option.form.kind != OptionKind::kFlag;
    EXPECT_EQ(option.command_line, takes_value ? fmt::format("{} {}", flag, placeholder(option)) : flag);
    EXPECT_EQ(option.initial == "auto", option.command_line.ends_with("|auto")) << option.name;
  }
}

TEST(LoaderOptionTable, HelpSaysWhatIsSoByDefault) {
  EXPECT_EQ(help_of(loader_option("lanes")), loader_option("lanes").doc + "; by default 8");
  EXPECT_EQ(help_of(loader_option("seed")), loader_option("seed").doc + "; by default 0");
  EXPECT_THAT(help_of(loader_option("prefetch")), EndsWith("; auto: tuned, starts at 2"));
  EXPECT_EQ(help_of(loader_option("pin_threads")), loader_option("pin_threads").doc);
  for (const LoaderOptionSpec& option : loader_option_table()) {
    EXPECT_THAT(option.doc, Not(AnyOf("", EndsWith(".")))) << option.name;
    EXPECT_TRUE(option.initial != "auto" || !option.unset.empty()) << option.name;
  }
}

}  // namespace
}  // namespace stoker
