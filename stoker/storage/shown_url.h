// URLs as messages show them: without what gives access. A URL may hold a password, and the query of a signed one is
// as good as a password.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stoker {

/// "https://host/a.tar?..." for "https://user:password@host/a.tar?signature=...": the user's name and password are left
/// out, and so are the query and the fragment of "http" and "https". Control bytes are escaped. A plain path is shown
/// as it is.
std::string shown_url(std::string_view text);
/// Several of them, with commas.
std::string shown_urls(const std::vector<std::string>& texts);

/// Where the path of a URL ends and its query or fragment begins. Only "http" and "https" have those: in the key of an
/// object store a question mark is a character as others are.
std::size_t end_of_path(std::string_view text);

}  // namespace stoker
