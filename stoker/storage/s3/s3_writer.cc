#include "stoker/storage/s3/s3_writer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/escaped.h"
#include "stoker/base/parse_number.h"
#include "stoker/base/units.h"
#include "stoker/storage/s3/replies.h"

namespace stoker {
namespace {

constexpr std::size_t kReplyMax = 64 << 10;
constexpr int kCompletionsMax = 3;

/// The tag of an object that was written in parts with these tags, where tags are MD5 sums; else something else.
std::string tag_of_parts(const std::vector<std::string>& tags) {
  std::string sums;
  for (const std::string& tag : tags) {
    for (std::size_t at = 1; at + 2 < tag.size(); at += 2) {
      sums += static_cast<char>(parse_number<unsigned char>(std::string_view(tag).substr(at, 2), 16).value_or(0));
    }
  }
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int length = 0;
  if (EVP_Digest(sums.data(), sums.size(), digest.data(), &length, EVP_md5(), nullptr) != 1) return "";
  return fmt::format("\"{:02x}-{}\"", fmt::join(digest.begin(), digest.begin() + length, ""), tags.size());
}

}  // namespace

struct S3Writer::Part {
  std::vector<std::uint8_t> bytes;
  std::string digest;
  HttpObject object;
  HttpCall call;
  Pending pending;
};

S3Writer::S3Writer(std::shared_ptr<const HttpObjects> objects, std::shared_ptr<const S3Bucket> bucket, std::string key,
                   bool is_sole)
    : objects_(std::move(objects)),
      bucket_(std::move(bucket)),
      uploads_(objects_, bucket_),
      key_(std::move(key)),
      is_sole_(is_sole),
      name_(bucket_->location_of(key_)),
      host_(objects_->transport().host_of(bucket_->object(key_).url)) {}

S3Writer::~S3Writer() {
  if (has_begun_) remove_or_warn(name_, [this] { remove_upload(); });
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

void S3Writer::begin_upload() {
  HttpCall call;
  call.method = HttpCall::Method::kPost;
  std::string reply;
  has_begun_ = true;
  const std::exception_ptr failure = thrown_by([&] { perform(call, {{"uploads", ""}}, &reply); });
  if (failure) {
    if (call.is_final) has_begun_ = false;
    std::rethrow_exception(failure);
  }
  upload_ = parse_upload(reply, name_);
}

void S3Writer::send_part() {
  const std::size_t number = tags_.size() + under_way_.size() + 1;
  if (number > kPartsMost) {
    fail(ErrorKind::kLimit, "cannot write '{}': it is larger than {}", name_, byte_count(kPartBytes * kPartsMost));
  }
  if (upload_.empty()) begin_upload();
  wait_for_parts(kPartsUnderWay - 1);
  Part& part = *under_way_.emplace_back(std::make_unique<Part>());
  part.bytes.swap(filling_);
  part.digest = sha256_hex(part.bytes);
  part.object = bucket_->object(key_, {{"partNumber", std::to_string(number)}, {"uploadId", upload_}});
  describe(part.call, part.object);
  part.call.method = HttpCall::Method::kPut;
  part.call.body = part.bytes;
  part.call.stop = parts_unwanted_.get_token();
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
    has_begun_ = false;
    if (is_sole_) remove_or_warn(name_, [this] { remove_strays(); });
  }
  objects_->forget(bucket_->object(key_));
}

void S3Writer::finish_upload() {
  const std::string parts = completed_upload(tags_);
  // A store that needs time answers that all is well, and in the end that it is not. Then it is asked again.
  Refusal refusal;
  for (int tries = 0; tries < kCompletionsMax; ++tries) {
    refusal = parse_refusal(complete(as_bytes(parts)));
    if (refusal.code.empty()) return;
    if (refusal.code != "InternalError" && refusal.code != "ServiceUnavailable" && refusal.code != "SlowDown") break;
  }
  fail(ErrorKind::kIo, "cannot write '{}': the store answers '{}': {}", name_, escaped(refusal.code),
       escaped(refusal.message));
}

std::string S3Writer::complete(Bytes parts) {
  HttpCall call;
  call.method = HttpCall::Method::kPost;
  call.body = parts;
  std::string reply;
  try {
    perform(call, {{"uploadId", upload_}}, &reply);
  } catch (const Error& error) {
    // The answer may be lost of a request that was carried out: when it is repeated, also by libcurl, there is no
    // upload any more.
    if (error.kind() != ErrorKind::kNotFound || !is_there()) throw;
    reply.clear();
  }
  return reply;
}

/// Whether the object is there that our parts make up.
bool S3Writer::is_there() const {
  const HttpObject object = bucket_->object(key_);
  objects_->forget(object);
  std::exception_ptr refusal;
  const auto found = objects_->find(object, "write", refusal);
  return found && found->facts.size == size_ && found->facts.tag == tag_of_parts(tags_);
}

void S3Writer::remove_upload() {
  parts_unwanted_.request_stop();
  for (const auto& part : under_way_) part->pending.wait();
  if (!upload_.empty()) uploads_.remove({key_, upload_});
  if (is_sole_) remove_strays();
  if (upload_.empty() && !(is_sole_ && bucket_->lists_uploads())) {
    fail(ErrorKind::kIo, "the store did not answer when they were begun");
  }
}

/// Other uploads of the object.
void S3Writer::remove_strays() const {
  for (const OpenUpload& upload : uploads_.list(key_)) {
    if (upload.key == key_) uploads_.remove(upload);
  }
}

}  // namespace stoker
