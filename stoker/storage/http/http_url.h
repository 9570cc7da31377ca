// Parts of a URL, on which the rules for redirects depend, and how its texts are written. What is no valid URL has
// parts, too: libcurl refuses it later.
#pragma once

#include <string>
#include <string_view>

namespace stoker {

/// "https://host:443", in lower case and with its port: requests of one origin are answered by one server.
std::string origin_of(std::string_view url);

/// "user:password"; empty without.
std::string_view login_of(std::string_view url);

/// For a path (slashes stay) or a part of a query (they do not): all but unreserved characters are escaped.
std::string escaped_for_url(std::string_view text, bool keep_slashes);

/// Without those parameters of a query that sign it: of the same object, the next signature is another. Others stay,
/// since they may name the object.
std::string without_signature(std::string_view url);

/// What a redirect from a request for `asked` to `target` leads to: with the login of `asked` where it stays at its
/// origin, and otherwise without any: a login is not told to another server.
std::string redirect_target(std::string_view asked, std::string_view target);

/// Whether what was to be encrypted, or is not HTTP at all, would be asked for elsewhere in the clear.
bool may_redirect(std::string_view from, std::string_view to);

}  // namespace stoker
