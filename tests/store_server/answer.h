// What the server answers: the parts of it, so that a fault can spoil any of them before it is sent.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "stoker/storage/posix_file.h"

namespace stoker {

struct Answer {
  enum class After {
    kKeep,    // the connection waits for the next request
    kClose,   // it is closed
    kReset,   // it is reset
    kSilent,  // nothing is sent at all, and the connection stays open
  };

  std::string status = "200 OK";  // empty: the answer is `text`, and has no head
  std::map<std::string, std::string> fields{};
  std::string text{};  // the body, unless that is a part of a file
  FileDescriptor file{};
  std::uint64_t first = 0, length = 0;  // of the file
  double bytes_per_s = 0;               // of the file's part; 0: no limit
  double late_s = 0;                    // beside the server's latency
  After after = After::kKeep;

  /// As it is sent before the file's part.
  std::string opening() const;
  static Answer of_status(std::string status, std::string text = "");
};

}  // namespace stoker
