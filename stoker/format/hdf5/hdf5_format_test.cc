#include "stoker/format/hdf5/hdf5_format.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/base/error_testing.h"
#include "stoker/base/little_endian.h"
#include "stoker/format/hdf5/hdf5_testing.h"
#include "stoker/storage/memory_source_testing.h"

namespace stoker {
namespace {

using namespace std::string_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kHdf5Jpeg =
    "\xff\xd8\xff"
    "photograph";
const std::string kHdf5Png = "\x89PNG\r\n\x1a\n...";

/// "key label field=content ..." of each sample; of arrays the shape and the values.
std::vector<std::string> hdf5_listing(const std::string& bytes, ShardNotes* notes = nullptr) {
  MemorySource source("a/x.1.h5", std::vector<std::uint8_t>(bytes.begin(), bytes.end()));
  const std::unique_ptr<ShardScan> scan = Hdf5Format().scan(source, {});
  std::vector<std::string> lines;
  for (SampleRow row; scan->next(row);) {
    std::string line = fmt::format("{} {}", row.key, row.label);
    for (const SampleField& field : row.fields) {
      std::string content(field.length, '?');
      read_fully(*row.source, field.offset, {reinterpret_cast<std::uint8_t*>(content.data()), content.size()});
      if (content.starts_with("\x93NUMPY")) {
        const std::size_t shape = content.find("'shape': ") + 9, end = content.find('\n');
        content = content.substr(content.find("'descr': ") + 10, 3) +
                  content.substr(shape, content.find(')') + 1 - shape) + ":" + content.substr(end + 1);
      }
      line += fmt::format(" {}={}", field.name, content);
    }
    lines.push_back(line);
  }
  ShardNotes taken = scan->take_notes();
  if (notes) *notes = std::move(taken);
  return lines;
}

std::vector<std::string> hdf5_problems(const std::string& bytes) {
  ShardNotes notes;
  hdf5_listing(bytes, &notes);
  return notes.problems;
}

std::string hdf5_refusal(const std::string& bytes) {
  const Error error = error_of([&] { hdf5_listing(bytes); });
  EXPECT_TRUE(error.kind() == ErrorKind::kData || error.kind() == ErrorKind::kLimit) << error.message();
  EXPECT_THAT(error.message(), HasSubstr("'a/x.1.h5'"));
  return error.message();
}

Hdf5TestDataset labels_of(std::initializer_list<int> numbers) {
  Hdf5TestDataset labels{.name = "labels", .type = "<i4", .shape = {numbers.size()}};
  for (const int number : numbers) {
    for (int i = 0; i < 4; ++i) labels.content += static_cast<char>(number >> 8 * i & 255);
  }
  return labels;
}

/// Of `count` images of 1 x 2 x 3, each of one letter.
Hdf5TestDataset images_of(std::size_t count) {
  Hdf5TestDataset images{.name = "images", .shape = {count, 1, 2, 3}};
  for (std::size_t i = 0; i < count; ++i) images.content += std::string(6, static_cast<char>('a' + i % 26));
  return images;
}

std::vector<std::string> lines_of_images(std::size_t count) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < count; ++i) {
    lines.push_back(
        fmt::format("x_1/{:08} -1 npy=|u1(1, 2, 3):{}", i, std::string(6, static_cast<char>('a' + i % 26))));
  }
  return lines;
}

TEST(Hdf5Format, GivesEachRowOfAnArrayAHeader) {
  for (const bool is_new : {false, true}) {
    ShardNotes notes;
    const std::string file = hdf5_file({images_of(2), labels_of({3, -7})}, {.is_new = is_new});
    EXPECT_THAT(hdf5_listing(file, &notes),
                ElementsAre("x_1/00000000 3 npy=|u1(1, 2, 3):aaaaaa", "x_1/00000001 -1 npy=|u1(1, 2, 3):bbbbbb"));
    EXPECT_THAT(notes.problems, IsEmpty());
    ASSERT_NE(notes.blocks, nullptr);
    EXPECT_EQ(notes.blocks->size(), 1u) << "however many rows there are";
  }
}

