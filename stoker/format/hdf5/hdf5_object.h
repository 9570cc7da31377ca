// The header of an object, a group or a dataset: a list of messages, in one block or several.
//
//   version 1     u8 1, u8 0, u16 messages, u32 references, u32 bytes of the first block, u32 0; then the block
//   a message     u16 kind, u16 bytes, u8 flags, 3 x u8 0, the bytes
//   version 2     "OHDR", u8 2, u8 flags (bits 0-1 how many bytes the size of the first block has, 2 whether messages
//   have
//                 numbers, 4 whether 4 bytes about attributes follow, 5 whether 16 bytes of times follow), [times],
//                 [attributes], the size; the block; u32 checksum
//   a message     u8 kind, u16 bytes, u8 flags, [u16 number], the bytes
//   another block of version 2 has "OCHK" in front and a u32 checksum at its end; one of version 1 has messages alone
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "stoker/format/hdf5/hdf5_file.h"

namespace stoker {

/// The kinds of messages that Stoker looks at.
enum class Hdf5MessageKind : std::uint16_t {
  kDataspace = 0x01,
  kLinkInfo = 0x02,
  kDatatype = 0x03,
  kLink = 0x06,
  kExternalFiles = 0x07,
  kLayout = 0x08,
  kFilters = 0x0B,
  kContinuation = 0x10,
  kSymbolTable = 0x11,
};

struct Hdf5Message {
  Hdf5MessageKind kind{};
  bool is_shared = false;     // it says where the message is
  std::uint64_t address = 0;  // of its bytes
  std::uint64_t bytes = 0;
};

/// Threads: one.
class Hdf5Object {
 public:
  /// Reads the header. Throws kData if it is damaged or truncated.
  Hdf5Object(Hdf5File& file, std::uint64_t address);

  std::uint64_t address() const { return address_; }
  /// The first of that kind; null without one.
  const Hdf5Message* find(Hdf5MessageKind kind) const;
  const std::vector<Hdf5Message>& messages() const { return messages_; }

  static constexpr std::size_t kBlocksMax = 4096;
  static constexpr std::size_t kMessagesMax = 65536;

 private:
  struct Block {
    std::uint64_t address = 0, bytes = 0;
  };

  void read_old(Hdf5File& file);
  void read_new(Hdf5File& file);
  void read_messages(Hdf5File& file, Hdf5Fields& block, std::uint64_t begin);
  template <typename ReadBlock>
  void read_continuations(Hdf5File& file, const ReadBlock& read_block);

  std::uint64_t address_;
  bool is_new_ = false, are_numbered_ = false;
  std::vector<Hdf5Message> messages_;
  std::vector<Block> blocks_;  // that are known of, apart from the first
};

}  // namespace stoker
