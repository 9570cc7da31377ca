#include "stoker/storage/http/verdict.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include "stoker/base/escaped.h"
#include "stoker/base/units.h"

namespace stoker {
namespace {

bool may_pass(int status) { return status == 408 || status == 425 || status == 429 || status >= 500; }

Verdict verdict_on_refusal(const ResponseHead& head) {
  const int status = head.status;
  if (may_pass(status) && status != 501 && status != 505 && status != 507) {
    Verdict verdict = Verdict::again(fmt::format("the server answers with status {}", status));
    verdict.retry_after_s = head.retry_after_s;
    verdict.slow_down = status == 429 || status == 503;
    return verdict;
  }
  switch (status) {
    case 400: return Verdict::refusal("the server does not understand the request (status 400); check the URL");
    case 401: return Verdict::refusal("the server asks for a login (status 401); check the user and the password");
    case 403:
      return Verdict::refusal(
          "the server forbids it (status 403); check whether you have access, and whether a signed URL has expired");
    case 404:
      return Verdict::refusal("the server has no such object (status 404); check the URL", ErrorKind::kNotFound);
    case 407: return Verdict::refusal("the proxy asks for a login (status 407); check the proxy's user and password");
    case 410: return Verdict::refusal("the object is gone for good (status 410); check the URL", ErrorKind::kNotFound);
    case 413: return Verdict::refusal("it is larger than the server takes (status 413)");
    case 507:
      return Verdict::refusal("the server has no room for it (status 507); make room, or have its quota raised");
    default: return Verdict::refusal(fmt::format("the server answers with status {}; check the URL", status));
  }
}

/// The answers that have nothing to do with a range.
std::optional<Verdict> verdict_on_status(const ResponseHead& head) {
  if (head.status == 0) return Verdict::again("the server sent no status");
  if (head.status >= 300 && head.status < 400 && head.status != 304) return Verdict{.kind = Verdict::Kind::kRedirect};
  if (head.status < 200 || head.status >= 300) return verdict_on_refusal(head);
  if (!head.content_encoding.empty()) {
    return Verdict::refusal(
        fmt::format("the server sends it encoded ('{}'), so that it cannot be read by range; have it sent as it is",
                    escaped(head.content_encoding)));
  }
  return std::nullopt;
}

/// The object ends before the range does, whose size was not known.
Verdict too_short(const ResponseHead& head, std::uint64_t first, std::uint64_t length) {
  const std::optional<std::uint64_t> size =
      head.content_range ? head.content_range->object_bytes : std::optional<std::uint64_t>();
  return Verdict::refusal(
      fmt::format("it has {}, too few for the {} asked for at byte {}; was it truncated or changed?",
                  size ? byte_count(*size) : "fewer bytes", byte_count(length), first),
      ErrorKind::kData);
}

Verdict replaced(std::string_view what) {
  return Verdict::refusal(fmt::format("the object was replaced after it was opened: {}; open the data set again", what),
                          ErrorKind::kData);
}

std::optional<Verdict> verdict_on_version(const ResponseHead& head, const ObjectVersion& version) {
  if (!head.tag.empty() && !version.tag.empty() && head.tag != version.tag) {
    return replaced(fmt::format("its tag was {} and is {}", escaped(version.tag), escaped(head.tag)));
  }
  const bool has_tags = !head.tag.empty() && !version.tag.empty();
  if (!has_tags && !head.last_modified.empty() && !version.last_modified.empty() &&
      head.last_modified != version.last_modified) {
    return replaced(
        fmt::format("its time was '{}' and is '{}'", escaped(version.last_modified), escaped(head.last_modified)));
  }
  return std::nullopt;
}

}  // namespace

Verdict verdict_on_head(const ResponseHead& head) { return verdict_on_status(head).value_or(Verdict{}); }

Verdict verdict_on_range(const ResponseHead& head, std::uint64_t first, std::uint64_t length,
                         const ObjectVersion* version, bool sends_ranges) {
  if (head.status == 412) return replaced("the server says so (status 412)");
  if (head.status == 416) {
    if (!version) return too_short(head, first, length);
    return replaced(fmt::format("it had {} and has no byte {} any more (status 416)", byte_count(version->size),
                                first + length - 1));
  }
  if (std::optional<Verdict> verdict = verdict_on_status(head)) return *std::move(verdict);
  if (version) {
    if (std::optional<Verdict> verdict = verdict_on_version(head, *version)) return *std::move(verdict);
  }
  if (head.status == 200) {
    // Servers that do not read by range send the whole object, which may be what is wanted.
    if (first == 0 && head.content_length == length && (!version || version->size == length)) return {};
    if (version && head.content_length && *head.content_length != version->size) {
      return Verdict::again("the server sends something else than the object (status 200)");
    }
    if (sends_ranges) return Verdict::again("the server sends the whole object instead of a range (status 200)");
    return Verdict::refusal("the server sends whole objects instead of ranges (status 200); Stoker reads by range");
  }
  if (head.status != 206) {
    return Verdict::again(fmt::format("the server answers a request for a range with status {}", head.status));
  }
  if (!head.content_range || !head.content_range->range)
    return Verdict::again("the server does not say which range it sends");
  const ContentRange& sent = *head.content_range;
  const std::uint64_t last = first + length - 1;
  const bool ends_with_object = sent.object_bytes && sent.range->last + 1 == *sent.object_bytes;
  if (!version && sent.range->first == first && sent.range->last < last && ends_with_object) {
    return too_short(head, first, length);
  }
  if (sent.range->first != first || sent.range->last != last) {
    return Verdict::again(fmt::format("the server sends bytes {} to {} instead of {} to {}", sent.range->first,
                                      sent.range->last, first, last));
  }
  if (head.content_length && *head.content_length != length) {
    return Verdict::again(
        fmt::format("the server announces {} for a range of {}", byte_count(*head.content_length), length));
  }
  if (version && sent.object_bytes && *sent.object_bytes != version->size) {
    return replaced(fmt::format("it had {} and has {}", byte_count(version->size), *sent.object_bytes));
  }
  return {};
}

Verdict verdict_on_failure(int code, std::string_view message) {
  // libcurl shows the URL, which may have a password.
  if (message.find("Unsupported proxy") != std::string_view::npos) {
    return Verdict::refusal("the proxy's URL is not valid; check http_proxy, https_proxy and all_proxy",
                            ErrorKind::kUsage);
  }
  const std::string said =
      escaped(message.empty() ? std::string_view(::curl_easy_strerror(static_cast<CURLcode>(code))) : message);
  switch (code) {
    case CURLE_URL_MALFORMAT:
      return Verdict::refusal("it is not a valid URL; characters such as spaces are written as %20", ErrorKind::kUsage);
    case CURLE_PEER_FAILED_VERIFICATION:
      if (said.find("host name") != std::string::npos) {
        return Verdict::refusal(fmt::format("the server's certificate is for another host: {}; check the URL", said));
      }
      return Verdict::refusal(
          fmt::format("the server's certificate is not trusted: {}; the first of CURL_CA_BUNDLE, AWS_CA_BUNDLE and "
                      "SSL_CERT_FILE that is set names the file of the authorities to trust",
                      said));
    case CURLE_SSL_CONNECT_ERROR:
      if (said.find("wrong version number") == std::string::npos) return Verdict::again(said);
      return Verdict::refusal("the server does not answer with TLS, so that its URL may begin with http:// instead",
                              ErrorKind::kUsage);
    case CURLE_SSL_CACERT_BADFILE:
      return Verdict::refusal(fmt::format("the file of trusted certificates cannot be read: {}", said));
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
    case CURLE_OPERATION_TIMEDOUT: {
      Verdict verdict = Verdict::again(said);
      verdict.unreachable = true;
      return verdict;
    }
    case CURLE_OUT_OF_MEMORY: return Verdict::refusal("out of memory", ErrorKind::kMemory);
    default: return Verdict::again(said);
  }
}

}  // namespace stoker
