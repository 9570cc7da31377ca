#include "stoker/format/hdf5/hdf5_testing.h"

#include <fmt/format.h>
#include <libdeflate.h>

#include <algorithm>
#include <array>
#include <bit>
#include <optional>

#include "stoker/base/little_endian.h"
#include "stoker/format/hdf5/hdf5_index_testing.h"
#include "stoker/storage/lzf_testing.h"

namespace stoker {
namespace {

constexpr std::size_t kFields = 8;  // bytes of addresses and lengths

std::string as_string(Bytes bytes) { return std::string(as_text(bytes)); }

std::string zlib_compressed(std::string_view bytes) {
  libdeflate_compressor* state = libdeflate_alloc_compressor(6);
  std::string out(libdeflate_zlib_compress_bound(state, bytes.size()), '\0');
  out.resize(libdeflate_zlib_compress(state, bytes.data(), bytes.size(), out.data(), out.size()));
  libdeflate_free_compressor(state);
  return out;
}

std::size_t size_of(const std::string& type) {
  if (type == "str" || type == "bytes") return 16;
  if (type == "compound") return 4;
  const bool has_order = type[0] == '<' || type[0] == '>' || type[0] == '|';
  return static_cast<std::size_t>(std::stoul(type.substr(has_order ? 2 : 1)));
}

class Hdf5Builder {
 public:
  explicit Hdf5Builder(const Hdf5TestOptions& options) : options_(options) {
    out_.assign(options.is_new ? 48 : 96, '\0');
  }

  std::string file(const std::vector<Hdf5TestDataset>& datasets) {
    std::vector<Link> links;
    for (const Hdf5TestDataset& dataset : datasets) links.push_back({dataset.name, add_dataset(dataset)});
    std::sort(links.begin(), links.end());
    std::uint64_t root = add_group(links);
    if (!options_.group.empty()) root = add_group({{options_.group, root}});
    const std::string head = superblock(root);
    std::copy(head.begin(), head.end(), out_.begin());
    return std::string(options_.user_block, 'u') + out_;
  }

 private:
  struct Link {
    std::string name;
    std::uint64_t address;
    bool operator<(const Link& other) const { return name < other.name; }
  };

  std::uint64_t add(const std::string& bytes) {
    out_.resize((out_.size() + 7) / 8 * 8);
    const std::uint64_t address = out_.size();
    out_ += bytes;
    return address;
  }

  std::string superblock(std::uint64_t root) {
    out_.resize((out_.size() + 7) / 8 * 8);
    const std::uint64_t end = out_.size() + options_.user_block, base = options_.user_block;
    Hdf5TestBytes head;
    head.text(kHdf5Signature);
    if (options_.is_new) {
      head.u(3, 1).u(kFields, 1).u(kFields, 1).u(0, 1).u(base).u(kHdf5Nowhere).u(end).u(root);
      return head.with_checksum();
    }
    head.u(0, 5).u(kFields, 1).u(kFields, 1).u(0, 1).u(kLeafK, 2).u(kNodeK, 2).u(0, 4);
    head.u(base).u(kHdf5Nowhere).u(end).u(kHdf5Nowhere);
    head.u(0).u(root).u(0, 4).u(0, 4).u(0).u(0);
    return head.bytes;
  }

  std::uint64_t add_group(const std::vector<Link>& links) {
    if (!options_.is_new) return add_symbol_table(links);
    std::vector<std::string> messages;
    std::vector<Message> all;
    for (const Link& link : links) {
      Hdf5TestBytes message;
      message.u(1, 1).u(0, 1).u(link.name.size(), 1).text(link.name).u(link.address);
      messages.push_back(message.bytes);
    }
    Hdf5TestBytes info;
    info.u(0, 2);
    if (options_.has_dense_links) {
      const Hdf5TestHeap heap = hdf5_test_heap(messages, [&](const std::string& bytes) { return add(bytes); });
      info.u(heap.address).u(heap.tree);
    } else {
      info.u(kHdf5Nowhere).u(kHdf5Nowhere);
    }
    all.push_back({Hdf5MessageKind::kLinkInfo, info.bytes});
    for (const std::string& message : messages) {
      if (!options_.has_dense_links) all.push_back({Hdf5MessageKind::kLink, message});
    }
    return add_object(all);
  }

