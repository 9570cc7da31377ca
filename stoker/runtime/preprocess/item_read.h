// The bytes of an item that lies at a place: a local file is read when it is its turn, an object in a store while other
// items are at work.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <stop_token>
#include <vector>

#include "stoker/base/bytes.h"
#include "stoker/base/pending.h"
#include "stoker/storage/location.h"
#include "stoker/storage/source.h"
#include "stoker/storage/stores.h"

namespace stoker {

class ItemRead {
 public:
  /// What comes over a network begins to. Errors come with bytes().
  void start(const Stores& stores, const Location& at, const std::stop_token& stop);
  /// Waits for them. Throws as reading does; kLimit for what no image is.
  Bytes bytes();

 private:
  void open_and_start();

  const Stores* stores_ = nullptr;
  const Location* at_ = nullptr;
  std::shared_ptr<Source> source_;
  std::vector<std::uint8_t> bytes_;
  MutableBytes piece_;
  ReadRequest request_{};
  std::exception_ptr error_;
  Pending pending_;  // the last: it waits before the others go
};

}  // namespace stoker
