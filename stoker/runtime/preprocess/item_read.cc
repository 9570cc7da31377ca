#include "stoker/runtime/preprocess/item_read.h"

#include "stoker/base/error.h"
#include "stoker/base/units.h"

namespace stoker {
namespace {

constexpr std::uint64_t kItemBytesMax = std::uint64_t{1} << 30;  // encoded

}  // namespace

void ItemRead::start(const Stores& stores, const Location& at, const std::stop_token& stop) {
  stores_ = &stores;
  at_ = &at;
  request_.stop = stop;
  if (at.is_local()) return;
  error_ = thrown_by([this] { open_and_start(); });
}

void ItemRead::open_and_start() {
  source_ = stores_->open(*at_);
  const std::uint64_t size = source_->size();
  if (size > kItemBytesMax) {
    fail(ErrorKind::kLimit, "'{}' has {}, and what is read whole may have {}", *at_, byte_count(size),
         byte_count(kItemBytesMax));
  }
  bytes_.resize(size);
  piece_ = bytes_;
  request_.into = {&piece_, 1};
  start_pending(*source_, request_, pending_);
}

Bytes ItemRead::bytes() {
  if (!source_ && !error_) open_and_start();
  pending_.wait();
  if (error_) std::rethrow_exception(error_);
  if (request_.error) std::rethrow_exception(request_.error);
  return bytes_;
}

}  // namespace stoker