  std::uint64_t add_symbol_table(const std::vector<Link>& links) {
    Hdf5TestBytes names, symbols, heap, tree, message;
    names.u(0);
    symbols.text("SNOD").u(1, 2).u(links.size(), 2);
    std::size_t last = 0;
    for (const Link& link : links) {
      last = names.bytes.size();
      symbols.u(last).u(link.address).u(0, 4).u(0, 4).u(0).u(0);
      names.text(link.name).u(0, 1);
      names.bytes.resize((names.bytes.size() + 7) / 8 * 8);
    }
    names.bytes.resize(names.bytes.size() + 16);
    Hdf5TestBytes free;  // what is left of the heap
    free.u(1).u(16);
    std::copy(free.bytes.begin(), free.bytes.end(), names.bytes.end() - 16);
    const std::uint64_t table = add(symbols.bytes), text = add(names.bytes);
    heap.text("HEAP").u(0, 4).u(names.bytes.size()).u(names.bytes.size() - 16).u(text);
    tree.text("TREE").u(0, 1).u(0, 1).u(links.empty() ? 0 : 1, 2).u(kHdf5Nowhere).u(kHdf5Nowhere).u(0).u(table).u(last);
    const std::uint64_t heap_at = add(heap.bytes), tree_at = add(tree.bytes);
    message.u(tree_at).u(heap_at);
    return add_object({{Hdf5MessageKind::kSymbolTable, message.bytes}});
  }

  struct Message {
    Hdf5MessageKind kind;
    std::string bytes;
  };

  /// The last of several messages has a block of its own.
  std::uint64_t add_object(const std::vector<Message>& messages) {
    const auto one = [&](const Message& message) {
      Hdf5TestBytes bytes;
      std::string padded = message.bytes;
      const auto kind = static_cast<std::uint64_t>(message.kind);
      if (options_.is_new) return bytes.u(kind, 1).u(padded.size(), 2).u(0, 1).text(padded).bytes;
      padded.resize((padded.size() + 7) / 8 * 8);
      return bytes.u(kind, 2).u(padded.size(), 2).u(0, 4).text(padded).bytes;
    };
    std::string block;
    for (std::size_t i = 0; i + 1 < messages.size(); ++i) block += one(messages[i]);
    std::string last = one(messages.back());
    std::size_t count = messages.size();
    if (messages.size() > 1) {
      if (options_.is_new) last = Hdf5TestBytes().text("OCHK").text(last).with_checksum();
      Hdf5TestBytes where;
      where.u(add(last)).u(last.size());
      last = one({Hdf5MessageKind::kContinuation, where.bytes});
      ++count;
    }
    block += last;
    Hdf5TestBytes object;
    if (options_.is_new) {
      return add(object.text("OHDR").u(2, 1).u(1, 1).u(block.size(), 2).text(block).with_checksum());
    }
    return add(object.u(1, 2).u(count, 2).u(1, 4).u(block.size(), 4).u(0, 4).text(block).bytes);
  }

  std::string type_message(const std::string& type) const {
    Hdf5TestBytes bytes;
    const auto head = [&](int type_class, std::uint64_t bits, std::size_t size) -> Hdf5TestBytes& {
      return bytes.u(static_cast<std::uint64_t>(type_class | 0x10), 1).u(bits, 3).u(size, 4);
    };
    const std::size_t size = size_of(type);
    if (type == "str" || type == "bytes") {
      head(9, type == "str" ? 1 : 0, size);
      return bytes.text(type_message(type == "str" ? "S1" : "|u1")).bytes;
    }
    if (type == "compound") {
      head(6, 1, size).text(std::string("a\0\0\0\0\0\0\0", 8)).u(0, 4).u(0, 4).u(0).u(0).u(0);
      return bytes.text(type_message("<i4")).bytes;
    }
    if (type[0] == 'S') return head(3, 1, size).bytes;
    if (type[0] == 'V') return head(5, 8, size).text(std::string("opaque\0\0", 8)).bytes;
    const std::uint64_t order = type[0] == '>' ? 1 : 0;
    if (type[1] == 'f') {
      const std::uint64_t sign = 8 * size - 1;
      head(1, order | 0x20 | sign << 8, size).u(0, 2).u(8 * size, 2);
      return size == 4 ? bytes.u(23, 1).u(8, 1).u(0, 1).u(23, 1).u(127, 4).bytes
                       : bytes.u(52, 1).u(11, 1).u(0, 1).u(52, 1).u(1023, 4).bytes;
    }
    return head(0, order | (type[1] == 'i' ? 8 : 0), size).u(0, 2).u(8 * size, 2).bytes;
  }

