#include "stoker/storage/s3/s3_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/log.h"
#include "stoker/base/units.h"
#include "stoker/storage/s3/replies.h"

namespace stoker {
namespace {

constexpr std::size_t kReplyMax = 64 << 10;

}  // namespace

struct S3Writer::Part {
  std::vector<std::uint8_t> bytes;
  std::string digest;
  HttpObject object;
  HttpCall call;
  Pending pending;
};

S3Writer::S3Writer(std::shared_ptr<const HttpObjects> objects, std::shared_ptr<const S3Bucket> bucket, std::string key)
    : objects_(std::move(objects)),
      bucket_(std::move(bucket)),
      key_(std::move(key)),
      name_(bucket_->location_of(key_)),
      host_(objects_->transport().host_of(bucket_->object(key_).url)) {}

S3Writer::~S3Writer() {
  if (!upload_.empty()) drop_upload();
}

void S3Writer::describe(HttpCall& call, const HttpObject& object) const {
  call.url = object.url;
  call.name = name_;
  call.doing = "write";
  call.host = host_.get();
  call.dialect = bucket_.get();
  call.keeps_fields = true;
}

void S3Writer::perform(HttpCall& call, const NamedTexts& query, std::string* reply) {
  const HttpObject object = bucket_->object(key_, query);
  const std::string digest = call.body.empty() ? std::string() : sha256_hex(call.body);
  describe(call, object);
  call.body_digest = digest;
  call.reply = reply;
  call.reply_max = kReplyMax;
  objects_->transport().perform(call);
  if (call.error) std::rethrow_exception(call.error);
}

void S3Writer::write(Bytes bytes) {
  size_ += bytes.size();
  while (!bytes.empty()) {
    // More than a part has come: the rest, which may be small, is the last part.
    if (filling_.size() == kPartBytes) send_part();
    if (filling_.capacity() < kPartBytes && size_ > kPartBytes) filling_.reserve(kPartBytes);
    const std::size_t count = std::min(bytes.size(), kPartBytes - filling_.size());
    filling_.insert(filling_.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(count));
    bytes = bytes.subspan(count);
  }
}

void S3Writer::send_part() {
  const std::size_t number = tags_.size() + under_way_.size() + 1;
  if (number > kPartsMost) {
    fail(ErrorKind::kLimit, "cannot write '{}': it is larger than {}", name_, byte_count(kPartBytes * kPartsMost));
  }
  if (upload_.empty()) {
    HttpCall call;
    call.method = HttpCall::Method::kPost;
    std::string reply;
    perform(call, {{"uploads", ""}}, &reply);
    upload_ = parse_upload(reply, name_);
  }
  wait_for_parts(kPartsUnderWay - 1);
  Part& part = *under_way_.emplace_back(std::make_unique<Part>());
  part.bytes.swap(filling_);
  part.digest = sha256_hex(part.bytes);
  part.object = bucket_->object(key_, {{"partNumber", std::to_string(number)}, {"uploadId", upload_}});
  describe(part.call, part.object);
  part.call.method = HttpCall::Method::kPut;
  part.call.body = part.bytes;
  part.call.body_digest = part.digest;
  part.call.context = &part.pending;
  part.call.done = [](HttpCall& ended) noexcept { static_cast<Pending*>(ended.context)->end(); };
  part.pending.begin();
  objects_->transport().start(part.call);
}

void S3Writer::wait_for_parts(std::size_t most_left) {
  while (under_way_.size() > most_left) {
    const std::unique_ptr<Part> part = std::move(under_way_.front());
    under_way_.pop_front();
    part->pending.wait();
    if (part->call.error) std::rethrow_exception(part->call.error);
    if (part->call.head.tag.empty()) fail(ErrorKind::kIo, "cannot write '{}': the store gave a part no tag", name_);
    tags_.push_back(part->call.head.tag);
  }
}

void S3Writer::commit() {
  if (upload_.empty()) {
    HttpCall call;
    call.method = HttpCall::Method::kPut;
    call.body = filling_;
    perform(call, {});
  } else {
    send_part();
    wait_for_parts(0);
    finish_upload();
    upload_.clear();
  }
  objects_->forget(bucket_->object(key_));
}

void S3Writer::finish_upload() {
  const std::string parts = completed_upload(tags_);
  HttpCall call;
  call.method = HttpCall::Method::kPost;
  call.body = as_bytes(parts);
  std::string reply;
  try {
    perform(call, {{"uploadId", upload_}}, &reply);
  } catch (const Error& error) {
    // A request that was answered, but whose answer was lost, finds no upload when it is repeated.
    if (error.kind() == ErrorKind::kNotFound && call.progress.tries > 0 && is_there()) return;
    throw;
  }
  // A store that needs time says that it has begun, and in the end that it failed.
  if (const Refusal refusal = parse_refusal(reply); !refusal.code.empty()) {
    fail(ErrorKind::kIo, "cannot write '{}': the store answers '{}': {}", name_, refusal.code, refusal.message);
  }
}

/// Whether an object of our size is there.
bool S3Writer::is_there() const {
  const HttpObject object = bucket_->object(key_);
  objects_->forget(object);
  std::exception_ptr refusal;
  const auto found = objects_->find(object, "write", refusal);
  return found && found->facts.size == size_;
}

void S3Writer::drop_upload() noexcept {
  for (const auto& part : under_way_) part->pending.wait();
  const std::exception_ptr failure = thrown_by([&] {
    HttpCall call;
    call.method = HttpCall::Method::kDelete;
    perform(call, {{"uploadId", upload_}});
  });
  if (!failure) return;
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& error) {
    log(LogLevel::kWarning, "parts of '{}' stay in the store, and are paid for, until they are removed: {}", name_,
        error.what());
  }
}

}  // namespace stoker
