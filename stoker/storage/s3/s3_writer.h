// Writes an object of a bucket: a small one by one request, a larger one in parts that are sent while it is made. It is
// there when it is committed, or not at all.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "stoker/base/pending.h"
#include "stoker/storage/http/http_objects.h"
#include "stoker/storage/object_writer.h"
#include "stoker/storage/s3/s3_bucket.h"
#include "stoker/storage/s3/s3_uploads.h"

namespace stoker {

class S3Writer final : public ObjectWriter {
 public:
  static constexpr std::size_t kPartBytes = 8 << 20;
  static constexpr std::size_t kPartsMost = 10'000;  // of an object: S3's limit
  static constexpr std::size_t kPartsUnderWay = 4;   // each with its bytes in memory

  /// Asks the store for nothing yet. `is_sole`: no other writes the object at the same time. Then no upload of it is
  /// left open, neither one whose beginning was repeated since the answer was lost, nor that of a process that was
  /// killed.
  S3Writer(std::shared_ptr<const HttpObjects> objects, std::shared_ptr<const S3Bucket> bucket, std::string key,
           bool is_sole);
  ~S3Writer() override;

  const std::string& name() const override { return name_; }
  void write(Bytes bytes) override;
  void commit() override;

 private:
  struct Part;

  void begin_upload();
  void send_part();
  void wait_for_parts(std::size_t most_left);
  void finish_upload();
  /// Asks for it once; returns what the store answers.
  std::string complete(Bytes parts);
  /// Makes a request for something about the object, and throws its error.
  void perform(HttpCall& call, const NamedTexts& query, std::string* reply = nullptr);
  void describe(HttpCall& call, const HttpObject& object) const;
  bool is_there() const;
  void remove_upload();
  void remove_strays() const;

  const std::shared_ptr<const HttpObjects> objects_;
  const std::shared_ptr<const S3Bucket> bucket_;
  const S3Uploads uploads_;
  const std::string key_;
  const bool is_sole_;
  const std::string name_;
  const std::shared_ptr<HttpHost> host_;

  std::vector<std::uint8_t> filling_;  // bytes of the next part
  std::uint64_t size_ = 0;
  bool has_begun_ = false;  // so that there may be an upload, even where the store's answer did not tell its identity
  std::string upload_;      // empty until the first part is sent
  std::stop_source parts_unwanted_;
  std::deque<std::unique_ptr<Part>> under_way_;
  std::vector<std::string> tags_;  // of the parts that were taken
};

}  // namespace stoker
