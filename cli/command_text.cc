#include "cli/command_text.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "stoker/storage/shown_url.h"

namespace stoker {
namespace {

constexpr std::string_view kPlain = "-_./:=,+@%";  // beside letters and digits: no shell changes these

bool is_plain(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || kPlain.find(c) != std::string_view::npos;
}

// Also where it is an option's value: "--store-endpoint=http://user:password@host".
std::string without_secrets(const std::string& word) {
  const std::size_t equals = word.find('=');
  if (!word.starts_with("--") || equals == std::string::npos) return shown_url(word);
  return word.substr(0, equals + 1) + shown_url(word.substr(equals + 1));
}

std::string quoted(const std::string& word) {
  if (!word.empty() && std::all_of(word.begin(), word.end(), is_plain)) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

}  // namespace

std::string command_text(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + quoted(without_secrets(word));
  return text;
}

}  // namespace stoker
