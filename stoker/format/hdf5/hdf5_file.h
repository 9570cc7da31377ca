// An HDF5 file as a space of addresses, and the fields of the structures in it. Numbers are little-endian; how many
// bytes an address ("offset" in HDF5's own words) and a length have is said in the superblock:
//
//   superblock 0, 1  the signature; u8 version, 4 further versions; u8 bytes of addresses, u8 of lengths, 0; 2 x u16
//                    sizes of nodes; u32 flags; version 1: u16 another size, u16 0; addresses: the base, free space,
//                    end of file, driver; the root group as an entry of a symbol table (hdf5_group.h)
//   superblock 2, 3  the signature; u8 version, u8 bytes of addresses, u8 of lengths, u8 flags; addresses: the base, an
//                    extension, end of file, the root group's header; u32 checksum
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/bytes.h"
#include "stoker/format/ascending_reader.h"
#include "stoker/storage/source.h"

namespace stoker {

inline constexpr std::string_view kHdf5Signature = "\x89HDF\r\n\x1a\n";
/// An address that is none, and a number of elements that has no bound.
inline constexpr std::uint64_t kHdf5Nowhere = ~std::uint64_t{0};

/// Whether newer structures, which have checksums, are compared with them; a fuzzer does not know how to.
enum class Hdf5Checksums { kChecked, kIgnored };

/// The checksum of HDF5's metadata: Bob Jenkins' lookup3 ("hashlittle") with the initial value 0.
std::uint32_t hdf5_checksum(Bytes bytes);

/// The bytes of one structure, taken from its front. Whatever it lacks is an error (kData) that names the file, the
/// structure and its address.
class Hdf5Fields {
 public:
  /// What `of_file` and `what` show must outlive it: `what` is a noun ("a node of a group").
  Hdf5Fields(std::string_view of_file, std::string_view what, std::uint64_t address, std::vector<std::uint8_t> bytes)
      : of_file_(of_file), what_(what), address_(address), bytes_(std::move(bytes)) {}

  std::size_t left() const { return bytes_.size() - at_; }
  /// Where in the file (or as far as it was read) the next byte is.
  std::uint64_t address() const { return address_ + at_; }
  Bytes all() const { return bytes_; }

  Bytes take(std::size_t count);
  void skip(std::size_t count) { take(count); }
  /// Of 1 to 8 bytes.
  std::uint64_t number(std::size_t bytes);
  std::uint8_t u8() { return static_cast<std::uint8_t>(number(1)); }
  std::uint16_t u16() { return static_cast<std::uint16_t>(number(2)); }
  std::uint32_t u32() { return static_cast<std::uint32_t>(number(4)); }
  /// kHdf5Nowhere if all of its bits are set.
  std::uint64_t address(std::size_t bytes);
  /// Throws unless the next bytes are these.
  void expect(std::string_view signature);
  /// Throws unless it is one of the versions that Stoker knows.
  std::uint8_t version(std::uint8_t from, std::uint8_t to);

  [[noreturn]] void refuse(std::string_view why) const;

 private:
  std::string_view of_file_, what_;
  std::uint64_t address_;
  std::vector<std::uint8_t> bytes_;
  std::size_t at_ = 0;
};

/// Threads: one.
class Hdf5File {
 public:
  /// Reads the superblock. The source must outlive it. Throws kData naming the file if it is not one, or truncated.
  Hdf5File(Source& source, Hdf5Checksums checksums);

  const std::string& name() const { return source_.name(); }
  std::uint64_t root() const { return root_; }  // address of the root group's header
  std::size_t address_bytes() const { return address_bytes_; }
  std::size_t length_bytes() const { return length_bytes_; }
  /// Bytes of the file, from the base on.
  std::uint64_t size() const { return source_.size() - base_; }

  /// The bytes of a structure. Throws kData if they do not lie in the file, kLimit if they are more than
  /// kStructureBytesMax. `what` must outlive what is returned.
  Hdf5Fields read(std::uint64_t address, std::uint64_t bytes, std::string_view what);
  /// The same for a structure whose last four bytes are the checksum of the others; they are left out.
  Hdf5Fields read_checked(std::uint64_t address, std::uint64_t bytes, std::string_view what);
  /// Where in the source the address is. Throws kData if the bytes do not lie in the file.
  std::uint64_t place(std::uint64_t address, std::uint64_t bytes, std::string_view what) const;

  static constexpr std::uint64_t kStructureBytesMax = std::uint64_t{64} << 20;

 private:
  void read_superblock();
  void read_old_superblock(std::uint8_t version);
  void read_new_superblock();
  void check_sizes() const;
  [[noreturn]] void refuse(std::string_view why) const;

  Source& source_;
  const Hdf5Checksums checksums_;
  AscendingReader bytes_;
  std::uint64_t base_ = 0, root_ = kHdf5Nowhere;
  std::size_t address_bytes_ = 8, length_bytes_ = 8;
};

}  // namespace stoker