  std::string space_message(const Hdf5TestDataset& dataset) const {
    Hdf5TestBytes bytes;
    const std::size_t axes = dataset.shape.size();
    const bool has_maxima = !dataset.shape_max.empty();
    options_.is_new ? bytes.u(2, 1).u(axes, 1).u(has_maxima, 1).u(axes > 0, 1)
                    : bytes.u(1, 1).u(axes, 1).u(has_maxima, 1).u(0, 5);
    for (const std::uint64_t axis : dataset.shape) bytes.u(axis);
    for (const std::uint64_t axis : dataset.shape_max) bytes.u(axis);
    return bytes.bytes;
  }

  std::string filters_message(const Hdf5TestDataset& dataset) const {
    Hdf5TestBytes bytes;
    options_.is_new ? bytes.u(2, 1).u(dataset.filters.size(), 1) : bytes.u(1, 1).u(dataset.filters.size(), 1).u(0, 6);
    for (const std::uint16_t filter : dataset.filters) {
      const bool has_name = filter >= 256 || !options_.is_new;
      bytes.u(filter, 2);
      if (has_name) bytes.u(filter >= 256 ? 8 : 0, 2);
      bytes.u(1, 2).u(1, 2);
      if (filter >= 256) bytes.text(std::string("a name\0\0", 8));
      bytes.u(filter == Hdf5Filter::kDeflate ? 6 : size_of(dataset.type), 4);
      if (!options_.is_new) bytes.u(0, 4);
    }
    return bytes.bytes;
  }

  /// Values of any length become references to a collection of the heap.
  std::string content_of(const Hdf5TestDataset& dataset) {
    if (dataset.values.empty()) return dataset.content;
    Hdf5TestBytes collection, references;
    std::uint64_t number = 0;
    for (const std::string& value : dataset.values) {
      if (value.empty()) continue;
      collection.u(++number, 2).u(1, 2).u(0, 4).u(value.size()).text(value);
      collection.bytes.resize((collection.bytes.size() + 7) / 8 * 8);
    }
    const std::size_t bytes = 16 + collection.bytes.size() + 16;
    const std::uint64_t rest = bytes - 16 - collection.bytes.size();
    collection.u(0, 2).u(0, 2).u(0, 4).u(rest);
    collection.bytes.resize(bytes - 16);
    const std::uint64_t at = add(Hdf5TestBytes().text("GCOL").u(1, 4).u(bytes).text(collection.bytes).bytes);
    number = 0;
    for (const std::string& value : dataset.values) {
      value.empty() ? references.u(0, 4).u(0).u(0, 4) : references.u(value.size(), 4).u(at).u(++number, 4);
    }
    return references.bytes;
  }

  std::string filtered(const Hdf5TestDataset& dataset, std::string bytes, std::uint32_t mask) const {
    for (std::size_t i = 0; i < dataset.filters.size(); ++i) {
      if ((mask >> i & 1) != 0) continue;
      switch (dataset.filters[i]) {
        case Hdf5Filter::kDeflate: bytes = zlib_compressed(bytes); break;
        case Hdf5Filter::kLzf: bytes = as_string(lzf_compressed(as_bytes(bytes))); break;
        case Hdf5Filter::kShuffle: bytes = hdf5_shuffled(bytes, size_of(dataset.type)); break;
        default: bytes += "sums"; break;  // of Fletcher, which are not looked at
      }
    }
    return bytes;
  }

  /// Chunks of whole rows.
  std::vector<Hdf5Chunk> add_chunks(const Hdf5TestDataset& dataset, const std::string& content, std::size_t bytes) {
    std::vector<Hdf5Chunk> chunks;
    for (std::size_t begin = 0; begin < content.size(); begin += bytes) {
      const std::size_t number = chunks.size();
      const auto is_in = [&](const std::vector<std::size_t>& all) {
        return std::find(all.begin(), all.end(), number) != all.end();
      };
      Hdf5Chunk& chunk = chunks.emplace_back();
      if (is_in(dataset.unwritten)) continue;
      // The last filter is left out.
      if (is_in(dataset.unfiltered)) chunk.mask = std::uint32_t{1} << (dataset.filters.size() - 1);
      std::string plain = content.substr(begin, bytes);
      plain.resize(bytes);
      const std::string stored = filtered(dataset, plain, chunk.mask);
      chunk.address = add(stored);
      chunk.bytes = stored.size();
    }
    return chunks;
  }