TEST(Hdf5Format, FindsDatasetsInTheOnlyGroupAfterAUserBlockAndInHeaps) {
  for (const bool is_new : {false, true}) {
    const std::string file = hdf5_file({images_of(2)}, {.is_new = is_new, .group = "train", .user_block = 1024});
    EXPECT_EQ(hdf5_listing(file), lines_of_images(2));
  }
  std::vector<Hdf5TestDataset> many = {images_of(1)};
  std::string others;
  for (int i = 0; i < 30; ++i) {
    many.push_back({.name = fmt::format("weight_{:02}", i), .shape = {1}, .content = fmt::format("{}", i % 10)});
    others += fmt::format(" weight_{:02}.u8={}", i, i % 10);
  }
  for (const bool has_dense_links : {false, true}) {
    const std::string file = hdf5_file(many, {.is_new = true, .has_dense_links = has_dense_links});
    EXPECT_THAT(hdf5_listing(file), ElementsAre("x_1/00000000 -1 npy=|u1(1, 2, 3):aaaaaa" + others));
  }
  EXPECT_EQ(hdf5_listing(hdf5_file({images_of(1)}, {.is_new = true, .has_dense_links = true})), lines_of_images(1))
      << "in a heap of one block";
}

struct IndexCase {
  Hdf5ChunkIndex index;
  std::size_t rows;
  std::uint64_t per_chunk;
};

TEST(Hdf5Format, FindsChunksByEveryIndex) {
  for (const auto& [index, rows, per_chunk] :
       {IndexCase{Hdf5ChunkIndex::kTree, 1, 1}, IndexCase{Hdf5ChunkIndex::kTree, 40, 3},
        IndexCase{Hdf5ChunkIndex::kSingle, 5, 5}, IndexCase{Hdf5ChunkIndex::kFixedArray, 7, 2},
        IndexCase{Hdf5ChunkIndex::kFixedArray, 70, 2}, IndexCase{Hdf5ChunkIndex::kExtensibleArray, 2, 1},
        IndexCase{Hdf5ChunkIndex::kExtensibleArray, 9, 1}, IndexCase{Hdf5ChunkIndex::kExtensibleArray, 400, 3},
        IndexCase{Hdf5ChunkIndex::kNewTree, 3, 1}, IndexCase{Hdf5ChunkIndex::kNewTree, 40, 3},
        IndexCase{Hdf5ChunkIndex::kImplicit, 40, 4}}) {
    std::vector<std::vector<std::uint16_t>> pipelines = {{}};
    if (index != Hdf5ChunkIndex::kImplicit) {
      pipelines.insert(pipelines.end(), {{Hdf5Filter::kDeflate},
                                         {Hdf5Filter::kLzf},
                                         {Hdf5Filter::kFletcher32},
                                         {Hdf5Filter::kShuffle, Hdf5Filter::kDeflate, Hdf5Filter::kFletcher32}});
    }
    for (const std::vector<std::uint16_t>& filters : pipelines) {
      Hdf5TestDataset images = images_of(rows);
      images.chunk = {per_chunk, 1, 2, 3};
      images.index = index;
      images.filters = filters;
      EXPECT_EQ(hdf5_listing(hdf5_file({images}, {.is_new = index != Hdf5ChunkIndex::kTree})), lines_of_images(rows))
          << static_cast<int>(index) << ", " << filters.size() << " filters";
    }
  }
}

TEST(Hdf5Format, ReadsChunksThatWereNotCompressed) {
  for (const std::uint16_t filter : {Hdf5Filter::kDeflate, Hdf5Filter::kLzf}) {
    Hdf5TestDataset images = images_of(9);
    images.chunk = {2, 1, 2, 3};
    images.filters = {filter};
    images.unfiltered = {1, 2, 4};
    EXPECT_EQ(hdf5_listing(hdf5_file({images})), lines_of_images(9));
  }
}

TEST(Hdf5Format, JoinsPlainChunksThatFollowEachOther) {
  Hdf5TestDataset images = images_of(40);
  images.shape = {10, 1, 8, 3};
  images.chunk = {1, 1, 8, 3};
  ShardNotes notes;
  EXPECT_EQ(hdf5_listing(hdf5_file({images}), &notes).size(), 10u);
  EXPECT_EQ(notes.blocks->size(), 1u);
}

TEST(Hdf5Format, PutsShuffledNumbersBack) {
  for (const std::uint16_t codec : {Hdf5Filter::kDeflate, Hdf5Filter::kLzf, Hdf5Filter::kFletcher32}) {
    Hdf5TestDataset numbers{.name = "feat", .type = "<f4", .shape = {3, 2}, .content = "abcdefghijklmnopqrstuvwx"};
    Hdf5TestDataset weights{.name = "weight", .type = "<f8", .shape = {3}, .content = "abcdefghijklmnopqrstuvwx"};
    Hdf5TestDataset labels = labels_of({5, 6, 7});
    numbers.chunk = {2, 2};
    weights.chunk = labels.chunk = {2};
    numbers.filters = weights.filters = labels.filters = {Hdf5Filter::kShuffle, codec};
    EXPECT_THAT(hdf5_listing(hdf5_file({numbers, weights, labels})),
                ElementsAre("x_1/00000000 5 feat.npy=<f4(2,):abcdefgh weight.f64=abcdefgh",
                            "x_1/00000001 6 feat.npy=<f4(2,):ijklmnop weight.f64=ijklmnop",
                            "x_1/00000002 7 feat.npy=<f4(2,):qrstuvwx weight.f64=qrstuvwx"));
  }
}

