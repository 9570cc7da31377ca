// Serves loaders' metrics over HTTP, to Prometheus and to people (dashboard.h): one server for each address, for all
// loaders of this process that name the address. Its threads are civetweb's.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "stoker/base/home_process.h"
#include "stoker/runtime/metrics.h"

namespace stoker {

struct MetricsAddress {
  std::string host;  // an IPv4 address, or an IPv6 one in brackets
  int port = 0;      // 0: one that is free

  /// "127.0.0.1:9100"
  std::string text() const;
};

/// Of "9100", which is 127.0.0.1's, "localhost:9100", "0.0.0.0:9100", "[::1]:0". Throws kUsage.
MetricsAddress parse_metrics_address(std::string_view text);

/// Serves one loader's metrics at http://ADDRESS/metrics, and the page about it at http://ADDRESS/, as long as it
/// lives. In a forked child it does nothing.
class ServedMetrics {
 public:
  /// `name` distinguishes it from other loaders at that address; empty: the least free number. `read` is called by any
  /// thread. Throws kIo if the address is not available, kUsage for another loader's name.
  ServedMetrics(const MetricsAddress& address, const std::string& name, int rank, std::function<Metrics()> read);
  /// `read` is no longer called.
  ~ServedMetrics();
  ServedMetrics(const ServedMetrics&) = delete;
  ServedMetrics& operator=(const ServedMetrics&) = delete;

  /// With the actual port.
  const std::string& address() const { return address_; }

 private:
  const HomeProcess home_;
  std::string address_, name_;
};

}  // namespace stoker
