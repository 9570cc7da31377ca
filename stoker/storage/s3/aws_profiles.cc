#include "stoker/storage/s3/aws_profiles.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/trimmed.h"

namespace stoker {
namespace {

constexpr std::string_view kSpaces = " \t\r";
constexpr std::size_t kFileBytesMax = 1 << 20;

/// What a line says, without a comment after it: a "#" or ";" after a space begins one.
std::string_view without_comment(std::string_view value) {
  for (std::size_t at = 1; at < value.size(); ++at) {
    if ((value[at] == '#' || value[at] == ';') && kSpaces.find(value[at - 1]) != std::string_view::npos) {
      return trimmed(value.substr(0, at));
    }
  }
  return value;
}

/// Reads a file line by line into sections.
class Parser {
 public:
  explicit Parser(std::string_view name) : name_(name) {}

  void line(std::string_view text) {
    ++number_;
    const std::size_t indent = std::min(text.find_first_not_of(kSpaces), text.size());
    text = trimmed(text);
    if (text.empty() || text.front() == '#' || text.front() == ';') return;
    if (text.front() == '[') {
      begin_section(text);
    } else {
      add_setting(text, indent);
    }
  }

  AwsSections sections() && { return std::move(sections_); }

 private:
  void begin_section(std::string_view text) {
    const std::size_t end = text.find(']');
    if (end == std::string::npos) fail_here("a section's name ends with \"]\"");
    section_ = &sections_[std::string(trimmed(text.substr(1, end - 1)))];
    outer_.clear();
  }

  void add_setting(std::string_view text, std::size_t indent) {
    const std::size_t equals = text.find_first_of("=:");
    if (equals == std::string::npos) fail_here(R"(a line is "name = value" or "[section]")");
    if (section_ == nullptr) fail_here("a setting stands before the first \"[section]\"");
    std::string setting(trimmed(text.substr(0, equals)));
    std::transform(setting.begin(), setting.end(), setting.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    const bool nested = !outer_.empty() && indent > outer_indent_;
    const std::string_view value = without_comment(trimmed(text.substr(equals + 1)));
    if (setting.empty()) fail_here("a setting has a name");
    (*section_)[nested ? outer_ + "." + setting : setting] = value;
    if (nested) return;
    outer_ = value.empty() ? setting : "";
    outer_indent_ = indent;
  }

  [[noreturn]] void fail_here(std::string_view why) const {
    fail(ErrorKind::kUsage, "cannot read '{}': line {}: {}", name_, number_, why);
  }

  std::string_view name_;
  AwsSections sections_;
  AwsSettings* section_ = nullptr;
  std::string outer_;  // the setting without a value that nested ones belong to, which are indented further
  std::size_t outer_indent_ = 0;
  int number_ = 0;
};

/// The text of a file; empty if it is not there.
std::string text_of(const std::string& path) {
  std::error_code absent;
  if (!std::filesystem::exists(path, absent)) return "";
  std::ifstream file(path, std::ios::binary);
  std::string text(kFileBytesMax + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file.is_open() || file.bad()) fail(ErrorKind::kIo, "cannot read '{}'", path);
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > kFileBytesMax) fail(ErrorKind::kLimit, "cannot read '{}': it is larger than 1 MB", path);
  return text;
}

std::optional<std::string> value_in(const AwsSections& sections, std::string_view section, std::string_view setting) {
  const auto settings = sections.find(section);
  if (settings == sections.end()) return std::nullopt;
  const auto value = settings->second.find(setting);
  if (value == settings->second.end() || value->second.empty()) return std::nullopt;
  return value->second;
}

}  // namespace

AwsSections parse_aws_file(std::string_view text, std::string_view name) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);  // as some editors on Windows begin a file
  Parser parser(name);
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    parser.line(text.substr(0, end));
    text.remove_prefix(end == std::string::npos ? text.size() : end + 1);
  }
  return std::move(parser).sections();
}

AwsSections read_aws_file(const std::string& path) { return parse_aws_file(text_of(path), path); }

std::string configuration_file(const Environment& environment, std::string_view variable, std::string_view below_home) {
  if (auto path = environment(variable)) {
    if (path->starts_with("~/")) return environment("HOME").value_or("") + path->substr(1);
    return *std::move(path);
  }
  const auto home = environment("HOME");
  return home ? *home + std::string(below_home) : "";
}

AwsProfile AwsProfile::load(const Environment& environment) {
  const auto sections_of = [](const std::string& path) { return path.empty() ? AwsSections() : read_aws_file(path); };
  const std::string config = configuration_file(environment, "AWS_CONFIG_FILE", "/.aws/config");
  const std::string credentials = configuration_file(environment, "AWS_SHARED_CREDENTIALS_FILE", "/.aws/credentials");
  std::string_view variable = "AWS_PROFILE";
  auto named = environment(variable);
  if (!named) named = environment(variable = "AWS_DEFAULT_PROFILE");
  AwsProfile profile(named.value_or("default"), sections_of(config), sections_of(credentials));
  if (named && !profile.exists()) {
    fail(ErrorKind::kUsage, "{} is '{}', but neither '{}' nor '{}' has that profile", variable, *named, config,
         credentials);
  }
  return profile;
}

std::string AwsProfile::section() const {
  // "[default]" and "[profile default]" are the same; the second form comes first.
  if (name_ == "default" && !config_.contains("profile default")) return name_;
  return "profile " + name_;
}

bool AwsProfile::exists() const { return config_.contains(section()) || credentials_.contains(name_); }

std::optional<std::string> AwsProfile::get(std::string_view setting) const {
  if (auto value = value_in(credentials_, name_, setting)) return value;
  return value_in(config_, section(), setting);
}

std::optional<std::string> AwsProfile::get_for(std::string_view service, std::string_view setting) const {
  const std::string nested = fmt::format("{}.{}", service, setting);
  if (const auto services = get("services")) {
    if (auto value = value_in(config_, "services " + *services, nested)) return value;
  }
  return get(nested);
}

}  // namespace stoker
