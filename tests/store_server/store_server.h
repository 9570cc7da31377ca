// Serves a folder over HTTP/1.1 and as S3, as late, as slowly and as wrongly as it is told: for tests, and for
// benchmarks, which hundreds of connections at hundreds of megabytes a second must not wait for. One thread and epoll.
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <random>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "stoker/storage/posix_file.h"
#include "tests/store_server/answer.h"
#include "tests/store_server/faults.h"
#include "tests/store_server/object_folder.h"

namespace stoker {

struct StoreServerOptions {
  std::filesystem::path folder{};
  std::string address = "127.0.0.1";  // where it listens
  double latency_s = 0;               // from a request to the first byte of its answer: the median
  double latency_sigma = 0;           // of the latency's logarithm, which is normal
  double bytes_per_s = 0;             // of a connection; 0: no limit
  double link_bytes_per_s = 0;        // of all connections together; 0: no limit
  std::string refused_with{};         // "401 Unauthorized": the answer to every request; empty: objects
  std::string refused_step{};         // refuses these requests alone (RequestHead::step())
  std::string refused_code{};         // of S3's document in a refusal; empty: there is none
  FaultOptions faults{};
};

class StoreServer {
 public:
  /// Listens at a free port. Throws kIo, and kUsage for an address that is none.
  explicit StoreServer(StoreServerOptions options);

  int port() const { return port_; }
  /// Serves for ever.
  void run();

 private:
  struct Connection {
    FileDescriptor socket;
    std::uint64_t id = 0;
    std::string received{};              // and not answered yet
    std::optional<RequestHead> asked{};  // its body may still be missing
    bool answering = false;
    Answer answer{};
    std::string opening{};        // what is left of it
    std::int64_t due_ns = 0;      // when more of the answer may be sent
    bool queued = false;          // for a turn
    bool waits_for_room = false;  // in the socket
  };
  enum class Sent { kWhole, kNoRoom, kFailed };

  void accept_all();
  void receive(Connection& connection);
  // These take a connection on, which may be gone afterwards.
  void advance(Connection& connection);
  void take_turn(Connection& connection);
  void end_answer(Connection& connection);

  bool begin_answer(Connection& connection);
  Answer answer_to(const RequestHead& asked, std::string body);
  std::optional<Answer> answer_about_itself(const RequestHead& asked);
  Answer refuse() const;
  Sent send_opening(Connection& connection);
  Sent send_slice(Connection& connection);
  void wait_for_turn(Connection& connection);
  void wait_for_room(Connection& connection, bool wanted);
  void wait_until(Connection& connection, std::int64_t due_ns);
  void serve_timers();
  void serve_turns();
  std::int64_t wait_ns() const;
  void close(Connection& connection);
  Connection* find(std::uint64_t id);
  std::int64_t draw_latency_ns();

  const StoreServerOptions options_;
  ObjectFolder objects_;
  Faults faults_;
  std::mt19937_64 random_;
  FileDescriptor listener_, epoll_;
  int port_ = 0;
  std::uint64_t last_id_ = 0;
  std::unordered_map<std::uint64_t, std::unique_ptr<Connection>> connections_;
  using Due = std::pair<std::int64_t, std::uint64_t>;  // when, and which connection
  std::priority_queue<Due, std::vector<Due>, std::greater<>> timers_;
  std::deque<std::uint64_t> turns_;  // of connections that have a part of a file to send
  std::int64_t link_free_ns_ = 0;
  std::string requests_;  // the first of them, a line each
  std::map<std::string, std::uint64_t, std::less<>> counts_;
};

}  // namespace stoker
