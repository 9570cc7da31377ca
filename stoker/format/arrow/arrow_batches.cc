#include "stoker/format/arrow/arrow_batches.h"

#include <array>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/units.h"

namespace stoker {
namespace {

constexpr std::string_view kArrowFileMagic{"ARROW1\0\0", 8}, kArrowFileEnd = "ARROW1";
constexpr std::uint32_t kMessageFollows = 0xffffffff;
constexpr std::uint64_t kMessagePrefixBytes = 8, kMetadataBytesMax = 16 << 20;

// By the schemas that Arrow publishes: format/Message.fbs.
enum MessageType : std::uint8_t { kSchemaMessage = 1, kDictionaryMessage = 2, kBatchMessage = 3 };
enum MessageSlot : std::size_t { kMessageVersion = 0, kMessageType = 1, kMessageHeader = 2, kMessageBody = 3 };
enum BatchSlot : std::size_t {
  kBatchRows = 0,
  kBatchNodes = 1,
  kBatchBuffers = 2,
  kBatchCompression = 3,
  kBatchViewBuffers = 4
};
enum DictionaryBatchSlot : std::size_t { kDictionaryId = 0, kDictionaryValues = 1, kDictionaryGoesOn = 2 };
constexpr std::size_t kCompressionCodec = 0;
constexpr std::int8_t kLz4Buffers = 0, kZstdBuffers = 1;
constexpr std::size_t kNodeBytes = 16, kBufferBytes = 16;

}  // namespace

bool begins_arrow(Bytes head) {
  if (as_text(head).starts_with(kArrowFileMagic)) return true;
  if (head.size() < kMessagePrefixBytes || load_little_endian<std::uint32_t>(head.data()) != kMessageFollows)
    return false;
  const auto length = load_little_endian<std::uint32_t>(head.data() + 4);
  return length > 0 && length <= kMetadataBytesMax;
}

/// Clauses become sentences; what reading and placing throw are sentences already.
template <typename Work>
void ArrowBatches::name_faults(const Work& work) const {
  try {
    work();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kData) throw;
    fail(ErrorKind::kData, "'{}': its table of Arrow cannot be read: {}", places_.name(), error.message());
  }
}

ArrowBatches::ArrowBatches(BlockPlaces& places, std::uint64_t begin, std::uint64_t end)
    : places_(places), position_(begin), end_(end) {
  std::array<std::uint8_t, kArrowFileMagic.size()> head{};
  if (end - begin >= head.size()) read_fully(places.source(), begin, head);
  if (as_text(head) == kArrowFileMagic) open_file();
  const std::optional<Message> message = read_message();
  name_faults([&] {
    if (!message || message->type != kSchemaMessage) fail(ErrorKind::kData, "it does not begin with a schema");
    const std::optional<FlatTable> schema = FlatTable::root_of(metadata_).table(kMessageHeader);
    if (!schema) fail(ErrorKind::kData, "its schema is empty");
    fields_ = arrow_fields(*schema);
    huggingface_ = arrow_note(*schema, "huggingface");
  });
  position_ = message->body_at + message->body_bytes;
}

/// Leaves the stream between what a file has before and after it.
void ArrowBatches::open_file() {
  position_ += kArrowFileMagic.size();
  std::array<std::uint8_t, 4 + kArrowFileEnd.size()> last{};
  const std::uint64_t left = end_ - position_;
  if (left >= last.size()) read_fully(places_.source(), end_ - last.size(), last);
  const auto list_bytes = load_little_endian<std::uint32_t>(last.data());
  if (as_text(last).substr(4) != kArrowFileEnd || list_bytes > left - last.size()) {
    fail(ErrorKind::kData, "'{}' is truncated: the file of Arrow that it holds has no end", places_.name());
  }
  end_ -= last.size() + list_bytes;
}

/// Its prefix and its metadata; nothing at the end.
std::optional<ArrowBatches::Message> ArrowBatches::read_message() {
  if (position_ == end_) return std::nullopt;
  std::array<std::uint8_t, kMessagePrefixBytes> prefix{};
  const std::uint64_t left = end_ - position_;
  if (left >= prefix.size()) read_fully(places_.source(), position_, prefix);
  const auto length = load_little_endian<std::uint32_t>(prefix.data() + 4);
  const bool is_message = load_little_endian<std::uint32_t>(prefix.data()) == kMessageFollows;
  if (is_message && length == 0) {
    has_end_mark_ = true;
    return std::nullopt;
  }
  if (!is_message || length > kMetadataBytesMax || length > left - prefix.size()) {
    fail(ErrorKind::kData, "'{}' is damaged: the table of Arrow that it holds has no message {} before its end",
         places_.name(), byte_count(left));
  }
  metadata_.resize(length);
  read_fully(places_.source(), position_ + prefix.size(), metadata_);
  Message message;
  name_faults([&] {
    const FlatTable table = FlatTable::root_of(metadata_);
    const auto version = table.number<std::int16_t>(kMessageVersion);
    constexpr int kVersion4 = 3, kVersion5 = 4;
    if (version != kVersion4 && version != kVersion5) {
      fail(ErrorKind::kData, "it is of version {} of Arrow's metadata; Stoker reads versions 4 and 5", version + 1);
    }
    message.type = table.number<std::uint8_t>(kMessageType);
    message.body_at = position_ + prefix.size() + length;
    message.body_bytes = static_cast<std::uint64_t>(table.number<std::int64_t>(kMessageBody));
    if (message.body_bytes > end_ - message.body_at) {
      fail(ErrorKind::kData, "a message is said to have {}, and {} are left", byte_count(message.body_bytes),
           end_ - message.body_at);
    }
  });
  return message;
}

