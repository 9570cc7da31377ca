#include "stoker/storage/file_source.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/units.h"
#include "stoker/storage/pread_io.h"

namespace stoker {
namespace {

// Several pieces that are shorter on average cost the kernel and the device more to fill than to copy.
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
  PieceCursor place;           // the first byte not yet there,
  std::uint64_t position = 0;  // which is this one of the file
  std::uint64_t piece = 0;     // bytes from there on that the read under way is for
  MutableBytes into;           // what it reads into: the front of the loan's buffer
};

FileSource::FileSource(std::string path, const FileAccess& access, FileOptions options)
    : name_(std::move(path)),
      options_(options),
      io_(access.file_io),
      io_name_(fmt::format("{}{}", io_->name(), options_.direct ? "+direct" : "")),
      open_files_(access.open_files),
      bounce_pool_(access.bounce_pool),
      file_(name_, name_, options) {
  OpenFile opened = file_.open();
  size_ = opened.facts.size;
  version_ = opened.facts.version();
  open_files_->adopt(file_, std::move(opened));
}

FileSource::~FileSource() {
  if (open_files_->here()) open_files_->forget(file_);
}

std::uint64_t FileSource::size(std::string_view part) const {
  require_no_part(name_, part);
  return size_;
}

std::optional<ObjectIdentity> FileSource::identity(std::string_view part) const {
  if (!part.empty()) return std::nullopt;
  return ObjectIdentity{.place = file_.path(), .version = version_};
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
        resumed.error = thrown_by([&] { source.open_files_->finish(static_cast<OpenFiles::Lease&>(waiter)); });
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
  return thrown_by([&] { require_wanted(name_, request); });
}

/// The plain way, without anything that other threads share.
void FileSource::read_here(const ReadRequest& request) const {
  const OpenFile opened = file_.open_buffered();
  require_success(read_by_preadv(opened.descriptor.get(), request.offset, request.into), request.length());
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
  reading.place = PieceCursor(request.into);
  reading.position = request.offset;
  reading.loan.context = &request;
  reading.loan.resume = [](Waiter& waiter) noexcept {
    auto& resumed = *static_cast<ReadRequest*>(waiter.context);
    static_cast<FileSource*>(resumed.source)->read_piece(resumed);
  };
  bool acquired = false;
  if (std::exception_ptr error = thrown_by([&] { acquired = bounce_pool_->acquire(reading.loan); })) {
    finish(request, std::move(error));
  } else if (acquired) {  // else it may even have been resumed, and done
    read_piece(request);
  }
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
  read.into = Pieces(&reading.into, 1);
  io_->start(read);
}

void FileSource::piece_ended(FileRead& read) noexcept {
  auto& request = *static_cast<ReadRequest*>(read.context);
  auto& source = *static_cast<FileSource*>(request.source);
  auto& reading = request.scratch.get<Reading>();
  if (std::exception_ptr error = thrown_by([&] { source.require_success(read, read.enough); })) {
    return source.finish(request, std::move(error));
  }
  const std::uint64_t lead = reading.position - read.offset;
  reading.place.copy_from(
      Bytes(reading.into).subspan(static_cast<std::size_t>(lead), static_cast<std::size_t>(reading.piece)));
  reading.position += reading.piece;
  source.read_piece(request);
}

void FileSource::whole_ended(FileRead& read) noexcept {
  auto& request = *static_cast<ReadRequest*>(read.context);
  auto& source = *static_cast<FileSource*>(request.source);
  source.finish(request, thrown_by([&] { source.require_success(read, request.length()); }));
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
         std::all_of(request.into.begin(), request.into.end(), [&](MutableBytes piece) {
           return piece.size() % alignment == 0 && reinterpret_cast<std::uintptr_t>(piece.data()) % alignment == 0;
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
    if (!open_files_->acquire(file_, lease, false)) return;
    const auto bytes = static_cast<off_t>(std::min(length, size_ - offset));
    ::posix_fadvise(lease.descriptor, static_cast<off_t>(offset), bytes, POSIX_FADV_WILLNEED);
    open_files_->release(lease);
  } catch (const Error&) {
    // The read will find the same, and tell it.
  }
}

}  // namespace stoker
