#include "stoker/storage/http/http_exchange.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdio>
#include <utility>
#include <vector>

#include "stoker/base/clock.h"
#include "stoker/base/units.h"
#include "stoker/storage/http/http_url.h"

namespace stoker {
namespace {

constexpr std::uint64_t kUnusedMax = 64 << 10;  // a connection is kept for so little that is read and dropped

template <typename Value>
void set_option(CURL* handle, CURLoption option, Value value) {
  const CURLcode code = ::curl_easy_setopt(handle, option, value);
  if (code == CURLE_OUT_OF_MEMORY) throw std::bad_alloc();
  if (code != CURLE_OK) fail(ErrorKind::kIo, "libcurl lacks what Stoker needs: {}", ::curl_easy_strerror(code));
}

/// Lets the kernel take no more of a body than the link carries: what lies in a socket's buffer, megabytes, passes
/// unseen and would look as if nothing did.
int limit_unsent(void* /*none*/, curl_socket_t socket, curlsocktype /*purpose*/) noexcept {
  constexpr int kUnsentMax = 128 << 10;
  // A kernel without the option takes more.
  static_cast<void>(::setsockopt(socket, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &kUnsentMax, sizeof kUnsentMax));
  return CURL_SOCKOPT_OK;
}

CURL* make_handle() {
  CURL* const handle = ::curl_easy_init();
  if (handle == nullptr) fail(ErrorKind::kMemory, "libcurl cannot make a handle");
  return handle;
}

}  // namespace

HttpExchange::HttpExchange(const HttpOptions& options, Buffer buffer) : buffer_(buffer), curl_(make_handle()) {
  CURL* const handle = curl_.get();
  set_option(handle, CURLOPT_PRIVATE, this);
  set_option(handle, CURLOPT_ERRORBUFFER, message_.data());
  set_option(handle, CURLOPT_NOSIGNAL, 1L);
  set_option(handle, CURLOPT_PROTOCOLS_STR, "http,https");
  set_option(handle, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  set_option(handle, CURLOPT_USERAGENT, "stoker");
  set_option(handle, CURLOPT_BUFFERSIZE, static_cast<long>(buffer == Buffer::kLarge ? kLargeBuffer : kSmallBuffer));
  set_option(handle, CURLOPT_TCP_KEEPALIVE, 1L);
  set_option(handle, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  set_option(handle, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(options.connect_max.count()));
  set_option(handle, CURLOPT_HEADERFUNCTION, &take_header);
  set_option(handle, CURLOPT_HEADERDATA, this);
  set_option(handle, CURLOPT_WRITEFUNCTION, &take_body);
  set_option(handle, CURLOPT_WRITEDATA, this);
  set_option(handle, CURLOPT_READFUNCTION, &give_body);
  set_option(handle, CURLOPT_READDATA, this);
  set_option(handle, CURLOPT_SEEKFUNCTION, &rewind_body);
  set_option(handle, CURLOPT_SEEKDATA, this);
  set_option(handle, CURLOPT_SOCKOPTFUNCTION, &limit_unsent);
  if (!options.ca_file.empty()) set_option(handle, CURLOPT_CAINFO, options.ca_file.c_str());
  if (!options.ca_folder.empty()) set_option(handle, CURLOPT_CAPATH, options.ca_folder.c_str());
}

HttpExchange& HttpExchange::of(CURL* handle) {
  HttpExchange* exchange = nullptr;
  ::curl_easy_getinfo(handle, CURLINFO_PRIVATE, &exchange);
  return *exchange;
}

void HttpExchange::begin(HttpCall& call, const std::string& url, std::int64_t now_ns) {
  call_ = &call;
  place_ = call.into;
  head_ = {.keeps_fields = call.keeps_fields};
  verdict_ = {};
  received_ = unused_ = passed_ = passed_before_ = body_given_ = 0;
  document_.clear();
  sent_ns_ = watched_from_ns_ = now_ns;
  body_sent_ns_ = 0;
  answered_ns_ = 0;
  message_.front() = '\0';
  CURL* const handle = curl_.get();
  set_option(handle, CURLOPT_URL, url.c_str());
  set_option(handle, CURLOPT_PATH_AS_IS, call.dialect ? 1L : 0L);  // "a/../b" is a key like any other
  set_method();
  set_fields(url);
}

void HttpExchange::set_method() {
  CURL* const handle = curl_.get();
  const HttpCall& call = *call_;
  set_option(handle, CURLOPT_HTTPGET, 1L);
  set_option<const char*>(handle, CURLOPT_CUSTOMREQUEST, nullptr);
  set_option<const char*>(handle, CURLOPT_RANGE, nullptr);
  const auto body_bytes = static_cast<curl_off_t>(call.body.size());
  switch (call.method) {
    case HttpCall::Method::kHead: set_option(handle, CURLOPT_NOBODY, 1L); break;
    case HttpCall::Method::kGet:
      if (call.reads_range()) {
        std::array<char, 48> range{};
        fmt::format_to_n(range.data(), range.size() - 1, "{}-{}", call.first, call.first + call.length - 1);
        set_option(handle, CURLOPT_RANGE, range.data());
      }
      break;
    case HttpCall::Method::kPut:
      set_option(handle, CURLOPT_UPLOAD, 1L);
      set_option(handle, CURLOPT_INFILESIZE_LARGE, body_bytes);
      break;
    case HttpCall::Method::kPost:
      set_option(handle, CURLOPT_POST, 1L);
      set_option<const char*>(handle, CURLOPT_POSTFIELDS, nullptr);
      set_option(handle, CURLOPT_POSTFIELDSIZE_LARGE, body_bytes);
      break;
    case HttpCall::Method::kDelete: set_option(handle, CURLOPT_CUSTOMREQUEST, "DELETE"); break;
  }
}

void HttpExchange::set_fields(const std::string& url) {
  Fields fields;
  const auto append = [&](const std::string& line) {
    curl_slist* const longer = ::curl_slist_append(fields.get(), line.c_str());
    if (longer == nullptr) throw std::bad_alloc();
    static_cast<void>(fields.release());  // it is a part of the longer one
    fields.reset(longer);
  };
  append("Accept-Encoding: identity");
  if (!call_->body.empty()) append("Expect:");  // no round trip to ask whether the body may come
  if (call_->method == HttpCall::Method::kPost) append("Content-Type:");  // libcurl's would be that of a form
  if (call_->dialect && origin_of(url) == origin_of(call_->url)) {
    std::vector<std::string> lines;
    call_->dialect->add_fields(*call_, lines);
    for (const std::string& line : lines) append(line);
  }
  if (call_->version && is_strong_tag(call_->version->tag)) {
    append(fmt::format("If-Match: {}", call_->version->tag));
  } else if (call_->version && !call_->version->last_modified.empty()) {
    append(fmt::format("If-Unmodified-Since: {}", call_->version->last_modified));
  }
  set_option(curl_.get(), CURLOPT_HTTPHEADER, fields.get());
  fields_ = std::move(fields);
}

std::size_t HttpExchange::take_header(char* bytes, std::size_t one, std::size_t count, void* exchange) noexcept {
  auto& self = *static_cast<HttpExchange*>(exchange);
  const bool taken = !thrown_by([&] { self.take_line({bytes, one * count}); });
  return taken ? one * count : 0;
}

void HttpExchange::take_line(std::string_view line) {
  passed_ += line.size();
  if (answered_ns_ == 0) answered_ns_ = now_ns();
  const bool was_complete = head_.complete;
  head_.take_line(line, seconds_since_1970());
  if (head_.complete && !was_complete) judge_head();
}

void HttpExchange::judge_head() {
  if (call_->reads_range()) {
    bool& sends_ranges = call_->host->sends_ranges;
    verdict_ = verdict_on_range(head_, call_->first, call_->length, call_->version, sends_ranges);
    sends_ranges |= verdict_.kind == Verdict::Kind::kGood && head_.status == 206;
  } else {
    verdict_ = verdict_on_head(head_);
  }
  if (verdict_.kind == Verdict::Kind::kRedirect && !call_->follows_redirects) verdict_ = {};
  if (verdict_.kind == Verdict::Kind::kRedirect && call_->dialect && !call_->dialect->follows_redirects()) {
    verdict_ = Verdict::refusal(fmt::format("the server redirects it (status {})", head_.status));
  }
  if (verdict_.kind == Verdict::Kind::kGood && !call_->progress.chosen) call_->progress.chosen = this;
}

std::size_t HttpExchange::take_body(char* bytes, std::size_t one, std::size_t count, void* exchange) noexcept {
  auto& self = *static_cast<HttpExchange*>(exchange);
  const std::size_t size = one * count;
  return self.take(Bytes(reinterpret_cast<const std::uint8_t*>(bytes), size)) ? size : 0;
}

std::size_t HttpExchange::give_body(char* into, std::size_t one, std::size_t count, void* exchange) noexcept {
  auto& self = *static_cast<HttpExchange*>(exchange);
  const Bytes left = self.call_->body.subspan(self.body_given_);
  const std::size_t size = std::min(one * count, left.size());
  std::copy_n(left.data(), size, reinterpret_cast<std::uint8_t*>(into));
  self.body_given_ += size;
  self.passed_ += size;
  self.body_sent_ns_ = now_ns();
  return size;
}

int HttpExchange::rewind_body(void* exchange, curl_off_t offset, int origin) noexcept {
  auto& self = *static_cast<HttpExchange*>(exchange);
  if (origin != SEEK_SET || offset < 0 || static_cast<std::uint64_t>(offset) > self.call_->body.size()) {
    return CURL_SEEKFUNC_FAIL;
  }
  self.body_given_ = static_cast<std::uint64_t>(offset);
  return CURL_SEEKFUNC_OK;
}

/// Whether more is wanted.
bool HttpExchange::take(Bytes bytes) {
  passed_ += bytes.size();
  if (verdict_.kind != Verdict::Kind::kGood) {
    unused_ += bytes.size();
    if (unused_ > kUnusedMax) return false;
    if (call_->dialect) document_ += as_text(bytes);
    return true;
  }
  if (call_->progress.chosen != this) return false;  // the other answer is being taken
  const std::uint64_t most = call_->reads_range() ? call_->length : call_->reply ? call_->reply_max : kUnusedMax;
  if (bytes.size() > most - received_) {
    verdict_ = call_->reads_range() ? Verdict::again("the server sends more bytes than it announced")
                                    : Verdict::refusal(fmt::format("the answer is longer than {}", byte_count(most)));
    return false;
  }
  if (call_->reads_range()) {
    place_.copy_from(bytes);
  } else if (call_->reply) {
    if (received_ == 0) call_->reply->clear();
    *call_->reply += as_text(bytes);
  }
  received_ += bytes.size();
  return true;
}

Verdict HttpExchange::end(CURLcode code) {
  if (verdict_.kind == Verdict::Kind::kAgain || verdict_.kind == Verdict::Kind::kFinal) {
    if (call_->dialect && head_.complete && head_.status >= 300) {
      call_->dialect->explain(*call_, head_, document_, verdict_);
    }
  }
  if (verdict_.kind != Verdict::Kind::kGood) return std::move(verdict_);
  if (code != CURLE_OK) return verdict_on_failure(code, message_.data());
  if (!head_.complete) return Verdict::again("the server closed the connection without an answer");
  if (call_->reads_range() && received_ < call_->length) {
    return Verdict::again(fmt::format("the answer ended after {} of {}", received_, byte_count(call_->length)));
  }
  if (call_->reply && received_ == 0) call_->reply->clear();
  return {};
}

std::string HttpExchange::redirect_url() const {
  const char* url = nullptr;
  ::curl_easy_getinfo(curl_.get(), CURLINFO_REDIRECT_URL, &url);
  return url == nullptr ? "" : url;
}

int HttpExchange::connections_made() const {
  long count = 0;
  ::curl_easy_getinfo(curl_.get(), CURLINFO_NUM_CONNECTS, &count);
  return static_cast<int>(count);
}

bool HttpExchange::is_worked_on() const {
  return call_->method == HttpCall::Method::kPost && body_given_ == call_->body.size();
}

bool HttpExchange::stalls(const HttpOptions& options, std::int64_t now_ns) {
  // A server that joins an object's parts says next to nothing until it has; to ask again would make it begin again.
  const bool takes_long = is_worked_on();
  const std::int64_t passed_ns = now_ns - watched_from_ns_;
  if (passed_ns < std::chrono::nanoseconds(takes_long ? options.patience : options.stall_max).count()) return false;
  const double least =
      takes_long ? 1 : static_cast<double>(options.slow_bytes_per_s) * static_cast<double>(passed_ns) / 1e9;
  if (static_cast<double>(passed_ - passed_before_) < least) return true;
  watched_from_ns_ = now_ns;
  passed_before_ = passed_;
  return false;
}

}  // namespace stoker