bool ArrowBatches::next() {
  const std::optional<Message> message = read_message();
  if (!message) return false;
  batch_ = {};
  std::optional<FlatTable> header;
  name_faults([&] {
    header = FlatTable::root_of(metadata_).table(kMessageHeader);
    if (header && message->type == kDictionaryMessage) {
      batch_.dictionary = header->number<std::int64_t>(kDictionaryId);
      batch_.goes_on = header->number<std::uint8_t>(kDictionaryGoesOn) != 0;
      header = header->table(kDictionaryValues);
    } else if (message->type != kBatchMessage) {
      header.reset();
    }
    if (!header) fail(ErrorKind::kData, "a message is not one of rows");
  });
  read_batch(*message, *header);
  position_ = message->body_at + message->body_bytes;
  return true;
}

void ArrowBatches::read_batch(const Message& message, const FlatTable& header) {
  Bytes buffers;
  std::optional<BlockCodec> codec;
  name_faults([&] {
    batch_.rows = static_cast<std::uint64_t>(header.number<std::int64_t>(kBatchRows));
    const Bytes nodes = header.elements(kBatchNodes, kNodeBytes);
    for (std::size_t at = 0; at < nodes.size(); at += kNodeBytes) {
      batch_.nodes.push_back({.rows = load_little_endian<std::uint64_t>(nodes.data() + at),
                              .nulls = load_little_endian<std::uint64_t>(nodes.data() + at + 8)});
    }
    buffers = header.elements(kBatchBuffers, kBufferBytes);
    const Bytes counts = header.elements(kBatchViewBuffers, sizeof(std::uint64_t));
    for (std::size_t at = 0; at < counts.size(); at += sizeof(std::uint64_t)) {
      batch_.view_buffers.push_back(load_little_endian<std::uint64_t>(counts.data() + at));
    }
    if (const std::optional<FlatTable> compression = header.table(kBatchCompression)) {
      const auto number = compression->number<std::int8_t>(kCompressionCodec, kLz4Buffers);
      if (number != kLz4Buffers && number != kZstdBuffers) {
        fail(ErrorKind::kData, "it is compressed in a way that Stoker does not know: {}", number);
      }
      codec = number == kZstdBuffers ? BlockCodec::kZstd : BlockCodec::kLz4Frame;
    }
  });
  batch_.body_bytes = message.body_bytes;
  batch_.is_compressed = codec.has_value();
  for (std::size_t at = 0; at < buffers.size(); at += kBufferBytes) {
    batch_.buffers.push_back(place_of(message, buffers.subspan(at, kBufferBytes), codec));
  }
}

ArrowRange ArrowBatches::place_of(const Message& message, Bytes buffer, std::optional<BlockCodec> codec) {
  const auto offset = load_little_endian<std::uint64_t>(buffer.data());
  const auto bytes = load_little_endian<std::uint64_t>(buffer.data() + 8);
  if (offset > message.body_bytes || bytes > message.body_bytes - offset) {
    fail(ErrorKind::kData, "'{}' is damaged: a buffer of its table of Arrow has {} at byte {} of {}", places_.name(),
         byte_count(bytes), offset, message.body_bytes);
  }
  const ArrowRange stored{.place = message.body_at + offset, .bytes = bytes};
  if (!codec || bytes == 0) return stored;
  std::array<std::uint8_t, 8> prefix{};
  if (bytes < prefix.size()) {
    fail(ErrorKind::kData, "'{}' is damaged: a compressed buffer of its table of Arrow has {}", places_.name(),
         byte_count(bytes));
  }
  read_fully(places_.source(), stored.place, prefix);
  const auto length = load_little_endian<std::uint64_t>(prefix.data());
  const CompressedBlock block{.offset = stored.place + prefix.size(),
                              .stored_length = bytes - prefix.size(),
                              .length = length,
                              .codec = *codec};
  if (length == UINT64_MAX) return {.place = block.offset, .bytes = block.stored_length};
  return {.place = places_.add(block), .bytes = length};
}

}  // namespace stoker
