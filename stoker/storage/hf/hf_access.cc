#include "stoker/storage/hf/hf_access.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string_view>

#include "stoker/base/error.h"
#include "stoker/storage/file_source.h"

namespace stoker {
namespace {

constexpr std::uint64_t kTokenBytesMax = 4096;

/// As huggingface_hub reads a switch.
bool is_on(std::string value) {
  std::transform(value.begin(), value.end(), value.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return value == "1" || value == "ON" || value == "YES" || value == "TRUE";
}

/// A shell leaves a tilde inside quotes as it is.
std::string with_home(std::string path, const HfAccess::Variable& variable) {
  return path.starts_with("~/") ? variable("HOME") + path.substr(1) : path;
}

/// Empty without a home.
std::string token_file(const HfAccess::Variable& variable) {
  if (const std::string path = variable("HF_TOKEN_PATH"); !path.empty()) return with_home(path, variable);
  if (const std::string home = variable("HF_HOME"); !home.empty()) return with_home(home, variable) + "/token";
  if (const std::string caches = variable("XDG_CACHE_HOME"); !caches.empty()) return caches + "/huggingface/token";
  const std::string home = variable("HOME");
  return home.empty() ? "" : home + "/.cache/huggingface/token";
}

/// Empty where there is none.
std::string content_of(const std::string& path) {
  try {
    FileSource file(path, std::make_shared<InlineExecutor>());
    if (file.size() > kTokenBytesMax) fail(ErrorKind::kUsage, "'{}' is too large for the file of a token", path);
    return read_whole(file);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kNotFound) return "";
    throw error.with_context("cannot log in to the Hugging Face hub");
  }
}

/// Without the space around it, as huggingface_hub takes it.
std::string trimmed_token(std::string token, std::string_view from) {
  const auto is_space = [](unsigned char c) { return std::isspace(c) != 0; };
  token.erase(token.begin(), std::find_if_not(token.begin(), token.end(), is_space));
  token.erase(std::find_if_not(token.rbegin(), token.rend(), is_space).base(), token.end());
  const bool printable = std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c <= '~'; });
  if (!printable) fail(ErrorKind::kUsage, "what {} holds is not a token of the Hugging Face hub", from);
  return token;
}

std::string find_token(const HfAccess::Variable& variable) {
  if (is_on(variable("HF_HUB_DISABLE_IMPLICIT_TOKEN"))) return "";
  for (const char* const name : {"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"}) {
    if (std::string token = variable(name); !token.empty()) {
      token = trimmed_token(std::move(token), name);
      if (!token.empty()) return token;
      break;  // the second is for where the first is not set
    }
  }
  const std::string path = token_file(variable);
  return path.empty() ? "" : trimmed_token(content_of(path), fmt::format("'{}'", path));
}

}  // namespace

HfAccess HfAccess::from(const Variable& variable) {
  HfAccess access;
  if (std::string endpoint = variable("HF_ENDPOINT"); !endpoint.empty()) {
    if (!endpoint.starts_with("http://") && !endpoint.starts_with("https://")) {
      fail(ErrorKind::kUsage, "HF_ENDPOINT is not the URL of a hub; write 'https://...'");
    }
    endpoint.erase(endpoint.find_last_not_of('/') + 1);
    access.endpoint = std::move(endpoint);
  }
  access.offline = is_on(variable("HF_HUB_OFFLINE"));
  access.token = find_token(variable);
  return access;
}

HfAccess HfAccess::from_environment() {
  return from([](const char* name) {
    const char* const value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  });
}

}  // namespace stoker
