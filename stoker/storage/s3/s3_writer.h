// Writes an object of a bucket: a small one by one request, a larger one in parts that are sent while it is made. It is
// there when it is committed, or not at all; and then no upload of it is left open, neither one whose beginning was
// repeated since the answer was lost, nor that of a process that was killed.
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

namespace stoker {

class S3Writer final : public ObjectWriter {
 public:
  static constexpr std::size_t kPartBytes = 8 << 20;
  static constexpr std::size_t kPartsMost = 10'000;  // of an object: S3's limit
  static constexpr std::size_t kPartsUnderWay = 4;   // each with its bytes in memory

  /// Asks the store for nothing yet.
  S3Writer(std::shared_ptr<const HttpObjects> objects, std::shared_ptr<const S3Bucket> bucket, std::string key);
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
  /// The same for a request that helps to remove what is not wanted, also when all else was stopped; then it is soon
  /// given up.
  void tidy_up(HttpCall& call, const HttpObject& object, std::string* reply = nullptr);
  void describe(HttpCall& call, const HttpObject& object) const;
  bool is_there() const;
  void drop_upload() noexcept;
  void remove_upload();
  void remove_strays() noexcept;
  std::vector<std::string> list_uploads();
  void remove_parts(const std::string& upload);

  const std::shared_ptr<const HttpObjects> objects_;
  const std::shared_ptr<const S3Bucket> bucket_;
  const std::string key_, name_;
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
