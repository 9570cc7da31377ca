// Compressed blocks for tests.
#pragma once

#include <lz4frame.h>
#include <zstd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "stoker/storage/block_source.h"
#include "stoker/storage/memory_source_testing.h"

namespace stoker {

inline std::vector<std::uint8_t> compressed_by_zstd(Bytes bytes) {
  std::vector<std::uint8_t> out(ZSTD_compressBound(bytes.size()));
  out.resize(ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), 1));
  return out;
}

inline std::vector<std::uint8_t> compressed_as_lz4_frame(Bytes bytes) {
  std::vector<std::uint8_t> out(LZ4F_compressFrameBound(bytes.size(), nullptr));
  out.resize(LZ4F_compressFrame(out.data(), out.size(), bytes.data(), bytes.size(), nullptr));
  return out;
}

/// An object made of compressed blocks, one after another, after some bytes of its own.
struct ObjectOfBlocks {
  std::vector<std::uint8_t> bytes{'o', 'w', 'n'};
  std::vector<CompressedBlock> blocks{};

  void add(Bytes content) {
    const std::vector<std::uint8_t> stored = compressed_by_zstd(content);
    blocks.push_back(
        {.offset = bytes.size(), .stored_length = stored.size(), .length = content.size(), .codec = BlockCodec::kZstd});
    bytes.insert(bytes.end(), stored.begin(), stored.end());
  }
  std::shared_ptr<const BlockTable> table() const {
    auto made = std::make_shared<BlockTable>(bytes.size());
    for (const CompressedBlock& block : blocks) made->add(block);
    made->close();
    return made;
  }
  std::shared_ptr<Source> source() const { return std::make_shared<MemorySource>("file.of.blocks", bytes); }
};

/// Of blocks with more than kGapBytes between them: where the first begins.
inline std::uint64_t first_place(std::uint64_t object_bytes) { return object_bytes + BlockTable::kGapBytes; }

/// The bytes of a compressed block by themselves.
class OneBlock final : public Source {
 public:
  OneBlock(const std::vector<std::uint8_t>& content, std::shared_ptr<Executor> executor) {
    ObjectOfBlocks object;
    object.add(content);
    begin_ = first_place(object.bytes.size());
    length_ = content.size();
    source_ = std::make_unique<BlockSource>(object.source(), object.table(),
                                            std::make_shared<BlockCache>(1 << 20, [executor] { return executor; }));
  }

  const std::string& name() const override { return source_->name(); }
  std::uint64_t size(std::string_view part) const override {
    require_no_part(name(), part);
    return length_;
  }
  void start(ReadRequest& request) override {
    struct Moved {
      ReadRequest own, *outer;
    };
    auto* moved = new Moved{{}, &request};
    moved->own.part = request.part;
    moved->own.offset = place(request.offset);
    moved->own.into = request.into;
    moved->own.deadline_ns = request.deadline_ns;
    moved->own.stop = request.stop;
    moved->own.context = moved;
    moved->own.done = [](ReadRequest& own) noexcept {
      const std::unique_ptr<Moved> ended(static_cast<Moved*>(own.context));
      ended->outer->error = own.error;
      ended->outer->done(*ended->outer);
    };
    source_->start(moved->own);
  }
  void will_need(std::uint64_t offset, std::uint64_t length, std::string_view part) override {
    source_->will_need(place(offset), length, part);
  }

 private:
  std::uint64_t place(std::uint64_t offset) const { return begin_ + std::min(offset, ~begin_); }

  std::uint64_t begin_, length_;
  std::unique_ptr<BlockSource> source_;
};

}  // namespace stoker
