#include "stoker/storage/file_source.h"

#include <fcntl.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <utility>

#include "stoker/base/units.h"
#include "stoker/storage/pread_io.h"
#include "stoker/storage/range_check.h"

namespace stoker {
namespace {

// Several segments that are shorter on average cost the kernel and the device more to fill than to copy.
constexpr std::uint64_t kStraightMean = 16 << 10;

std::uint64_t align_down(std::uint64_t value, std::uint64_t alignment) { return value - value % alignment; }
std::uint64_t align_up(std::uint64_t value, std::uint64_t alignment) {
  return align_down(value + alignment - 1, alignment);
}

}  // namespace

/// A request between start() and done().
struct FileSource::Reading {
  OpenFiles::Lease lease;
  FileRead read;
  // Direct and not aligned:
  BouncePool::Loan loan;
  SegmentCursor place;         // the first byte not yet there,
  std::uint64_t position = 0;  // which is this one of the file
  std::uint64_t piece = 0;     // bytes from there on that the read under way is for
  MutableBytes into;           // what it reads into: the front of the loan's buffer
};

FileSource::FileSource(std::string path, const FileAccess& access, FileOptions options,
                       std::optional<std::uint64_t> known_size)
    : name_(std::move(path)),
      options_(options),
      io_(access.file_io),
      io_name_(fmt::format("{}{}", io_->name(), options_.direct ? "+direct" : "")),
      open_files_(access.open_files),
      bounce_pool_(access.bounce_pool),
      file_(name_, name_, options, known_size) {
  if (known_size) {
    size_ = *known_size;
    return;
  }
  OpenFile opened = file_.open();
  size_ = opened.facts.size;
  open_files_->adopt(file_, std::move(opened));
}

FileSource::~FileSource() {
  if (open_files_->here()) open_files_->forget(file_);
}

std::uint64_t FileSource::size(std::string_view part) const {
  require_no_part(name_, part);
  return size_;
}

void FileSource::start(ReadRequest& request) {
  request.error = nullptr;
  request.source = this;
  try {
    require_wanted(name_, request);
    require_no_part(name_, request.part);
    require_range_inside(name_, size_, request.offset, request.length());
    if (!open_files_->here()) {
      read_here(request);
    } else if (request.length() > 0) {
      auto& reading = request.scratch.make<Reading>();
      reading.lease.context = &request;
      reading.lease.resume = [](Waiter& waiter) noexcept {
        auto& resumed = *static_cast<ReadRequest*>(waiter.context);
        auto& source = *static_cast<FileSource*>(resumed.source);
        try {
          source.open_files_->finish(static_cast<OpenFiles::Lease&>(waiter));
        } catch (...) {
          resumed.error = std::current_exception();
        }
        // Outside of the handler, which would hold on to the error while it is the caller's already.
        if (resumed.error) return resumed.done(resumed);
        source.read_opened(resumed);
      };
      if (open_files_->acquire(file_, reading.lease)) read_opened(request);
      return;
    }
  } catch (...) {
    request.error = std::current_exception();
  }
  request.done(request);
}

/// Null for a request that is still wanted, now that it has waited.
std::exception_ptr FileSource::why_unwanted(const ReadRequest& request) const noexcept {
  try {
    require_wanted(name_, request);
    return nullptr;
  } catch (...) {
    return std::current_exception();
  }
}

/// The plain way, without anything that other threads share.
void FileSource::read_here(const ReadRequest& request) const {
  const OpenFile opened = file_.open_buffered();
  FileRead read;
  read.fd = opened.descriptor.get();
  read.offset = request.offset;
  read.into = request.into;
  read_by_preadv(read);
  require_success(read, request.length());
}

void FileSource::read_opened(ReadRequest& request) noexcept {
  auto& reading = request.scratch.get<Reading>();
  if (std::exception_ptr unwanted = why_unwanted(request)) return finish(request, std::move(unwanted));
  reading.read.fd = reading.lease.descriptor;
  reading.read.context = &request;
  if (options_.direct) reading.read.alignment = file_.facts().direct_alignment;
  if (!options_.direct || goes_straight(request)) {
    reading.read.offset = request.offset;
    reading.read.into = request.into;
    reading.read.ended = &whole_ended;
    return io_->start(reading.read);
  }

  reading.read.ended = &piece_ended;
  reading.place = SegmentCursor(request.into);
  reading.position = request.offset;
  reading.loan.context = &request;
  reading.loan.resume = [](Waiter& waiter) noexcept {
    auto& resumed = *static_cast<ReadRequest*>(waiter.context);
    static_cast<FileSource*>(resumed.source)->read_piece(resumed);
  };
  std::exception_ptr error;
  try {
    if (!bounce_pool_->acquire(reading.loan)) return;  // it may even have been resumed, and done
  } catch (...) {
    error = std::current_exception();
  }
  if (error) return finish(request, std::move(error));
  read_piece(request);
}

/// Reads as much of what is left as fits into the bounce buffer, up to the next long hole.
void FileSource::read_piece(ReadRequest& request) noexcept {
  auto& reading = request.scratch.get<Reading>();
  FileRead& read = reading.read;
  const std::uint64_t hole = reading.place.hole_to_pass(kHoleReadMax);
  reading.place.pass(hole);
  reading.position += hole;
  if (reading.place.at_end()) return finish(request, nullptr);
  if (std::exception_ptr unwanted = why_unwanted(request)) return finish(request, std::move(unwanted));

  read.offset = align_down(reading.position, read.alignment);
  const std::uint64_t lead = reading.position - read.offset;
  reading.piece = std::min(reading.place.stretch(kHoleReadMax), reading.loan.buffer.size() - lead);
  read.enough = lead + reading.piece;
  reading.into = reading.loan.buffer.first(static_cast<std::size_t>(align_up(read.enough, read.alignment)));
  read.into = Segments(&reading.into, 1);
  io_->start(read);
}

void FileSource::piece_ended(FileRead& read) noexcept {
  auto& request = *static_cast<ReadRequest*>(read.context);
  auto& source = *static_cast<FileSource*>(request.source);
  auto& reading = request.scratch.get<Reading>();
  std::exception_ptr error;
  try {
    source.require_success(read, read.enough);
  } catch (...) {
    error = std::current_exception();
  }
  if (error) return source.finish(request, std::move(error));
  const std::uint64_t lead = reading.position - read.offset;
  reading.place.copy_from(
      Bytes(reading.into).subspan(static_cast<std::size_t>(lead), static_cast<std::size_t>(reading.piece)));
  reading.position += reading.piece;
  source.read_piece(request);
}

void FileSource::whole_ended(FileRead& read) noexcept {
  auto& request = *static_cast<ReadRequest*>(read.context);
  auto& source = *static_cast<FileSource*>(request.source);
  std::exception_ptr error;
  try {
    source.require_success(read, request.length());
  } catch (...) {
    error = std::current_exception();
  }
  source.finish(request, std::move(error));
}

void FileSource::finish(ReadRequest& request, std::exception_ptr error) noexcept {
  auto& reading = request.scratch.get<Reading>();
  if (!reading.loan.buffer.empty()) bounce_pool_->release(reading.loan);
  open_files_->release(reading.lease);
  request.error = std::move(error);
  request.done(request);  // the caller may destroy both the request and this source from here on
}

/// Whether a direct read can go straight to the request's memory, and is worth it.
bool FileSource::goes_straight(const ReadRequest& request) const {
  if (request.into.size() > 1 && request.length() < kStraightMean * request.into.size()) return false;
  const std::uint64_t alignment = file_.facts().direct_alignment;
  return request.offset % alignment == 0 &&
         std::all_of(request.into.begin(), request.into.end(), [&](MutableBytes segment) {
           return segment.size() % alignment == 0 && reinterpret_cast<std::uintptr_t>(segment.data()) % alignment == 0;
         });
}

void FileSource::require_success(const FileRead& read, std::uint64_t wanted) const {
  if (read.error == EINVAL && options_.direct) fail_not_direct(name_);
  if (read.error != 0) fail_system("read", name_, read.error);
  if (read.count < wanted) {
    fail(ErrorKind::kData, "'{}' was truncated while in use: it had {} when opened and now ends at byte {}", name_,
         byte_count(size_), read.position());
  }
}

void FileSource::require_same_file_as(const FileSource& other) const {
  require_same_file(name_, other.file_.facts(), file_.facts());
}

void FileSource::will_need(std::uint64_t offset, std::uint64_t length, std::string_view part) {
  if (options_.direct || !part.empty() || offset >= size_ || length == 0 || !open_files_->here()) return;
  try {
    OpenFiles::Lease lease;
    if (!open_files_->try_acquire(file_, lease)) return;
    const auto bytes = static_cast<off_t>(std::min(length, size_ - offset));
    ::posix_fadvise(lease.descriptor, static_cast<off_t>(offset), bytes, POSIX_FADV_WILLNEED);
    open_files_->release(lease);
  } catch (const Error&) {
    // The read will find the same, and tell it.
  }
}

}  // namespace stoker
