#include "stoker/storage/http/http_driver.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <utility>

#include "stoker/base/clock.h"
#include "stoker/base/units.h"
#include "stoker/storage/http/http_url.h"
#include "stoker/storage/http/retry_delay.h"

namespace stoker {
namespace {

// How often calls are looked at that wait for a time: for their turn, for a late answer, to be stopped.
constexpr std::int64_t kSweepNs = 10'000'000;
constexpr int kIdleWaitMs = 60'000;  // without calls there is nothing to look at; a new one wakes the driver

// Less than signed URLs are good for.
constexpr std::int64_t kRedirectKeptNs = 300'000'000'000;

// Between looking at the sockets: to begin hundreds of requests, with their connections, takes so long that the first
// of them would be sent late.
constexpr int kBegunAtOnce = 8;

// Ranges of at least four large buffers get one, while all such buffers together are about what stays in a core's
// caches.
constexpr std::uint64_t kBuffersMost = 4 << 20;

// Of a host that has never said anything: its name may be mistyped, and the user waits.
constexpr int kTriesOfStranger = 3;

/// Delays are no part of any result, so that they may differ from run to run, and have to between processes.
Random jitter() {
  return {static_cast<std::uint64_t>(now_ns()), static_cast<std::uint64_t>(::getpid()), 0,
          random_stream("", "http jitter", 0)};
}

double seconds(std::int64_t ns) { return static_cast<double>(ns) / 1e9; }

}  // namespace

HttpDriver::HttpDriver(const HttpOptions& options, HttpCounters& counters)
    : options_(options),
      counters_(counters),
      at_once_(std::min(options.exchanges_near, options.exchanges_max)),
      random_(jitter()) {
  ::curl_multi_setopt(sockets_.multi(), CURLMOPT_MAXCONNECTS, static_cast<long>(options.exchanges_max));
  ::curl_multi_setopt(sockets_.multi(), CURLMOPT_PIPELINING, CURLPIPE_NOTHING);
}

HttpDriver::~HttpDriver() { assert(calls_.empty()); }

void HttpDriver::add(HttpCall& call) {
  call.progress = {};
  call.error = nullptr;
  call.is_final = false;
  call.head = {};
  call.progress.due_ns = now_ns();
  calls_.push_back(&call);
  line_up(call);
}

/// Its next exchange may begin as soon as there is room. One that the sweep has begun, since it was due or does not
/// wait for room, may be in line still, and has its turn from there.
void HttpDriver::line_up(HttpCall& call) {
  if (!std::exchange(call.progress.lined_up, true)) line_.push(call);
}

void HttpDriver::leave_line(HttpCall& call) {
  IntrusiveQueue<HttpCall> others;
  while (HttpCall* const other = line_.pop()) {
    if (other != &call) others.push(*other);
  }
  line_ = others;
}

/// Begins exchanges of calls that are due, in turn, while there is room. Not the sweep's: with hundreds of calls,
/// looking at all of them for each that ends would take longer than all else.
void HttpDriver::begin_next() {
  const std::int64_t now = line_.empty() ? 0 : now_ns();
  for (int begun = 0; begun < kBegunAtOnce && !line_.empty() && has_room(); ++begun) {
    HttpCall* const call = line_.pop();
    call->progress.lined_up = false;
    look_at(*call, now);
  }
}

IntrusiveQueue<HttpCall> HttpDriver::advance() {
  if (now_ns() >= next_sweep_ns_) sweep(now_ns());
  begin_next();
  sockets_.run(wait_ms());
  take_messages();
  if (!ended_.empty()) std::erase_if(calls_, [](const HttpCall* call) { return call->progress.ended; });
  return std::exchange(ended_, {});
}

/// For how long there is nothing to do but for the network.
int HttpDriver::wait_ms() const {
  if (!ended_.empty() || next_sweep_ns_ == 0 || (!line_.empty() && has_room())) return 0;
  if (calls_.empty()) return kIdleWaitMs;
  return static_cast<int>(std::max<std::int64_t>(next_sweep_ns_ - now_ns(), 0) / 1'000'000) + 1;
}

void HttpDriver::sweep(std::int64_t now) {
  next_sweep_ns_ = now + kSweepNs;
  for (HttpCall* const call : calls_) {
    if (!call->progress.ended) look_at(*call, now);
  }
}

void HttpDriver::look_at(HttpCall& call, std::int64_t now) {
  HttpCall::Progress& progress = call.progress;
  if (std::exception_ptr unwanted = why_unwanted(call, now)) return end(call, std::move(unwanted));
  if (progress.exchanges[0] || progress.exchanges[1]) return watch(call, now);
  if (now < call.host->silent_until_ns) {
    return give_up(call, Verdict::again(fmt::format("the host does not answer ({})", call.host->why_silent)));
  }
  if (progress.due_ns > now || !has_room_for(call) || (call.dialect && !call.dialect->ready())) return;
  if (progress.began_ns == 0) progress.began_ns = now;  // what it waited for room is no server's fault
  start_exchange(call, now);
}

/// Whether the host answered anything since the call's first exchange.
bool HttpDriver::was_heard(const HttpCall& call) { return call.host->last_heard_ns >= call.progress.began_ns; }

/// Looks at a call that has exchanges under way.
void HttpDriver::watch(HttpCall& call, std::int64_t now) {
  HttpCall::Progress& progress = call.progress;
  for (HttpExchange* const exchange : progress.exchanges) {
    if (!exchange) continue;
    if (progress.chosen && progress.chosen != exchange) {
      call.host->link.add(now - exchange->sent_ns(), 0, 0);  // at least so late
      drop(*exchange);
      continue;
    }
    const bool silent = exchange->answered_ns() == 0;  // else it may take its time, as long as something comes
    // A host that answered, if only to be asked later, has its time from then on.
    const std::int64_t since = was_heard(call) ? exchange->sent_ns() : progress.began_ns;
    const bool overdue = now - std::max(since, exchange->body_sent_ns()) > patience_ns();
    if ((overdue && silent) || exchange->stalls(options_, now)) {
      const double waited_s = seconds(now - exchange->sent_ns());
      Verdict verdict = Verdict::again(
          silent ? fmt::format("no answer came within {}", format_duration(waited_s))
                 : fmt::format("only {} came within {}", byte_count(exchange->received()), format_duration(waited_s)));
      verdict.unreachable = silent && !exchange->is_worked_on();
      drop(*exchange);
      repeat(call, std::move(verdict));
      if (progress.ended) return;
    }
  }
  const HttpExchange* const first = progress.exchanges[0];
  if (!first || !call.only_reads() || progress.exchanges[1] || progress.hedged || first->answered_ns() != 0 ||
      !has_room())
    return;
  const std::optional<std::int64_t> late_ns = call.host->link.late_after_ns();
  if (!late_ns || now - first->sent_ns() < *late_ns || !call.host->hedges.take()) return;
  progress.hedged = true;
  counters_.add(HttpCounters::kHedges);
  start_exchange(call, now);
}

std::exception_ptr HttpDriver::why_unwanted(const HttpCall& call, std::int64_t now) const {
  const auto error = [&](ErrorKind kind, std::string_view why) {
    return std::make_exception_ptr(Error(kind, fmt::format("cannot {} '{}': {}", call.doing, call.name, why)));
  };
  if (call.stop.stop_requested() || (!call.cleans_up && options_.stop.stop_requested()))
    return error(ErrorKind::kClosed, "it was stopped");
  if (now <= call.deadline_ns) return nullptr;
  return error(ErrorKind::kIo, "it did not end within the time allowed");
}

void HttpDriver::start_exchange(HttpCall& call, std::int64_t now) {
  HttpExchange* exchange = nullptr;
  const bool is_large = call.length >= 4 * HttpExchange::kLargeBuffer &&
                        static_cast<std::uint64_t>(exchanges_ + 1) * HttpExchange::kLargeBuffer <= kBuffersMost;
  const auto buffer = is_large ? HttpExchange::Buffer::kLarge : HttpExchange::Buffer::kSmall;
  const bool is_kept = call.redirect && now < call.redirect->until_ns;
  std::exception_ptr error = thrown_by([&] {
    if (is_kept && call.progress.tries == 0 && call.progress.redirected.empty()) {
      call.progress.redirected = call.redirect->target;
    }
    std::vector<HttpExchange*>& free = free_of(buffer);
    if (free.empty()) {
      all_.push_back(std::make_unique<HttpExchange>(options_, buffer));
      free.push_back(all_.back().get());
    }
    exchange = free.back();
    exchange->begin(call, call.progress.redirected.empty() ? std::string(call.url) : call.progress.redirected, now);
    if (::curl_multi_add_handle(sockets_.multi(), exchange->handle()) != CURLM_OK) {
      fail(ErrorKind::kMemory, "cannot {} '{}': libcurl cannot take another request", call.doing, call.name);
    }
  });
  if (error) return end(call, std::move(error));
  free_of(buffer).pop_back();
  counters_.set_under_way(++exchanges_);
  call.progress.exchanges[call.progress.exchanges[0] ? 1 : 0] = exchange;
  counters_.add(HttpCounters::kRequests);
  call.host->retries.request_made();
  call.host->hedges.request_made();
}

/// Takes an exchange that has ended, or is not wanted any more, from its call; its connection is closed if its answer
/// has not come whole.
void HttpDriver::drop(HttpExchange& exchange) {
  HttpCall::Progress& progress = exchange.call().progress;
  std::replace(progress.exchanges.begin(), progress.exchanges.end(), &exchange, static_cast<HttpExchange*>(nullptr));
  if (progress.chosen == &exchange) progress.chosen = nullptr;
  ::curl_multi_remove_handle(sockets_.multi(), exchange.handle());
  exchange.abandon();
  free_of(exchange.buffer()).push_back(&exchange);
  counters_.set_under_way(--exchanges_);
}

void HttpDriver::drop_all(HttpCall& call) {
  for (HttpExchange* const exchange : call.progress.exchanges) {
    if (exchange) drop(*exchange);
  }
}

void HttpDriver::take_messages() {
  int left = 0;
  while (const CURLMsg* const message = ::curl_multi_info_read(sockets_.multi(), &left)) {
    if (message->msg == CURLMSG_DONE) exchange_ended(HttpExchange::of(message->easy_handle), message->data.result);
  }
}

void HttpDriver::exchange_ended(HttpExchange& exchange, CURLcode code) {
  HttpCall& call = exchange.call();
  counters_.add(HttpCounters::kConnections, exchange.connections_made());
  if (exchange.answered_ns() != 0) {
    call.host->last_heard_ns = exchange.answered_ns();
    call.host->silent_until_ns = 0;
  }
  const bool is_late_one = call.progress.chosen && call.progress.chosen != &exchange;
  if (is_late_one) return drop(exchange);
  Verdict verdict = exchange.end(code);
  call.head = exchange.head();
  switch (verdict.kind) {
    case Verdict::Kind::kGood: count_answer(call, exchange); return end(call, nullptr);
    case Verdict::Kind::kRedirect: {
      const std::string target = exchange.redirect_url();
      drop_all(call);
      return redirect(call, target);
    }
    case Verdict::Kind::kAgain:
      if (verdict.slow_down) counters_.add(HttpCounters::kSlowDowns);
      drop(exchange);
      return repeat(call, std::move(verdict));
    case Verdict::Kind::kFinal: call.is_final = true; return give_up(call, verdict);
  }
}

void HttpDriver::count_answer(const HttpCall& call, const HttpExchange& exchange) {
  const std::int64_t first_byte_ns = exchange.answered_ns() - exchange.sent_ns();
  counters_.add(HttpCounters::kBytes, static_cast<std::int64_t>(exchange.received()));
  counters_.add_first_byte(first_byte_ns);
  const std::int64_t body_ns = now_ns() - exchange.answered_ns();
  counters_.add(HttpCounters::kBodyNs, body_ns);
  // What it takes to connect is paid once.
  if (exchange.connections_made() > 0) return;
  call.host->link.add(first_byte_ns, exchange.received(), body_ns);
  // One by one: those that came first are to have the link to themselves.
  if (at_once_ < std::min(call.host->link.worth_at_once(), options_.exchanges_max)) ++at_once_;
}

void HttpDriver::redirect(HttpCall& call, const std::string& target) {
  HttpCall::Progress& progress = call.progress;
  const std::string_view from = progress.redirected.empty() ? call.url : std::string_view(progress.redirected);
  const auto refuse = [&](std::string why) {
    call.is_final = true;
    give_up(call, Verdict::refusal(std::move(why)));
  };
  if (target.empty()) return refuse("the server redirects it, but does not say where to");
  if (++progress.redirects > options_.redirects_max) {
    return refuse(fmt::format("the server redirects it more than {} times", options_.redirects_max));
  }
  if (!may_redirect(from, target))
    return refuse("the server redirects it to a place that is not encrypted, or not HTTP");
  progress.redirected = redirect_target(call.url, target);
  if (call.redirect) *call.redirect = {progress.redirected, now_ns() + kRedirectKeptNs};
  progress.due_ns = now_ns();
  line_up(call);
  counters_.add(HttpCounters::kRedirects);
}

/// After an exchange failed: another is under way, or follows, or the call is given up.
void HttpDriver::repeat(HttpCall& call, Verdict verdict) {
  HttpCall::Progress& progress = call.progress;
  ++progress.tries;
  if (progress.exchanges[0] || progress.exchanges[1]) return;
  const std::int64_t now = now_ns();
  const bool is_stranger = verdict.unreachable && call.host->last_heard_ns == 0;
  const int tries_max = is_stranger ? std::min(kTriesOfStranger, options_.tries_max) : options_.tries_max;
  const std::int64_t delay = retry_delay_ns(options_, progress.tries, random_.uniform(), verdict.retry_after_s);
  const std::int64_t patience = verdict.unreachable && !was_heard(call) ? patience_ns() : patience_answered_ns();
  const bool in_time = delay < progress.began_ns + patience - now;
  if (!in_time && verdict.retry_after_s.value_or(0) > 0) {
    verdict.why +=
        fmt::format(", and asks to wait for {}", format_duration(static_cast<double>(*verdict.retry_after_s)));
  }
  if (progress.tries >= tries_max || !in_time || !call.host->retries.take()) return give_up(call, verdict);
  if (call.redirect && call.redirect->target == progress.redirected) call.redirect->until_ns = 0;
  progress.redirected.clear();  // where it led to may be what failed
  progress.redirects = 0;
  progress.due_ns = now + delay;
  counters_.add(HttpCounters::kRetries);
}

void HttpDriver::give_up(HttpCall& call, const Verdict& verdict) {
  const std::int64_t now = now_ns();
  HttpHost& host = *call.host;
  if (verdict.unreachable && !was_heard(call)) {
    host.silent_until_ns = now + patience_ns();
    host.why_silent = verdict.why;
  }
  std::string sentence = fmt::format("cannot {} '{}': {}", call.doing, call.name, verdict.why);
  if (call.progress.tries > 1) {
    sentence += fmt::format("; it was tried {} times within {}", call.progress.tries,
                            format_duration(seconds(now - call.progress.began_ns)));
  }
  end(call, std::make_exception_ptr(Error(verdict.error, sentence)));
}

void HttpDriver::end(HttpCall& call, std::exception_ptr error) {
  drop_all(call);
  call.error = std::move(error);
  call.progress.ended = true;
  if (std::exchange(call.progress.lined_up, false)) leave_line(call);
  ended_.push(call);
}

}  // namespace stoker