TEST(Hdf5Format, ReadsBytesOfAnyLength) {
  for (const bool is_new : {false, true}) {
    Hdf5TestDataset images{.name = "images", .type = "bytes", .shape = {3}, .values = {kHdf5Jpeg, kHdf5Png, ""}};
    Hdf5TestDataset masks{.name = "Mask", .type = "bytes", .shape = {3, 1}, .values = {kHdf5Png, "none", kHdf5Png}};
    Hdf5TestDataset names{.name = "filename", .type = "str", .shape = {3}, .values = {"n1/a.jpg", "n1/b.x.png", ""}};
    masks.chunk = {2, 1};
    masks.filters = {Hdf5Filter::kShuffle, Hdf5Filter::kDeflate};
    EXPECT_THAT(hdf5_listing(hdf5_file({images, masks, names, labels_of({0, 1, 2})}, {.is_new = is_new})),
                ElementsAre("n1/a 0 mask.png=" + kHdf5Png + " filename=n1/a.jpg jpg=" + kHdf5Jpeg,
                            "n1/b.x.png/image 1 mask=none filename=n1/b.x.png png=" + kHdf5Png,
                            "x_1/00000002 2 mask=" + kHdf5Png + " filename= images="));
  }
}

TEST(Hdf5Format, ReadsBytesOfOneLength) {
  const std::string content = kHdf5Jpeg + "\0\0"s + kHdf5Png + std::string(15 - kHdf5Png.size(), '\0');
  Hdf5TestDataset strings{.name = "image", .type = "S15", .shape = {2}, .content = content};
  EXPECT_THAT(hdf5_listing(hdf5_file({strings})),
              ElementsAre("x_1/00000000 -1 jpg=" + kHdf5Jpeg, "x_1/00000001 -1 png=" + kHdf5Png));
  Hdf5TestDataset opaque{.name = "image", .type = "V15", .shape = {2}, .content = content};
  opaque.chunk = {1};
  opaque.filters = {Hdf5Filter::kLzf};
  EXPECT_THAT(hdf5_listing(hdf5_file({opaque})),
              ElementsAre("x_1/00000000 -1 jpg=" + content.substr(0, 15), "x_1/00000001 -1 png=" + content.substr(15)));
}

TEST(Hdf5Format, ReadsWhatLiesInTheHeader) {
  Hdf5TestDataset weights{.name = "weight", .shape = {2}, .content = "ab"};
  weights.is_compact = true;
  EXPECT_THAT(hdf5_listing(hdf5_file({images_of(2), weights})),
              ElementsAre("x_1/00000000 -1 npy=|u1(1, 2, 3):aaaaaa weight.u8=a",
                          "x_1/00000001 -1 npy=|u1(1, 2, 3):bbbbbb weight.u8=b"));
}

TEST(Hdf5Format, KeepsOtherNumbersAsTheyAre) {
  const std::string file = hdf5_file({{.name = "Big", .type = ">i2", .shape = {2}, .content = "abcd"},
                                      {.name = "y", .type = ">i2", .shape = {2, 1, 1}, .content = "\0\1\xff\xff"s}});
  EXPECT_THAT(hdf5_listing(file), ElementsAre("x_1/00000000 1 big.npy=>i2():ab", "x_1/00000001 -1 big.npy=>i2():cd"));
  EXPECT_THAT(hdf5_problems(file), ElementsAre()) << "samples of arrays need no images";
}

TEST(Hdf5Format, TakesTheUsualOneOfSeveralImages) {
  Hdf5TestDataset images = images_of(1), masks = images_of(1);
  masks.name = "depth";
  EXPECT_THAT(hdf5_listing(hdf5_file({masks, images})),
              ElementsAre("x_1/00000000 -1 depth.npy=|u1(1, 2, 3):aaaaaa npy=|u1(1, 2, 3):aaaaaa"));
}

