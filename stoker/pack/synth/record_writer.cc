#include "stoker/pack/synth/record_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "stoker/base/little_endian.h"
#include "stoker/codec/image_encoder.h"
#include "stoker/format/parquet/parquet_writer.h"
#include "stoker/format/tfrecord/tfrecord_writer.h"
#include "stoker/pack/synth/npz_writer.h"
#include "stoker/storage/object_writer.h"
#include "stoker/storage/posix_file.h"

namespace stoker {
namespace {

/// A file that appears as it is written, and goes away unless it is committed.
class GrowingFile final : public ObjectWriter {
 public:
  explicit GrowingFile(const std::string& path)
      : path_(path), file_(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)) {
    if (!file_) fail_system("create", path, errno);
  }
  ~GrowingFile() override {
    if (!is_whole_) ::unlink(path_.c_str());
  }
  GrowingFile(const GrowingFile&) = delete;
  GrowingFile& operator=(const GrowingFile&) = delete;

  const std::string& name() const override { return path_; }
  void write(Bytes bytes) override {
    if (held_.size() + bytes.size() <= kHeldBytesMax) {
      held_.insert(held_.end(), bytes.begin(), bytes.end());
      return;
    }
    write_held();
    write_fully(file_, bytes, path_);
  }
  void commit() override {
    write_held();
    if (::close(file_.release()) != 0) fail_system("write", path_, errno);
    is_whole_ = true;
  }

 private:
  static constexpr std::size_t kHeldBytesMax = std::size_t{1} << 20;

  void write_held() {
    write_fully(file_, held_, path_);
    held_.clear();
  }

  const std::string path_;
  FileDescriptor file_;
  bool is_whole_ = false;
  std::vector<std::uint8_t> held_;  // small pieces, to be written together
};

void fill_with_noise(Random& random, MutableBytes bytes) {
  std::size_t at = 0;
  for (; at + sizeof(std::uint64_t) <= bytes.size(); at += sizeof(std::uint64_t)) {
    store_little_endian(bytes.data() + at, random.next_u64());
  }
  for (; at < bytes.size(); ++at) bytes[at] = static_cast<std::uint8_t>(random.next_u32());
}

/// Noise that does not happen to begin as a picture: readers would take it for one.
Bytes noise_record(std::vector<std::uint8_t>& scratch, std::uint64_t bytes, Random& random) {
  constexpr std::uint8_t kNoPicture = 1;
  scratch.resize(bytes);
  fill_with_noise(random, scratch);
  scratch[0] = kNoPicture;
  return scratch;
}

class TfRecords final : public RecordWriter {
 public:
  explicit TfRecords(std::unique_ptr<ObjectWriter> object) : file_(std::move(object)) {}

  void add(std::uint64_t bytes, Random& random) override {
    example_.clear();
    example_.add_bytes("image", {noise_record(record_, bytes, random)});
    example_.add_integers("size", {static_cast<std::int64_t>(std::sqrt(static_cast<double>(bytes)))});
    file_.add(example_.message());
  }
  void finish() override { file_.finish(); }

 private:
  TfRecordWriter file_;
  ExampleBuilder example_;
  std::vector<std::uint8_t> record_;
};

class NpzRecord final : public RecordWriter {
 public:
  explicit NpzRecord(std::unique_ptr<ObjectWriter> object) : file_(std::move(object)) {}

  void add(std::uint64_t bytes, Random& random) override {
    // Nearly square, and as long as that permits.
    const auto height = static_cast<std::uint64_t>(std::sqrt(static_cast<double>(bytes)));
    const std::uint64_t width = bytes / height;
    const NpyArray record{.type = "u1", .shape = {1, height, width}};
    const NpyArray label{.type = "i8", .shape = {1}};
    constexpr std::array<std::uint8_t, sizeof(std::int64_t)> kLabel{};
    record_.resize(height * width);
    fill_with_noise(random, record_);
    file_.add("x", record, record_);
    file_.add("y", label, kLabel);
  }
  void finish() override { file_.finish(); }

