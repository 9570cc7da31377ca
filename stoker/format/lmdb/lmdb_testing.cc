#include "stoker/format/lmdb/lmdb_testing.h"

#include <algorithm>
#include <protozero/pbf_writer.hpp>

#include "stoker/base/little_endian.h"
#include "stoker/format/lmdb/lmdb_page.h"

namespace stoker {
namespace {

struct TestNode {
  std::string key, bytes;  // with its header
};

template <typename Integer>
void put(std::string& bytes, std::size_t at, Integer number) {
  store_little_endian(reinterpret_cast<std::uint8_t*>(bytes.data()) + at, number);
}

std::string test_node(std::string_view key, std::uint32_t low, std::uint16_t flags, std::string_view value) {
  std::string node(kLmdbNodeHeaderBytes, '\0');
  put(node, 0, low);
  put(node, 4, flags);
  put(node, 6, static_cast<std::uint16_t>(key.size()));
  node.append(key).append(value);
  node.resize((node.size() + 1) / 2 * 2);
  return node;
}

class TestLmdbWriter {
 public:
  explicit TestLmdbWriter(const TestLmdb& options) : options_(options), file_(2 * options.page_bytes, '\0') {}

  std::string write(const std::vector<TestLmdbEntry>& entries) {
    std::vector<TestNode> level;
    for (const TestLmdbEntry& entry : entries) level.push_back(leaf_node(entry));
    std::uint16_t depth = 0;
    std::uint64_t root = kLmdbNoPage;
    while (!level.empty()) {
      level = write_level(level, depth == 0 ? kLmdbLeaf : kLmdbBranch);
      ++depth;
      root = last_page();
      if (level.size() == 1) break;
    }
    write_meta(0, kLmdbNoPage, 0, 0);
    write_meta(1, root, depth, entries.size());
    return std::move(file_);
  }

 private:
  std::uint64_t last_page() const { return file_.size() / options_.page_bytes - 1; }

  /// A page, or several, at the file's end; returns where it begins.
  std::size_t add_page(std::uint16_t kind, std::size_t bytes) {
    const std::size_t at = file_.size();
    file_.resize(at + (bytes + options_.page_bytes - 1) / options_.page_bytes * options_.page_bytes);
    put(file_, at, std::uint64_t{at / options_.page_bytes});
    put(file_, at + 10, kind);
    return at;
  }

  TestNode leaf_node(const TestLmdbEntry& entry) {
    const auto length = static_cast<std::uint32_t>(entry.value.size());
    const std::size_t node_max = (options_.page_bytes - kLmdbPageHeaderBytes) / 2 / 2 * 2 - 2;
    if (kLmdbNodeHeaderBytes + entry.key.size() + length <= node_max) {
      return {entry.key, test_node(entry.key, length, entry.flags, entry.value)};
    }
    const std::size_t at = add_page(kLmdbOverflow, kLmdbPageHeaderBytes + length);
    put(file_, at + 12, static_cast<std::uint32_t>((file_.size() - at) / options_.page_bytes));
    file_.replace(at + kLmdbPageHeaderBytes, length, entry.value);
    std::string page(8, '\0');
    put(page, 0, std::uint64_t{at / options_.page_bytes});
    const auto flags = static_cast<std::uint16_t>(entry.flags | kLmdbBigData);
    return {entry.key, test_node(entry.key, length, flags, page)};
  }

  /// The nodes of the level above.
  std::vector<TestNode> write_level(const std::vector<TestNode>& nodes, LmdbPageKind kind) {
    std::vector<TestNode> above;
    for (std::size_t begin = 0, end = 0; begin < nodes.size(); begin = end) {
      std::size_t room = options_.page_bytes - kLmdbPageHeaderBytes;
      while (end < nodes.size() && end - begin < options_.nodes_max && nodes[end].bytes.size() + 2 <= room) {
        room -= nodes[end++].bytes.size() + 2;
      }
      const std::size_t page = add_page(kind, 1);
      std::size_t at = options_.page_bytes;
      for (std::size_t i = begin; i < end; ++i) {
        at -= nodes[i].bytes.size();
        file_.replace(page + at, nodes[i].bytes.size(), nodes[i].bytes);
        put(file_, page + kLmdbPageHeaderBytes + 2 * (i - begin), static_cast<std::uint16_t>(at));
      }
      put(file_, page + 12, static_cast<std::uint16_t>(kLmdbPageHeaderBytes + 2 * (end - begin)));
      put(file_, page + 14, static_cast<std::uint16_t>(at));
      const std::string key = above.empty() ? "" : nodes[begin].key;
      above.push_back(
          {nodes[begin].key, test_node(key, static_cast<std::uint32_t>(page / options_.page_bytes), 0, {})});
    }
    return above;
  }

  void write_meta(std::uint64_t number, std::uint64_t root, std::uint16_t depth, std::size_t entries) {
    const std::size_t page = number * options_.page_bytes, meta = page + kLmdbPageHeaderBytes;
    put(file_, page, number);
    put(file_, page + 10, std::uint16_t{kLmdbMeta});
    put(file_, meta, kLmdbMagic);
    put(file_, meta + 4, kLmdbVersion);
    put(file_, meta + 24, static_cast<std::uint32_t>(options_.page_bytes));
    put(file_, meta + 24 + 40, kLmdbNoPage);
    const std::size_t main = meta + 24 + kLmdbTreeBytes;
    put(file_, main + 4, options_.flags);
    put(file_, main + 6, depth);
    put(file_, main + 32, std::uint64_t{entries});
    put(file_, main + 40, root);
    put(file_, main + kLmdbTreeBytes, root == kLmdbNoPage ? std::uint64_t{1} : last_page());
    put(file_, main + kLmdbTreeBytes + 8, number);
  }

  const TestLmdb options_;
  std::string file_;
};

}  // namespace

std::string lmdb_file(const std::vector<TestLmdbEntry>& entries, const TestLmdb& options) {
  return TestLmdbWriter(options).write(entries);
}

std::string caffe_datum(int channels, int height, int width, std::string_view data, int label) {
  std::string message;
  protozero::pbf_writer writer(message);
  writer.add_int32(1, channels);
  writer.add_int32(2, height);
  writer.add_int32(3, width);
  writer.add_bytes(4, data.data(), data.size());
  writer.add_int32(5, label);
  return message;
}

std::string encoded_datum(std::string_view data, int label) {
  std::string message;
  protozero::pbf_writer writer(message);
  writer.add_bytes(4, data.data(), data.size());
  writer.add_int32(5, label);
  writer.add_bool(7, true);
  return message;
}

}  // namespace stoker
