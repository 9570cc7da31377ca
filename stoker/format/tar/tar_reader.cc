#include "stoker/format/tar/tar_reader.h"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <new>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/log.h"
#include "stoker/base/units.h"
#include "stoker/format/utf8_locale.h"

namespace stoker {
namespace {

constexpr std::uint64_t kRecord = 512;            // tar's unit: headers, and what data is padded to
constexpr std::uint64_t kAfterEndMax = 64 << 10;  // of what follows the end mark: most tools write up to 9 KiB of zeros

// After a seek only a header is wanted; where members are small and nothing is seeked over, blocks double up to the
// most.
constexpr std::size_t kLeastBlock = 8 * kRecord;
constexpr std::size_t kMostBlock = 512 * kRecord;

/// "gzip", "zstd", ... by the first bytes of a file; empty for anything else.
std::string_view compression_of(Bytes head) {
  struct Magic {
    std::string_view name, bytes;
  };
  static constexpr std::array<Magic, 5> kMagics = {{{"gzip", "\x1f\x8b"},
                                                    {"zstd", "\x28\xb5\x2f\xfd"},
                                                    {"xz", "\xfd\x37zXZ"},
                                                    {"bzip2", "BZh"},
                                                    {"lz4", "\x04\x22\x4d\x18"}}};
  for (const Magic& magic : kMagics) {
    if (as_text(head).starts_with(magic.bytes)) return magic.name;
  }
  return {};
}

}  // namespace

TarReader::TarReader(Source& source)
    : source_(source),
      size_(source.size()),
      archive_(archive_read_new(), archive_read_free),
      block_(kMostBlock),
      block_bytes_(kLeastBlock) {
  if (!archive_) throw std::bad_alloc();
  archive* reader = archive_.get();
  archive_read_support_format_tar(reader);
  archive_read_set_callback_data(reader, this);
  archive_read_set_read_callback(reader, read_block);
  archive_read_set_skip_callback(reader, skip);
  const int status = archive_read_open1(reader);
  rethrow_source_error();
  if (status != ARCHIVE_OK) fail_unreadable(0);
}

bool TarReader::next() {
  const Utf8Locale utf8;
  if (has_member_ && archive_read_data_skip(archive_.get()) != ARCHIVE_OK) {
    rethrow_source_error();
    fail_unreadable(offset_);
  }
  const std::uint64_t last_end = consumed();
  archive_entry* entry = nullptr;
  const int status = archive_read_next_header(archive_.get(), &entry);
  rethrow_source_error();
  if (status == ARCHIVE_EOF) {
    require_end_mark(last_end);
    return false;
  }
  if (status != ARCHIVE_OK && status != ARCHIVE_WARN) fail_unreadable(last_end);
  const char* warning = status == ARCHIVE_WARN ? archive_error_string(archive_.get()) : nullptr;
  take_entry(entry);
  if (warning != nullptr) {
    log(LogLevel::kWarning, "'{}', member '{}': {}", source_.name(), name_, warning);
  }
  return true;
}

void TarReader::take_entry(archive_entry* entry) {
  const auto header = static_cast<std::uint64_t>(archive_read_header_position(archive_.get()));
  const char* path = archive_entry_pathname(entry);
  if (path == nullptr) path = archive_entry_pathname_utf8(entry);
  if (path == nullptr) fail_unreadable(header);

  const std::uint64_t offset = consumed();
  const std::int64_t length = archive_entry_size(entry);
  is_folder_ = archive_entry_filetype(entry) == AE_IFDIR;
  // A sparse file's length does not say how many bytes the archive holds; libarchive checks those as it passes them.
  is_plain_file_ = archive_entry_filetype(entry) == AE_IFREG && archive_entry_hardlink(entry) == nullptr &&
                   archive_entry_sparse_count(entry) == 0;
  const auto bytes = static_cast<std::uint64_t>(length);  // a negative length becomes one that cannot be inside
  if (is_plain_file_ && (offset > size_ || bytes > size_ - offset)) {
    fail(ErrorKind::kData, "'{}' is truncated: its member '{}' has {} at byte {}, but the file ends at byte {}{}",
         source_.name(), path, byte_count(bytes), offset, size_, last_member());
  }
  name_ = path;
  offset_ = offset;
  length_ = is_plain_file_ ? bytes : 0;
  has_member_ = true;
}

std::string TarReader::read(std::size_t limit) {
  std::string text(std::min<std::uint64_t>(limit, length_), '\0');
  const la_ssize_t count = archive_read_data(archive_.get(), text.data(), text.size());
  rethrow_source_error();
  if (count != static_cast<la_ssize_t>(text.size())) fail_unreadable(offset_);
  return text;
}

/// libarchive takes the end of the file for the end of the archive. A whole tar ends in two records of zeros, of which
/// libarchive has then consumed one at least; some tools write but one.
void TarReader::require_end_mark(std::uint64_t last_end) const {
  const std::uint64_t end = consumed();
  if (end >= last_end + kRecord && end <= size_) {
    const std::uint64_t begin = end - kRecord;
    std::vector<std::uint8_t> tail(static_cast<std::size_t>(std::min(size_ - begin, kRecord + kAfterEndMax)));
    read_fully(source_, begin, tail);
    const auto something =
        std::find_if(tail.begin(), tail.end(), [](std::uint8_t byte) { return byte != 0; }) - tail.begin();
    if (static_cast<std::uint64_t>(something) >= kRecord) {
      if (size_ - last_end < 2 * kRecord) {
        log(LogLevel::kWarning, "'{}' ends with half of a tar's end mark: it may have been truncated{}", source_.name(),
            last_member());
      } else if (static_cast<std::size_t>(something) < tail.size()) {
        log(LogLevel::kWarning,
            "'{}' goes on after its end mark, which is at byte {}: what follows is not read; join tars by `tar "
            "--concatenate`, not by `cat`",
            source_.name(), last_end);
      }
      return;
    }
  }
  fail(ErrorKind::kData, "'{}' is truncated: it ends at byte {} without a tar's end mark{}", source_.name(), size_,
       last_member());
}

void TarReader::fail_unreadable(std::uint64_t header) {
  const char* text = archive_error_string(archive_.get());
  const std::string reason = text != nullptr ? text : "not a tar header";
  if (!has_member_) {
    if (size_ == 0)
      fail(ErrorKind::kData, "'{}' is empty; a tar without members has at least its end mark", source_.name());
    std::vector<std::uint8_t> head(std::min<std::uint64_t>(size_, 8));
    read_fully(source_, 0, head);
    if (const std::string_view compression = compression_of(head); !compression.empty()) {
      fail(ErrorKind::kData,
           "'{}' is compressed ({}), so it cannot be read by range; decompress it to a plain tar first", source_.name(),
           compression);
    }
    if (size_ >= kRecord) fail(ErrorKind::kData, "'{}' is not a tar file: {}", source_.name(), reason);
  }
  fail(ErrorKind::kData, "'{}' is truncated or damaged at byte {} of {}: {}{}", source_.name(), header, size_, reason,
       last_member());
}

std::uint64_t TarReader::consumed() const {
  return static_cast<std::uint64_t>(archive_filter_bytes(archive_.get(), 0));
}

std::string TarReader::last_member() const {
  return has_member_ ? fmt::format(" (last good member: '{}')", name_) : " (no member is good)";
}

std::size_t TarReader::gap() const {
  const std::uint64_t gap = source_.gap_in_turn();
  return gap > kHoleReadMax ? static_cast<std::size_t>(gap) : 0;
}

void TarReader::rethrow_source_error() {
  if (source_error_) std::rethrow_exception(std::exchange(source_error_, nullptr));
}

ssize_t TarReader::read_block(archive* handle, void* reader, const void** block) {
  auto& self = *static_cast<TarReader*>(reader);
  const std::size_t wanted = std::max(self.block_bytes_, self.gap());
  const std::uint64_t count = std::min<std::uint64_t>(wanted, self.size_ - self.position_);
  self.source_error_ = thrown_by([&] {
    if (self.block_.size() < count) self.block_.resize(count);
    read_fully(self.source_, self.position_, MutableBytes(self.block_.data(), count));
  });
  if (self.source_error_) {
    archive_set_error(handle, EIO, "the source failed");
    return -1;
  }
  self.position_ += count;
  self.block_bytes_ = std::min(2 * self.block_bytes_, kMostBlock);
  *block = self.block_.data();
  return static_cast<ssize_t>(count);
}

std::int64_t TarReader::skip(archive*, void* reader, std::int64_t count) {
  auto& self = *static_cast<TarReader*>(reader);
  const auto wanted = static_cast<std::uint64_t>(std::max<std::int64_t>(count, 0));
  if (wanted <= self.gap()) return 0;  // then libarchive reads on
  const std::uint64_t step = std::min(wanted, self.size_ - self.position_);
  self.position_ += step;
  self.block_bytes_ = kLeastBlock;
  return static_cast<std::int64_t>(step);
}

}  // namespace stoker
