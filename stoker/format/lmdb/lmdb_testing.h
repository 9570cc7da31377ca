// LMDB files made page by page, as LMDB 0.9 lays them out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stoker {

struct TestLmdb {
  std::size_t page_bytes = 512;
  std::uint16_t flags = 0;       // of the main tree
  std::size_t nodes_max = 1000;  // of a page: fewer make deeper trees
};

struct TestLmdbEntry {
  std::string key, value;
  std::uint16_t flags = 0;
};

/// Entries in the order given. Values that half a page does not hold get pages of their own, as with LMDB.
std::string lmdb_file(const std::vector<TestLmdbEntry>& entries, const TestLmdb& options = {});

/// Caffe's Datum: its sizes and data, which may be encoded, and its label.
std::string caffe_datum(int channels, int height, int width, std::string_view data, int label);
std::string encoded_datum(std::string_view data, int label);

}  // namespace stoker
