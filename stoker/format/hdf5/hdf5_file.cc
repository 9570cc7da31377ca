#include "stoker/format/hdf5/hdf5_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "stoker/base/error.h"
#include "stoker/base/little_endian.h"
#include "stoker/base/units.h"

namespace stoker {
namespace {

constexpr std::size_t kSuperblockHeadBytes = 9;  // the signature and the version
constexpr std::size_t kChecksumBytes = 4;
constexpr std::string_view kSuperblock = "the superblock";

/// Three numbers that are stirred, twelve bytes at a time.
struct Lookup3 {
  std::uint32_t a, b, c;

  void mix() {
    constexpr std::array<int, 6> kTurns = {4, 6, 8, 16, 19, 4};
    for (const int turn : kTurns) {
      a -= c;
      a ^= std::rotl(c, turn);
      c += b;
      const std::uint32_t first = a;
      a = b;
      b = c;
      c = first;
    }
  }

  void finish() {
    constexpr std::array<int, 7> kTurns = {14, 11, 25, 16, 4, 14, 24};
    for (const int turn : kTurns) {
      c ^= b;
      c -= std::rotl(b, turn);
      const std::uint32_t last = c;
      c = a;
      a = b;
      b = last;
    }
    c = b;  // what was computed last
  }
};

}  // namespace

std::uint32_t hdf5_checksum(Bytes bytes) {
  const auto start = 0xdeadbeef + static_cast<std::uint32_t>(bytes.size());
  Lookup3 state{start, start, start};
  const auto add = [&](Bytes part) {
    state.a += load_little_endian<std::uint32_t>(part.data());
    state.b += load_little_endian<std::uint32_t>(part.data() + 4);
    state.c += load_little_endian<std::uint32_t>(part.data() + 8);
  };
  if (bytes.empty()) return state.c;
  while (bytes.size() > 12) {
    add(bytes.first(12));
    state.mix();
    bytes = bytes.subspan(12);
  }
  std::array<std::uint8_t, 12> last{};
  std::copy(bytes.begin(), bytes.end(), last.begin());
  add(last);
  state.finish();
  return state.c;
}

Bytes Hdf5Fields::take(std::size_t count) {
  if (count > left()) refuse("it ends too early");
  const Bytes taken = Bytes(bytes_).subspan(at_, count);
  at_ += count;
  return taken;
}

std::uint64_t Hdf5Fields::number(std::size_t bytes) {
  std::uint64_t value = 0;
  std::size_t shift = 0;
  for (const std::uint8_t byte : take(bytes)) {
    value |= std::uint64_t{byte} << shift;
    shift += 8;
  }
  return value;
}

std::uint64_t Hdf5Fields::address(std::size_t bytes) {
  const std::uint64_t value = number(bytes);
  return value == kHdf5Nowhere >> (64 - 8 * bytes) ? kHdf5Nowhere : value;
}

void Hdf5Fields::expect(std::string_view signature) {
  if (left() < signature.size() || as_text(take(signature.size())) != signature) {
    refuse(fmt::format("it does not begin with '{}'", signature));
  }
}

std::uint8_t Hdf5Fields::version(std::uint8_t from, std::uint8_t to) {
  const std::uint8_t version = u8();
  if (version < from || version > to) refuse(fmt::format("its version is {}", version));
  return version;
}

void Hdf5Fields::refuse(std::string_view why) const {
  fail(ErrorKind::kData, "'{}' is damaged: {} at byte {}: {}", of_file_, what_, address_, why);
}

Hdf5File::Hdf5File(Source& source, Hdf5Checksums checksums) : source_(source), checksums_(checksums), bytes_(source) {
  // What people put in front of the file is of 512 bytes, or of a power of two above.
  for (std::uint64_t at = 0; source.size() >= at + kSuperblockHeadBytes; at = at == 0 ? 512 : 2 * at) {
    if (as_text(bytes_.read(at, kHdf5Signature.size())) != kHdf5Signature) continue;
    base_ = at;
    read_superblock();
    return;
  }
  fail(ErrorKind::kData, "'{}' is not an HDF5 file, or truncated: it has no superblock", name());
}

void Hdf5File::refuse(std::string_view why) const { fail(ErrorKind::kData, "'{}': {}", name(), why); }

void Hdf5File::read_superblock() {
  const std::uint8_t version = bytes_.read(base_ + kHdf5Signature.size(), 1)[0];
  if (version > 3) refuse(fmt::format("the version of its superblock is {}, and Stoker knows 0 to 3", version));
  version < 2 ? read_old_superblock(version) : read_new_superblock();
}

void Hdf5File::check_sizes() const {
  const auto is_known = [](std::size_t bytes) { return bytes == 4 || bytes == 8; };
  if (is_known(address_bytes_) && is_known(length_bytes_)) return;
  refuse(fmt::format("its addresses have {} and its lengths {}; Stoker reads those of 4 and 8",
                     byte_count(address_bytes_), byte_count(length_bytes_)));
}

void Hdf5File::read_old_superblock(std::uint8_t version) {
  constexpr std::size_t kUpToSizes = kSuperblockHeadBytes + 6;
  Hdf5Fields head = read(0, kUpToSizes, kSuperblock);
  head.skip(kSuperblockHeadBytes + 4);
  address_bytes_ = head.u8();
  length_bytes_ = head.u8();
  check_sizes();
  const std::size_t more = version == 0 ? 0 : 4;
  Hdf5Fields fields = read(0, kUpToSizes + 9 + more + 6 * address_bytes_, kSuperblock);
  fields.skip(kUpToSizes + 9 + more);
  const std::uint64_t base = fields.address(address_bytes_);
  fields.skip(address_bytes_);
  const std::uint64_t end = fields.address(address_bytes_);
  fields.skip(2 * address_bytes_);  // the driver, and the name of the root group
  root_ = fields.address(address_bytes_);
  if (base == kHdf5Nowhere || end < base) fields.refuse("its end of file lies before its beginning");
  place(0, end - base, "what the superblock tells of");
}

void Hdf5File::read_new_superblock() {
  Hdf5Fields head = read(0, kSuperblockHeadBytes + 3, kSuperblock);
  head.skip(kSuperblockHeadBytes);
  address_bytes_ = head.u8();
  length_bytes_ = head.u8();
  check_sizes();
  Hdf5Fields fields = read_checked(0, kSuperblockHeadBytes + 3 + 4 * address_bytes_ + kChecksumBytes, kSuperblock);
  fields.skip(kSuperblockHeadBytes + 3);
  const std::uint64_t base = fields.address(address_bytes_);
  fields.skip(address_bytes_);
  const std::uint64_t end = fields.address(address_bytes_);
  root_ = fields.address(address_bytes_);
  if (base == kHdf5Nowhere || end < base) fields.refuse("its end of file lies before its beginning");
  place(0, end - base, "what the superblock tells of");
}

std::uint64_t Hdf5File::place(std::uint64_t address, std::uint64_t bytes, std::string_view what) const {
  if (address > size() || bytes > size() - address) {
    fail(ErrorKind::kData, "'{}' is truncated or damaged: {} would lie at byte {} and have {}, and the file has {}",
         name(), what, base_ + std::min(address, ~base_), byte_count(bytes), byte_count(source_.size()));
  }
  return base_ + address;
}

Hdf5Fields Hdf5File::read(std::uint64_t address, std::uint64_t bytes, std::string_view what) {
  const std::uint64_t at = place(address, bytes, what);
  if (bytes > kStructureBytesMax) {
    fail(ErrorKind::kLimit, "'{}': {} at byte {} has {}; the limit is {}", name(), what, at, byte_count(bytes),
         byte_count(kStructureBytesMax));
  }
  const Bytes read = bytes_.read(at, static_cast<std::size_t>(bytes));
  return {name(), what, at, {read.begin(), read.end()}};
}

Hdf5Fields Hdf5File::read_checked(std::uint64_t address, std::uint64_t bytes, std::string_view what) {
  Hdf5Fields fields = read(address, bytes, what);
  const Bytes all = fields.all();
  if (all.size() < kChecksumBytes) fields.refuse("it has no checksum");
  const Bytes content = all.first(all.size() - kChecksumBytes);
  const auto told = load_little_endian<std::uint32_t>(all.data() + content.size());
  if (checksums_ == Hdf5Checksums::kChecked && told != hdf5_checksum(content)) {
    fields.refuse("its checksum does not match");
  }
  return {name(), what, base_ + address, {content.begin(), content.end()}};
}

}  // namespace stoker
