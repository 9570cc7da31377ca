#include "stoker/storage/hf/hf_access.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string_view>

#include "stoker/base/error.h"
#include "stoker/storage/file_source.h"

namespace stoker {
namespace {

constexpr std::uint64_t kTokenBytesMax = 4096;

/// As huggingface_hub reads a switch.
bool is_on(const Environment& environment, std::string_view name) {
  std::string value = environment(name).value_or("");
  std::transform(value.begin(), value.end(), value.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return value == "1" || value == "ON" || value == "YES" || value == "TRUE";
}

/// Empty without a home.
std::string token_file(const Environment& environment) {
  const std::optional<std::string> home = environment("HOME");
  // A shell leaves a tilde inside quotes as it is.
  const auto with_home = [&](const std::string& path) {
    return home && path.starts_with("~/") ? *home + path.substr(1) : path;
  };
  if (const auto path = environment("HF_TOKEN_PATH")) return with_home(*path);
  if (const auto folder = environment("HF_HOME")) return with_home(*folder) + "/token";
  if (const auto caches = environment("XDG_CACHE_HOME")) return *caches + "/huggingface/token";
  return home ? *home + "/.cache/huggingface/token" : "";
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

std::string find_token(const Environment& environment) {
  if (is_on(environment, "HF_HUB_DISABLE_IMPLICIT_TOKEN")) return "";
  for (const std::string_view name : {"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"}) {
    if (std::optional<std::string> value = environment(name)) {
      std::string token = trimmed_token(*std::move(value), name);
      if (!token.empty()) return token;
      break;  // the second is for where the first is not set
    }
  }
  const std::string path = token_file(environment);
  return path.empty() ? "" : trimmed_token(content_of(path), fmt::format("'{}'", path));
}

}  // namespace

HfAccess HfAccess::from(const Environment& environment, bool anonymous) {
  HfAccess access;
  if (std::optional<std::string> endpoint = environment("HF_ENDPOINT")) {
    if (!endpoint->starts_with("http://") && !endpoint->starts_with("https://")) {
      fail(ErrorKind::kUsage, "HF_ENDPOINT is not the URL of a hub; write 'https://...'");
    }
    endpoint->erase(endpoint->find_last_not_of('/') + 1);
    access.endpoint = *std::move(endpoint);
  }
  access.offline = is_on(environment, "HF_HUB_OFFLINE");
  if (!anonymous) access.token = find_token(environment);
  return access;
}

}  // namespace stoker