TEST(Hdf5Format, SkipsWhatIsNotOfSamplesAndSaysSo) {
  Hdf5TestDataset classes{.name = "list_classes", .type = "S3", .shape = {2}, .content = "catdog"};
  Hdf5TestDataset boxes{.name = "boxes", .type = "compound", .shape = {3}, .content = "abcdefghijkl"};
  Hdf5TestDataset depth{.name = "depth", .type = "<f4", .shape = {3, 2}, .content = std::string(24, 'x')};
  depth.chunk = {3, 1};
  EXPECT_THAT(hdf5_problems(hdf5_file({images_of(3), classes, boxes, depth})),
              ElementsAre(HasSubstr("skips the dataset 'boxes', which has compound values"),
                          HasSubstr("skips the dataset 'depth', which is stored in chunks of 3 x 1"),
                          HasSubstr("skips the dataset 'list_classes', which has 2 rows, and the others 3")));
}

// As netCDF-4 describes the axes of its variables.
TEST(Hdf5Format, SkipsWhatWasNeverWrittenUnlessSamplesNeedIt) {
  const auto dimension = [](const std::string& name, std::uint64_t length) {
    return Hdf5TestDataset{
        .name = name, .type = ">f4", .shape = {length}, .content = std::string(4 * length, 'x'), .unwritten = {0}};
  };
  Hdf5TestDataset unbounded = dimension("n", 2);
  unbounded.shape_max = {kHdf5Nowhere};
  unbounded.chunk = {1};
  unbounded.unwritten = {0, 1};
  const std::vector<Hdf5TestDataset> dimensions = {unbounded, dimension("m", 2), dimension("y", 5)};
  for (const Hdf5TestDataset& written :
       {images_of(2), Hdf5TestDataset{.name = "volume", .type = "<f4", .shape = {2, 1}, .content = "abcdefgh"}}) {
    std::vector<Hdf5TestDataset> all = dimensions;
    all.push_back(written);
    const std::string file = hdf5_file(all);
    EXPECT_EQ(hdf5_listing(file), hdf5_listing(hdf5_file({written})));
    EXPECT_THAT(hdf5_problems(file), ElementsAre(HasSubstr("skips the dataset 'm', which was never written"),
                                                 HasSubstr("'n', which was never"), HasSubstr("'y', which was never")));
  }
  Hdf5TestDataset labels = labels_of({1, 2}), images = images_of(2);
  labels.unwritten = images.unwritten = {0};
  EXPECT_THAT(hdf5_refusal(hdf5_file({images_of(2), labels})), HasSubstr("dataset 'labels' was never written"));
  EXPECT_THAT(hdf5_refusal(hdf5_file({images, labels_of({1, 2})})), HasSubstr("dataset 'images' was never written"));
  EXPECT_THAT(hdf5_refusal(hdf5_file({dimension("m", 2)})), HasSubstr("dataset 'm' was never written"));
}

TEST(Hdf5Format, RefusesWhatItCannotReadByName) {
  Hdf5TestDataset images = images_of(4);
  images.chunk = {4, 1, 1, 3};
  EXPECT_THAT(hdf5_refusal(hdf5_file({images})),
              AllOf(HasSubstr("dataset 'images' is stored in chunks of 4 x 1 x 1 x 3"),
                    HasSubstr("`h5repack -l images:CHUNK=1x1x2x3 OLD NEW` helps")));
  images.chunk = {1, 1, 2, 3};
  images.filters = {32001};
  EXPECT_THAT(hdf5_refusal(hdf5_file({images})), HasSubstr("dataset 'images' went through the filter Blosc"));
  images.filters = {Hdf5Filter::kDeflate, Hdf5Filter::kShuffle};
  EXPECT_THAT(hdf5_refusal(hdf5_file({images})), HasSubstr("in an unusual order"));
  images.filters = {Hdf5Filter::kDeflate};
  images.unwritten = {2};
  EXPECT_THAT(hdf5_refusal(hdf5_file({images})), HasSubstr("rows 2 to 2 of dataset 'images' were never written"));
  Hdf5TestDataset others = images_of(2);
  others.name = "test_images";
  EXPECT_THAT(hdf5_refusal(hdf5_file({images_of(3), others})),
              HasSubstr("'images' has 3 rows and 'test_images' has 2 rows"));
  EXPECT_THAT(hdf5_refusal(hdf5_file({})), HasSubstr("has no datasets with rows"));
  EXPECT_THAT(hdf5_refusal(hdf5_file({images_of(1), {.name = "Npy", .type = "S1", .shape = {1}, .content = "x"}})),
              HasSubstr("two datasets for the field 'npy'"));
}

