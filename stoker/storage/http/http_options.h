// How patient the reading over HTTP is, and how much it does at once.
#pragma once

#include <chrono>
#include <cstdint>
#include <stop_token>
#include <string>

namespace stoker {

struct HttpOptions {
  /// Requests that servers have at a time, over all hosts; more wait their turn. The farther a server is, the more of
  /// them it takes to keep the link busy (LinkEstimate): from `exchanges_near` to `exchanges_max`.
  int exchanges_near = 128, exchanges_max = 512;
  int tries_max = 10;  // of one request
  int redirects_max = 5;

  std::chrono::milliseconds connect_max{10'000};
  /// An answer that brings less than `slow_bytes_per_s` for so long is given up, and asked for again.
  std::chrono::milliseconds stall_max{10'000};
  std::uint64_t slow_bytes_per_s = 2048;
  /// A request whose host says nothing, with all its tries; and then that host is not waited for, for as long.
  std::chrono::milliseconds patience{30'000};
  /// A request with all its tries whose host answers, though not with what was asked for.
  std::chrono::milliseconds patience_answered{180'000};
  /// The delay before the second try is drawn from zero to this; then from twice as much, up to the most.
  std::chrono::milliseconds delay_first{100}, delay_most{20'000};

  std::uint64_t part_bytes = 8 << 20;  // a longer range is read in parts of that size, side by side

  std::string ca_file{}, ca_folder{};  // of certificates to trust; empty: those of the system
  std::stop_token stop{};              // ends all that is under way, and all that follows

  /// With the certificates that CURL_CA_BUNDLE, AWS_CA_BUNDLE, SSL_CERT_FILE and SSL_CERT_DIR name, as curl reads them,
  /// and the patience that STOKER_HTTP_PATIENCE names in seconds; a third of it is the time for a stall, and six times
  /// as much is for hosts that answer. Throws kUsage for a value that is not a number of seconds. Proxies are taken
  /// from the variables that curl reads.
  static HttpOptions from_environment();
};

}  // namespace stoker
