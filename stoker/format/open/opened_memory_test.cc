// What a data set that was opened before holds in memory: not its samples.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <memory>
#include <string>
#include <vector>

#include "stoker/base/rounds_testing.h"
#include "stoker/format/lmdb/lmdb_testing.h"
#include "stoker/format/open/sharded_dataset.h"
#include "stoker/format/parquet/parquet_testing.h"
#include "stoker/format/zip/zip_testing.h"
#include "stoker/storage/atomic_file.h"
#include "stoker/storage/temp_folder_testing.h"

namespace stoker {
namespace {

const std::string kShortJpeg = "\xff\xd8\xff short";

std::string parquet_of(int samples) {
  std::vector<ParquetTestSample> rows;
  for (int i = 0; i < samples; ++i)
    rows.push_back({.key = fmt::format("{:06}", i), .label = i % 10, .image = kShortJpeg});
  return parquet_file(parquet_columns_of(rows));
}

std::string lmdb_of(int samples) {
  std::vector<TestLmdbEntry> entries;
  for (int i = 0; i < samples; ++i) entries.push_back({fmt::format("{:06}", i), encoded_datum(kShortJpeg, i % 10)});
  return lmdb_file(entries);
}

std::string zip_of(int samples, bool deflate) {
  TestZip zip;
  for (int i = 0; i < samples; ++i) {
    zip.members.push_back({.name = fmt::format("{:06}.jpg", i), .content = kShortJpeg, .deflate = deflate});
  }
  return zip.bytes();
}

struct OpenedShape {
  std::string file;
  std::string (*bytes_of)(int samples);
  std::size_t bytes_a_sample;  // that may stay in memory
};

class OpenedMemory : public ::testing::TestWithParam<OpenedShape> {
 protected:
  /// Bytes that the set holds once it is open and its first and last samples were looked at.
  std::size_t held(int samples) const {
    const std::string path =
        folder_.write(fmt::format("{}/{}", samples, GetParam().file), GetParam().bytes_of(samples));
    const IndexOptions options{.cache_folder = folder_.path("cache")};
    const auto open = [&] { return open_dataset({path}, std::make_shared<InlineExecutor>(), options); };
    open();  // which keeps what the scan found
    const std::size_t before = ::mallinfo2().uordblks;
    const auto data = open();
    EXPECT_EQ(data->size(), samples);
    EXPECT_NE(data->row(0).image_field(), nullptr);
    EXPECT_NE(data->row(samples - 1).image_field(), nullptr);
    return ::mallinfo2().uordblks - before;
  }

  TempFolder folder_;
};

TEST_P(OpenedMemory, DoesNotGrowWithTheSamples) {
  if (kSanitized) GTEST_SKIP() << "sanitizers have an allocator of their own";
  constexpr int kFew = 1000, kMany = 20'000;
  const std::size_t few = held(kFew), many = held(kMany);
  // 24 bytes a block of 256 samples are what the index has in memory of them.
  const std::size_t grows_to = few + (kMany - kFew) * GetParam().bytes_a_sample + (std::size_t{16} << 10);
  EXPECT_LE(many, grows_to) << few << " bytes for " << kFew;
}

INSTANTIATE_TEST_SUITE_P(All, OpenedMemory,
                         ::testing::Values(OpenedShape{"train.parquet", parquet_of, 0},
                                           OpenedShape{"train.mdb", lmdb_of, 0},
                                           OpenedShape{"stored.zip", [](int n) { return zip_of(n, false); }, 0},
                                           // Where each block lies: 56 bytes, and the room of growing arrays.
                                           OpenedShape{"deflated.zip", [](int n) { return zip_of(n, true); }, 112}),
                         [](const auto& instance) {
                           return instance.param.file.substr(0, instance.param.file.find('.')) + "_" +
                                  instance.param.file.substr(instance.param.file.find('.') + 1);
                         });

}  // namespace
}  // namespace stoker