 private:
  NpzWriter file_;
  std::vector<std::uint8_t> record_;
};

class ParquetRecords final : public RecordWriter {
 public:
  explicit ParquetRecords(std::unique_ptr<ObjectWriter> object)
      : file_(std::move(object), {{.name = "record"}},
              R"({"info": {"features": {"record": {"dtype": "binary", "_type": "Value"}}}})") {}

  void add(std::uint64_t bytes, Random& random) override {
    const std::array<std::optional<Bytes>, 1> row{noise_record(record_, bytes, random)};
    file_.add(row);
  }
  void finish() override { file_.finish(); }

 private:
  ParquetWriter file_;
  std::vector<std::uint8_t> record_;
};

class JpegRecord final : public RecordWriter {
 public:
  explicit JpegRecord(std::unique_ptr<ObjectWriter> object) : object_(std::move(object)) {}

  void add(std::uint64_t bytes, Random& random) override {
    auto side = std::max(8, static_cast<int>(std::sqrt(static_cast<double>(bytes) / kBytesPerPixel)));
    std::vector<std::uint8_t> noise(static_cast<std::size_t>(side) * static_cast<std::size_t>(side)), jpeg;
    fill_with_noise(random, noise);
    const JpegEncodeOptions encoding{.quality = kQuality, .optimize = false};
    for (;; side = side * 31 / 32) {
      encode_jpeg(interleaved_view(noise.data(), side, side, 1), encoding, jpeg);
      const bool is_full = jpeg.size() == bytes, has_room = jpeg.size() + kSegmentBytesMin <= bytes;
      if (is_full || has_room || side <= 8) break;
    }
    write(jpeg, bytes > jpeg.size() ? bytes - jpeg.size() : 0);
  }
  void finish() override { object_->commit(); }

 private:
  static constexpr int kQuality = 75;
  static constexpr double kBytesPerPixel = 0.75;  // a little more than noise takes at that quality
  // A comment's marker and length; and with all that the length can say.
  static constexpr std::uint64_t kSegmentBytesMin = 4, kSegmentBytesMax = 2 + 65535;

  /// With comments of `filling` bytes in all behind the first segment, which has to be the first.
  void write(Bytes jpeg, std::uint64_t filling) {
    constexpr std::size_t kFirstSegmentAt = 2;
    const std::size_t behind =
        kFirstSegmentAt + 2 + std::size_t{jpeg[kFirstSegmentAt + 2]} * 256 + jpeg[kFirstSegmentAt + 3];
    object_->write(jpeg.first(behind));
    while (filling >= kSegmentBytesMin) {
      std::uint64_t length = std::min(filling, kSegmentBytesMax);
      const std::uint64_t left = filling - length;
      if (left > 0 && left < kSegmentBytesMin) length -= kSegmentBytesMin;
      std::vector<std::uint8_t> comment(length, ' ');
      const std::uint64_t said = length - 2;
      comment[0] = 0xFF;
      comment[1] = 0xFE;
      comment[2] = static_cast<std::uint8_t>(said >> 8);
      comment[3] = static_cast<std::uint8_t>(said);
      object_->write(comment);
      filling -= length;
    }
    object_->write(jpeg.subspan(behind));
  }

  std::unique_ptr<ObjectWriter> object_;
};

}  // namespace

std::unique_ptr<RecordWriter> make_record_writer(std::string_view format, const std::string& path) {
  auto file = std::make_unique<GrowingFile>(path);
  if (format == "tfrecord") return std::make_unique<TfRecords>(std::move(file));
  if (format == "npz") return std::make_unique<NpzRecord>(std::move(file));
  if (format == "parquet") return std::make_unique<ParquetRecords>(std::move(file));
  assert(format == "jpeg");
  return std::make_unique<JpegRecord>(std::move(file));
}

}  // namespace stoker
