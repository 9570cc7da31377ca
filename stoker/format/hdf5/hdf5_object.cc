#include "stoker/format/hdf5/hdf5_object.h"

#include <algorithm>

#include "stoker/base/error.h"

namespace stoker {
namespace {

constexpr std::string_view kHeader = "the header of an object", kFurtherBlock = "a further block of an object's header";
constexpr std::size_t kOldPrefixBytes = 16, kNewPrefixBytes = 6, kBlockMarkBytes = 4;
constexpr std::size_t kHeaderChecksumBytes = 4;

}  // namespace

Hdf5Object::Hdf5Object(Hdf5File& file, std::uint64_t address) : address_(address) {
  Hdf5Fields beginning = file.read(address, kBlockMarkBytes, kHeader);
  is_new_ = as_text(beginning.take(kBlockMarkBytes)) == "OHDR";
  is_new_ ? read_new(file) : read_old(file);
}

const Hdf5Message* Hdf5Object::find(Hdf5MessageKind kind) const {
  const auto found =
      std::find_if(messages_.begin(), messages_.end(), [&](const Hdf5Message& any) { return any.kind == kind; });
  return found == messages_.end() ? nullptr : &*found;
}

void Hdf5Object::read_old(Hdf5File& file) {
  Hdf5Fields prefix = file.read(address_, kOldPrefixBytes, kHeader);
  prefix.version(1, 1);
  prefix.skip(7);
  const std::uint64_t bytes = prefix.u32();
  const std::uint64_t begin = address_ + kOldPrefixBytes;
  Hdf5Fields block = file.read(begin, bytes, kHeader);
  read_messages(file, block, begin);
  read_continuations(file, [&](const Block& further) {
    Hdf5Fields fields = file.read(further.address, further.bytes, kFurtherBlock);
    read_messages(file, fields, further.address);
  });
}

void Hdf5Object::read_new(Hdf5File& file) {
  Hdf5Fields prefix = file.read(address_, kNewPrefixBytes, kHeader);
  prefix.skip(kBlockMarkBytes);
  prefix.version(2, 2);
  const std::uint8_t flags = prefix.u8();
  are_numbered_ = (flags & 4) != 0;
  const std::uint64_t more = ((flags & 0x20) != 0 ? 16 : 0) + ((flags & 0x10) != 0 ? 4 : 0);
  const std::size_t size_bytes = std::size_t{1} << (flags & 3);
  const std::uint64_t begin = kNewPrefixBytes + more + size_bytes;
  Hdf5Fields sized = file.read(address_, begin, kHeader);
  sized.skip(kNewPrefixBytes + more);
  const std::uint64_t bytes = sized.number(size_bytes);
  file.place(address_, begin, kHeader);
  if (bytes > Hdf5File::kStructureBytesMax) sized.refuse("it is longer than any");
  Hdf5Fields block = file.read_checked(address_, begin + bytes + kHeaderChecksumBytes, kHeader);
  block.skip(begin);
  read_messages(file, block, address_ + begin);
  read_continuations(file, [&](const Block& further) {
    Hdf5Fields fields = file.read_checked(further.address, further.bytes, kFurtherBlock);
    fields.expect("OCHK");
    read_messages(file, fields, further.address + kBlockMarkBytes);
  });
}

template <typename ReadBlock>
void Hdf5Object::read_continuations(Hdf5File& file, const ReadBlock& read_block) {
  // Each may tell of more.
  std::size_t taken = 0;
  while (taken < blocks_.size()) {
    if (blocks_.size() > kBlocksMax || messages_.size() > kMessagesMax) {
      fail(ErrorKind::kData, "'{}' is damaged: the header of the object at byte {} has no end", file.name(),
           file.place(address_, 0, kHeader));
    }
    const Block block = blocks_[taken++];
    read_block(block);
  }
}

void Hdf5Object::read_messages(Hdf5File& file, Hdf5Fields& block, std::uint64_t begin) {
  const std::size_t head_bytes = is_new_ ? (are_numbered_ ? 6 : 4) : 8;
  const std::uint64_t end = begin + block.left();
  while (block.left() >= head_bytes) {
    Hdf5Message message;
    message.kind = static_cast<Hdf5MessageKind>(is_new_ ? block.u8() : block.u16());
    message.bytes = block.u16();
    message.is_shared = (block.u8() & 2) != 0;
    block.skip(head_bytes - (is_new_ ? 4 : 5));
    message.address = end - block.left();
    if (message.bytes > block.left()) block.refuse("a message reaches beyond its block");
    block.skip(static_cast<std::size_t>(message.bytes));
    if (message.kind == Hdf5MessageKind::kContinuation) {
      Hdf5Fields where = file.read(message.address, message.bytes, kFurtherBlock);
      const std::uint64_t at = where.address(file.address_bytes());
      blocks_.push_back({at, where.number(file.length_bytes())});
    } else {
      messages_.push_back(message);
    }
  }
}

}  // namespace stoker
