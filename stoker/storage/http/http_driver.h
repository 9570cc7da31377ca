// Takes calls to their end: sends requests, follows redirects, repeats what failed, sends another for one that is late.
// It belongs to one thread, which is all that HttpTransport adds; a forked child uses one on the thread that reads.
#pragma once

#include <curl/curl.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "stoker/base/random.h"
#include "stoker/storage/http/http_exchange.h"
#include "stoker/storage/http/http_sockets.h"
#include "stoker/storage/http/http_traffic.h"
#include "stoker/storage/intrusive_queue.h"

namespace stoker {

/// Threads: one, but for wake() and traffic().
class HttpDriver {
 public:
  /// Throws kMemory or kIo.
  HttpDriver(const HttpOptions& options, HttpCounters& counters);
  /// No call may be under way.
  ~HttpDriver();
  HttpDriver(const HttpDriver&) = delete;
  HttpDriver& operator=(const HttpDriver&) = delete;

  /// Begins a call, which advance() takes on.
  void add(HttpCall& call);
  bool idle() const { return calls_.empty(); }
  /// Takes all calls on, waiting for the network if there is nothing to do, and returns those that have ended: the
  /// caller calls their `done`. Returns early when woken.
  IntrusiveQueue<HttpCall> advance();
  /// Ends the wait of advance(), the next one if none is under way. Threads: any.
  void wake() const { sockets_.wake(); }

 private:
  int wait_ms() const;
  void line_up(HttpCall& call);
  void leave_line(HttpCall& call);
  void begin_next();
  void sweep(std::int64_t now);
  void look_at(HttpCall& call, std::int64_t now);
  static bool was_heard(const HttpCall& call);
  void watch(HttpCall& call, std::int64_t now);
  void take_messages();
  void exchange_ended(HttpExchange& exchange, CURLcode code);
  void start_exchange(HttpCall& call, std::int64_t now);
  void drop(HttpExchange& exchange);
  void drop_all(HttpCall& call);
  void redirect(HttpCall& call, const std::string& target);
  void repeat(HttpCall& call, Verdict verdict);
  void give_up(HttpCall& call, const Verdict& verdict);
  void end(HttpCall& call, std::exception_ptr error);
  void count_answer(const HttpCall& call, const HttpExchange& exchange);
  std::exception_ptr why_unwanted(const HttpCall& call, std::int64_t now) const;
  std::int64_t patience_ns() const { return std::chrono::nanoseconds(options_.patience).count(); }
  std::int64_t patience_answered_ns() const { return std::chrono::nanoseconds(options_.patience_answered).count(); }
  std::vector<HttpExchange*>& free_of(HttpExchange::Buffer buffer) { return free_[static_cast<std::size_t>(buffer)]; }
  bool has_room() const { return exchanges_ < at_once_; }
  bool has_room_for(const HttpCall& call) const { return !call.waits_for_room || has_room(); }

  const HttpOptions options_;
  HttpCounters& counters_;
  HttpSockets sockets_;
  std::vector<std::unique_ptr<HttpExchange>> all_;  // goes before what it is registered with
  std::array<std::vector<HttpExchange*>, 2> free_;  // by their buffers
  int exchanges_ = 0;                               // under way
  int at_once_;                                     // of them, at most: as many as the farthest server asks for
  std::vector<HttpCall*> calls_;                    // in the order in which they were added
  IntrusiveQueue<HttpCall> line_;                   // of them, those that are due, and wait for room
  IntrusiveQueue<HttpCall> ended_;
  std::int64_t next_sweep_ns_ = 0;
  Random random_;
};

}  // namespace stoker
