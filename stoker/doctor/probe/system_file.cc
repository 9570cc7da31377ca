#include "stoker/doctor/probe/system_file.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

namespace stoker {

std::optional<std::string> read_system_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) return std::nullopt;
  std::string text(std::istreambuf_iterator<char>(file), {});
  if (file.bad()) return std::nullopt;
  return text;
}

std::optional<std::string> read_system_line(const std::string& path) {
  const std::optional<std::string> text = read_system_file(path);
  if (!text) return std::nullopt;
  constexpr const char* kBlanks = " \t\r";
  const std::string line = text->substr(0, text->find('\n'));
  const std::size_t first = line.find_first_not_of(kBlanks);
  if (first == std::string::npos) return std::string();
  return line.substr(first, line.find_last_not_of(kBlanks) + 1 - first);
}

std::optional<double> read_system_number(const std::string& path) {
  const std::optional<std::string> line = read_system_line(path);
  if (!line) return std::nullopt;
  double number = 0;
  const auto [end, error] = std::from_chars(line->data(), line->data() + line->size(), number);
  return error == std::errc() ? std::optional(number) : std::nullopt;
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(folder, none)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace stoker