  std::string layout_message(const Hdf5TestDataset& dataset, const std::string& content) {
    Hdf5TestBytes bytes;
    if (dataset.is_compact) return bytes.u(3, 1).u(0, 1).u(content.size(), 2).text(content).bytes;
    if (dataset.chunk.empty()) {
      const std::uint64_t at = dataset.unwritten.empty() ? add(content) : kHdf5Nowhere;
      return bytes.u(3, 1).u(1, 1).u(at).u(content.size()).bytes;
    }
    std::size_t chunk_bytes = size_of(dataset.type);
    for (const std::uint64_t axis : dataset.chunk) chunk_bytes *= axis;
    const std::vector<Hdf5Chunk> chunks = add_chunks(dataset, content, chunk_bytes);
    const bool is_any_written = dataset.unwritten.size() < chunks.size();
    const bool is_filtered = !dataset.filters.empty(), is_tree = dataset.index == Hdf5ChunkIndex::kTree;
    const Hdf5TestIndex index{.chunks = chunks,
                              .index = dataset.index,
                              .is_filtered = is_filtered,
                              .axes = dataset.shape.size(),
                              .rows_per_chunk = dataset.chunk.front(),
                              .chunk_bytes = chunk_bytes,
                              .chunks_per_node = options_.chunks_per_node};
    const Hdf5TestBytes made = hdf5_test_index(index, [&](const std::string& part) { return add(part); });
    const bool is_single = dataset.index == Hdf5ChunkIndex::kSingle && is_filtered;
    is_tree ? bytes.u(3, 1).u(2, 1) : bytes.u(4, 1).u(2, 1).u(is_single ? 2 : 0, 1);
    bytes.u(dataset.chunk.size() + 1, 1);
    if (is_tree) is_any_written ? bytes.text(made.bytes) : bytes.u(kHdf5Nowhere);
    if (!is_tree) bytes.u(4, 1);
    for (const std::uint64_t axis : dataset.chunk) bytes.u(axis, 4);
    bytes.u(size_of(dataset.type), 4);
    return is_tree ? bytes.bytes : bytes.u(static_cast<std::uint64_t>(dataset.index), 1).text(made.bytes).bytes;
  }

  std::uint64_t add_dataset(const Hdf5TestDataset& dataset) {
    const std::string content = content_of(dataset);
    std::vector<Message> messages = {{Hdf5MessageKind::kDataspace, space_message(dataset)},
                                     {Hdf5MessageKind::kDatatype, type_message(dataset.type)},
                                     {kFillValue, std::string("\x02\x02\x02\0", 4)}};
    if (!dataset.filters.empty()) messages.push_back({Hdf5MessageKind::kFilters, filters_message(dataset)});
    messages.push_back({Hdf5MessageKind::kLayout, layout_message(dataset, content)});
    return add_object(messages);
  }

  // Half of the symbols of a table, and of the children of a node.
  static constexpr std::size_t kLeafK = 32, kNodeK = 16;
  static constexpr Hdf5MessageKind kFillValue{0x05};

  const Hdf5TestOptions& options_;
  std::string out_;
};

}  // namespace

std::string hdf5_shuffled(std::string_view bytes, std::size_t value_bytes) {
  std::string out;
  const std::size_t whole = bytes.size() / value_bytes * value_bytes;
  for (std::size_t byte = 0; byte < value_bytes; ++byte) {
    for (std::size_t i = byte; i < whole; i += value_bytes) out += bytes[i];
  }
  return out + std::string(bytes.substr(whole));
}

std::string hdf5_file(const std::vector<Hdf5TestDataset>& datasets, const Hdf5TestOptions& options) {
  return Hdf5Builder(options).file(datasets);
}

std::vector<Hdf5TestDataset> hdf5_datasets_of(const std::vector<Hdf5TestSample>& samples) {
  const std::vector<std::uint64_t> shape = {samples.size()};
  Hdf5TestDataset keys{.name = "__key__", .type = "str", .shape = shape},
      labels{.name = "label", .type = "<i8", .shape = shape}, images{.name = "image", .type = "bytes", .shape = shape},
      notes{.name = "note", .type = "str", .shape = shape};
  for (const Hdf5TestSample& sample : samples) {
    keys.values.push_back(sample.key);
    labels.content += Hdf5TestBytes().u(static_cast<std::uint64_t>(sample.label)).bytes;
    images.values.push_back(sample.image);
    notes.values.push_back(sample.note);
  }
  return {keys, images, labels, notes};
}

}  // namespace stoker