TEST(Hdf5Format, RefusesNamesWithoutEnd) {
  Hdf5TestDataset images = images_of(2);
  images.name = std::string(4096, 'n');
  EXPECT_EQ(hdf5_listing(hdf5_file({images})).size(), 2u);
  images.name = std::string(1 << 20, 'n');
  EXPECT_THAT(hdf5_refusal(hdf5_file({images})), HasSubstr("a name is too long"));
  EXPECT_THAT(hdf5_refusal(hdf5_file({images_of(2)}, {.group = images.name})), HasSubstr("a name is too long"));
}

TEST(Hdf5Format, RefusesGroupsThatGoInCircles) {
  // The group that the root leads to is the root.
  std::string file = hdf5_file({images_of(1)}, {.group = "train"});
  constexpr std::size_t kRootAt = 64;
  auto* const bytes = reinterpret_cast<std::uint8_t*>(file.data());
  const auto root = load_little_endian<std::uint64_t>(bytes + kRootAt);
  const std::size_t table = file.find("SNOD", file.rfind("SNOD", root) - 1);
  store_little_endian(bytes + table + 16, root);
  EXPECT_THAT(hdf5_refusal(file), HasSubstr("has no datasets with rows"));
}

TEST(Hdf5Format, NamesChunksThatAreDamaged) {
  Hdf5TestDataset labels = labels_of({1, 2, 3, 4, 5, 6, 7, 8});
  labels.chunk = {8};
  labels.filters = {Hdf5Filter::kLzf};
  std::string file = hdf5_file({images_of(8), labels});
  const std::size_t at = file.find(std::string("\x01\0\0\0\x02", 5));
  ASSERT_NE(at, file.npos);
  file[at - 1] = '\xff';
  EXPECT_THAT(hdf5_refusal(file), AllOf(HasSubstr("dataset 'labels'"), HasSubstr("lzf data are damaged")));
}

TEST(Hdf5Checksum, IsJenkins) {
  // The first is that of a superblock which libhdf5 wrote.
  const std::string superblock = kHdf5Signature.data() + "\x03\x08\x08"s + std::string(9, '\0') +
                                 std::string(8, '\xff') + "\x18\x08"s + std::string(6, '\0') + "\x30"s +
                                 std::string(7, '\0');
  ASSERT_EQ(superblock.size(), 44u);
  EXPECT_EQ(hdf5_checksum(as_bytes(superblock)), 0xfd6cbc09);
  EXPECT_EQ(hdf5_checksum({}), 0xdeadbeef);
}

std::vector<std::string> files_of_all_kinds() {
  std::vector<std::string> files;
  const std::vector<Hdf5TestDataset> values =
      hdf5_datasets_of({{"a/1", 3, kHdf5Jpeg, "one"}, {"a/2", 4, kHdf5Png, ""}});
  files.push_back(hdf5_file(values));
  files.push_back(hdf5_file(values, {.is_new = true, .has_dense_links = true}));
  for (const Hdf5ChunkIndex index : {Hdf5ChunkIndex::kTree, Hdf5ChunkIndex::kFixedArray,
                                     Hdf5ChunkIndex::kExtensibleArray, Hdf5ChunkIndex::kNewTree}) {
    Hdf5TestDataset images = images_of(20);
    images.chunk = {2, 1, 2, 3};
    images.index = index;
    images.filters = {Hdf5Filter::kDeflate};
    files.push_back(hdf5_file({images}, {.is_new = index != Hdf5ChunkIndex::kTree}));
  }
  return files;
}

TEST(Hdf5Format, NamesTheFileWhereverItIsCut) {
  for (const std::string& bytes : files_of_all_kinds()) {
    for (std::size_t length = 0; length < bytes.size(); ++length) hdf5_refusal(bytes.substr(0, length));
  }
}

TEST(Hdf5Format, StaysInsideWhateverBitFlips) {
  for (std::string bytes : files_of_all_kinds()) {
    int sound = 0, refused = 0;
    for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
      bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
      MemorySource source("a/x.1.h5", std::vector<std::uint8_t>(bytes.begin(), bytes.end()));
      try {
        // Without checksums there is more to be wrong.
        Hdf5Samples samples(source, {}, Hdf5Checksums::kIgnored);
        for (SampleRow row; samples.next(row);) {
          for (const SampleField& field : row.fields) {
            std::vector<std::uint8_t> content(field.length);
            read_fully(*row.source, field.offset, content);
          }
        }
        ++sound;
      } catch (const Error& error) {
        EXPECT_THAT(error.message(), HasSubstr("'a/x.1.h5'"));
        ++refused;
      }
      bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
    }
    EXPECT_GT(sound, 0);
    EXPECT_GT(refused, 0);
  }
}

}  // namespace
}  // namespace stoker
