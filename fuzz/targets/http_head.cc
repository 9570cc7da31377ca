// The head of an HTTP response, line by line, with what is made of it; and URLs as messages show them.
#include <algorithm>
#include <string>
#include <string_view>

#include "fuzz/fuzz_target.h"
#include "stoker/storage/http/http_url.h"
#include "stoker/storage/http/verdict.h"
#include "stoker/storage/shown_url.h"

namespace stoker {
namespace {

constexpr std::int64_t kNow = 1'700'000'000;
constexpr std::uint64_t kFirst = 10, kLength = 100;

void check_head(const ResponseHead& head) {
  require_that(head.status == 0 || (head.status >= 100 && head.status <= 999), "a status has three digits");
  require_that(!head.retry_after_s || *head.retry_after_s >= 0, "no server asks for a time in the past");
  if (head.content_range && head.content_range->range) {
    const ContentRange& sent = *head.content_range;
    require_that(sent.range->first <= sent.range->last, "a range has a byte");
    require_that(!sent.object_bytes || sent.range->last < *sent.object_bytes, "a range lies inside its object");
  }
  const ObjectVersion version{.size = 1000, .tag = "\"v1\"", .last_modified = {}};
  for (const ObjectVersion* const known : {&version, static_cast<const ObjectVersion*>(nullptr)}) {
    const Verdict verdict = verdict_on_range(head, kFirst, kLength, known);
    const bool is_good = verdict.kind == Verdict::Kind::kGood;
    require_that(is_good || verdict.kind == Verdict::Kind::kRedirect || !verdict.why.empty(), "a refusal has a reason");
    if (!is_good) continue;
    require_that(head.status == 206 && head.content_range->range == ContentRange::Range{kFirst, kFirst + kLength - 1},
                 "what is taken is the range that was asked for");
    require_that(!head.content_length || *head.content_length == kLength, "its length is that of the range");
    require_that(!known || head.tag.empty() || head.tag == known->tag, "it is of the version that was opened");
  }
}

void check_url(std::string_view line) {
  const std::string shown = shown_url(line);
  if (!line.starts_with("http://") && !line.starts_with("https://")) return;
  require_that(shown.find('\n') == std::string::npos, "a URL is shown on one line");
  const std::string_view login = login_of(line);
  require_that(login.empty() || origin_of(line).find('@') == std::string::npos, "an origin has no login");
  constexpr std::string_view kElsewhere = "https://other.invalid/";
  require_that(origin_of(line) == origin_of(kElsewhere) || login_of(redirect_target(line, kElsewhere)).empty(),
               "a login stays at its origin");
  const std::size_t host_end = shown.find_first_of("/?#", shown.find("://") + 3);
  require_that(shown.substr(0, host_end).find('@') == std::string::npos, "no login is shown");
}

void run(Bytes input) {
  ResponseHead head;
  std::string_view text = as_text(input);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1);
    const std::string_view line = text.substr(0, end + 1);
    head.take_line(line, kNow);
    check_url(line.substr(0, line.find_first_of("\r\n")));
    check_head(head);
    text.remove_prefix(line.size());
  }
}

const AnnounceFuzzTarget kTarget({.name = "http_head", .run = run});

}  // namespace
}  // namespace stoker
