#include "stoker/storage/shown_url.h"

#include <algorithm>

#include "stoker/base/escaped.h"

namespace stoker {

std::size_t end_of_path(std::string_view text) {
  if (!text.starts_with("http://") && !text.starts_with("https://")) return text.size();
  return std::min(text.find_first_of("?#"), text.size());
}

std::string shown_url(std::string_view text) {
  const std::size_t scheme = text.find("://");
  if (scheme == std::string_view::npos || text.substr(0, scheme).find('/') != std::string_view::npos) {
    return std::string(text);
  }
  const std::size_t host = scheme + 3;
  const std::size_t path_end = end_of_path(text);
  const std::size_t host_end = std::min(text.find_first_of("/?#", host), text.size());
  const std::size_t user_end = text.substr(host, host_end - host).rfind('@');
  const std::size_t shown_from = user_end == std::string_view::npos ? host : host + user_end + 1;
  std::string shown = escaped(text.substr(0, host));
  shown += escaped(text.substr(shown_from, path_end - shown_from));
  if (path_end < text.size()) shown += "?...";
  return shown;
}

std::string shown_urls(const std::vector<std::string>& texts) {
  std::string shown;
  for (const std::string& text : texts) shown += (shown.empty() ? "" : ", ") + shown_url(text);
  return shown;
}

}  // namespace stoker
