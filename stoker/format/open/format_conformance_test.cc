// What every format of shards that are one file must do: the same samples by every way of opening, and a sentence that
// names the file for whatever else the bytes may be.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "stoker/base/error_testing.h"
#include "stoker/base/little_endian.h"
#include "stoker/base/log_testing.h"
#include "stoker/base/random.h"
#include "stoker/format/arrow/arrow_format.h"
#include "stoker/format/arrow/arrow_testing.h"
#include "stoker/format/beton/beton_format.h"
#include "stoker/format/beton/beton_testing.h"
#include "stoker/format/content_tag.h"
#include "stoker/format/hdf5/hdf5_format.h"
#include "stoker/format/hdf5/hdf5_testing.h"
#include "stoker/format/index/index_writer.h"
#include "stoker/format/litdata/litdata_format.h"
#include "stoker/format/litdata/litdata_testing.h"
#include "stoker/format/lmdb/lmdb_format.h"
#include "stoker/format/lmdb/lmdb_testing.h"
#include "stoker/format/mds/mds_format.h"
#include "stoker/format/mds/mds_writer.h"
#include "stoker/format/open/sharded_dataset.h"
#include "stoker/format/parquet/parquet_format.h"
#include "stoker/format/parquet/parquet_testing.h"
#include "stoker/format/recordio/recordio_format.h"
#include "stoker/format/recordio/recordio_testing.h"
#include "stoker/format/shard_format.h"
#include "stoker/format/tar/tar_format.h"
#include "stoker/format/tar/tar_writer.h"
#include "stoker/format/tar_testing.h"
#include "stoker/format/tfrecord/tfrecord_format.h"
#include "stoker/format/tfrecord/tfrecord_writer.h"
#include "stoker/format/zip/zip_format.h"
#include "stoker/format/zip/zip_testing.h"
#include "stoker/storage/atomic_file.h"
#include "stoker/storage/memory_source_testing.h"
#include "stoker/storage/temp_folder_testing.h"

namespace stoker {
namespace {

using ::testing::HasSubstr;

/// A sample as each format is to tell it.
struct TestSample {
  std::string key;
  std::int64_t label;
  std::string jpg;
  std::optional<std::string> note{};
};

/// Without names they are numbered, as formats without names number them in a file "train", and have no notes.
std::vector<TestSample> test_samples(int count, bool have_names) {
  std::vector<TestSample> samples;
  for (int i = 0; i < count; ++i) {
    const auto n = static_cast<std::size_t>(i);
    samples.push_back({
        .key = have_names ? fmt::format("n{:02}/{}", i % 3, i) : fmt::format("train/{:08}", i),
        .label = i % 3,
        .jpg = "\xff\xd8\xff" + std::string(n * 37 % 101, static_cast<char>('a' + i % 26)),
    });
    if (have_names) samples.back().note = std::string(n % 4, 'x');
  }
  return samples;
}

struct FormatCase {
  std::string name;
  std::string file;  // a name for a shard
  const ShardFormat& (*format)();
  void (*write)(const std::string& path, const std::vector<TestSample>& samples);
  bool checks_every_byte;      // a scan does
  bool has_names;              // of samples and fields; else samples are numbered and have an image alone
  std::size_t end_mark_bytes;  // 0: without a mark, what is cut between two samples is a whole shard
  bool sorts = false;          // samples stand in the order of their keys
};

template <typename Format>
const ShardFormat& format_object() {
  static const Format format;
  return format;
}

void write_as_tar(const std::string& path, const std::vector<TestSample>& samples) {
  TarWriter tar(path);
  for (const TestSample& sample : samples) {
    tar.add(sample.key + ".jpg", as_bytes(sample.jpg));
    if (sample.note) tar.add(sample.key + ".note", as_bytes(*sample.note));
    tar.add(sample.key + ".cls", as_bytes(std::to_string(sample.label)));
  }
  tar.finish();
}

void write_as_tfrecord(const std::string& path, const std::vector<TestSample>& samples) {
  TfRecordWriter file(std::make_unique<AtomicFile>(path));
  ExampleBuilder example;
  for (const TestSample& sample : samples) {
    example.clear();
    example.add_bytes("__key__", {as_bytes(sample.key)});
    example.add_integers("image/class/label", {sample.label});
    example.add_bytes("image/encoded", {as_bytes(sample.jpg)});
    if (sample.note) example.add_bytes("note", {as_bytes(*sample.note)});
    file.add(example.message());
  }
  file.finish();
}

void write_as_recordio(const std::string& path, const std::vector<TestSample>& samples) {
  std::string file;
  std::uint64_t id = 0;
  for (const TestSample& sample : samples) {
    file += recordio_record(recordio_image({static_cast<float>(sample.label)}, id++, sample.jpg));
  }
  write_whole_file(path, as_bytes(file));
}

std::vector<ParquetTestColumn> parquet_columns(const std::vector<TestSample>& samples) {
  std::vector<ParquetTestSample> rows;
  for (const TestSample& one : samples) {
    rows.push_back({.key = one.key, .label = one.label, .image = one.jpg, .note = one.note});
  }
  return parquet_columns_of(rows);
}

void write_as_parquet(const std::string& path, const std::vector<TestSample>& samples) {
  const ParquetTestOptions options{.rows_per_group = 64, .rows_per_page = 7};
  write_whole_file(path, as_bytes(parquet_file(parquet_columns(samples), options)));
}

/// Its notes are of one column, so that a sample without one has an empty one.
void write_as_mds(const std::string& path, const std::vector<TestSample>& samples) {
  std::vector<MdsColumnSpec> columns = {{"__key__", "str"}, {"image", "jpeg"}, {"label", "int"}, {"note", "str"}};
  MdsWriter file(std::make_unique<AtomicFile>(path), columns);
  for (const TestSample& sample : samples) {
    std::vector<std::uint8_t> label;
    append_little_endian(label, sample.label);
    const std::string note = sample.note.value_or("");
    file.add(std::vector<Bytes>{as_bytes(sample.key), as_bytes(sample.jpg), label, as_bytes(note)});
  }
  file.finish();
}

/// With the list beside it that says what its samples hold.
void write_as_litdata_by(const std::string& path, const std::vector<TestSample>& samples,
                         std::string (*chunk_of)(const std::vector<std::string>& items)) {
  std::vector<std::string> items;
  for (const TestSample& sample : samples) {
    items.push_back(litdata_item({sample.key, sample.jpg, litdata_int(sample.label), sample.note.value_or("")}));
  }
  write_whole_file(path, as_bytes(chunk_of(items)));
  const std::size_t name_at = path.find_last_of('/') + 1;
  write_whole_file(path.substr(0, name_at) + std::string(kLitDataListName),
                   as_bytes(litdata_list({{"__key__", "str"}, {"image", "jpeg"}, {"label", "int"}, {"note", "str"}},
                                         {{path.substr(name_at), items.size()}})));
}

void write_as_litdata(const std::string& path, const std::vector<TestSample>& samples) {
  write_as_litdata_by(path, samples, litdata_chunk);
}

void write_as_litdata_frames(const std::string& path, const std::vector<TestSample>& samples) {
  write_as_litdata_by(path, samples,
                      [](const std::vector<std::string>& items) { return litdata_chunk_of_frames(items, 2); });
}

std::vector<ArrowTestBatch> arrow_batches(const std::vector<TestSample>& samples) {
  constexpr std::size_t kBatch = 7;
  std::vector<ArrowTestBatch> batches;
  for (std::size_t first = 0; first < samples.size(); first += kBatch) {
    ArrowTestColumn key{.name = "__key__", .type = "text"}, image{.name = "image", .type = "bytes"},
        label{.name = "label", .type = "i64"}, note{.name = "note", .type = "text"};
    for (std::size_t i = first; i < std::min(first + kBatch, samples.size()); ++i) {
      key.values.push_back(samples[i].key);
      image.values.push_back(samples[i].jpg);
      label.values.push_back(litdata_int(samples[i].label));
      note.values.push_back(samples[i].note.value_or(""));
      note.valid.push_back(samples[i].note.has_value());
    }
    batches.push_back({key, image, label, note});
  }
  return batches;
}

/// In the place of its items, in batches of rows.
void write_as_litdata_table(const std::string& path, const std::vector<TestSample>& samples) {
  write_as_litdata_by(path, samples, litdata_chunk);  // for its list
  write_whole_file(path, as_bytes(litdata_chunk_of_table(samples.size(), arrow_file(arrow_batches(samples)))));
}

void write_as_arrow(const std::string& path, const std::vector<TestSample>& samples) {
  write_whole_file(path, as_bytes(arrow_file(arrow_batches(samples))));
}

/// As Feather is by default.
void write_as_feather(const std::string& path, const std::vector<TestSample>& samples) {
  write_whole_file(path, as_bytes(arrow_file(arrow_batches(samples), {.codec = ArrowTestCodec::kLz4})));
}

void write_as_beton(const std::string& path, const std::vector<TestSample>& samples) {
  std::vector<TestBetonSample> values;
  for (const TestSample& sample : samples) values.push_back({{sample.jpg}, {beton_int(sample.label)}});
  write_whole_file(path, as_bytes(beton_file({{"image"}, {"label", BetonType::kInteger}}, values)));
}

/// Every third image is deflated; classes are folders.
void write_as_zip(const std::string& path, const std::vector<TestSample>& samples) {
  TestZip zip;
  for (const TestSample& sample : samples) {
    zip.members.push_back({.name = sample.key + ".jpg", .content = sample.jpg, .deflate = zip.members.size() % 3 == 0});
    if (sample.note) zip.members.push_back({.name = sample.key + ".note", .content = *sample.note});
  }
  write_whole_file(path, as_bytes(zip.bytes()));
}

/// As Caffe writes it with its option --encoded.
void write_as_lmdb(const std::string& path, const std::vector<TestSample>& samples) {
  std::vector<TestLmdbEntry> entries;
  for (const TestSample& sample : samples) {
    const std::string number = sample.key.substr(sample.key.find('/') + 1);
    entries.push_back({number, encoded_datum(sample.jpg, static_cast<int>(sample.label))});
  }
  write_whole_file(path, as_bytes(lmdb_file(entries)));
}

void write_as_hdf5(const std::string& path, const std::vector<TestSample>& samples) {
  std::vector<Hdf5TestSample> rows;
  for (const TestSample& one : samples) {
    rows.push_back({.key = one.key, .label = one.label, .image = one.jpg, .note = one.note.value_or("")});
  }
  write_whole_file(path, as_bytes(hdf5_file(hdf5_datasets_of(rows))));
}

class FormatConformance : public ::testing::TestWithParam<FormatCase> {
 protected:
  static std::vector<TestSample> samples(int count) {
    std::vector<TestSample> all = test_samples(count, GetParam().has_names);
    const auto by_key = [](const TestSample& a, const TestSample& b) { return a.key < b.key; };
    if (GetParam().sorts) std::sort(all.begin(), all.end(), by_key);
    return all;
  }
  std::string write(int count) const {
    std::string path = folder_.path(GetParam().file);
    GetParam().write(path, samples(count));
    return path;
  }
  /// What says beside the written file what its samples hold, if anything does.
  void copy_list(const std::string& folder) {
    const std::string list = folder_.path("index.json");
    if (Stores().find(list)) folder_.write(folder + "/index.json", read_file(list));
  }
  static std::shared_ptr<const Dataset> open(const std::string& path, const IndexOptions& options = {.use = false}) {
    return open_dataset({path}, std::make_shared<InlineExecutor>(), options);
  }
  static std::string describe(const SampleRow& row) {
    std::string text = fmt::format("{} {}", row.key, row.label);
    for (const char* name : {"jpg", "note"}) {
      const SampleField* const field = row.field(name);
      if (!field) continue;
      std::string content(field->length, '?');
      read_checked(row, *field, {reinterpret_cast<std::uint8_t*>(content.data()), content.size()});
      text += fmt::format(" {}={}", name, content);
    }
    return text;
  }
  /// Of bytes that stand for the file which was written, among what was written beside it.
  std::unique_ptr<ShardScan> begin_scan(Source& shard, const std::stop_token& stop = {}) const {
    return GetParam().format().scan_at(Stores(), folder_.path(GetParam().file), shard, stop);
  }
  std::shared_ptr<const BlockTable> blocks_of(Source& shard) const {
    const std::unique_ptr<ShardScan> scan = begin_scan(shard);
    for (SampleRow row; scan->next(row);) {
    }
    return scan->take_notes().blocks;
  }
  static std::vector<std::string> all_of(const Dataset& data) {
    std::vector<std::string> all;
    for (std::int64_t i = 0; i < data.size(); ++i) all.push_back(describe(data.row(i)));
    return all;
  }
  static std::vector<std::string> expected(int count) {
    std::vector<std::string> all;
    for (const TestSample& sample : samples(count)) {
      all.push_back(fmt::format("{} {} jpg={}", sample.key, sample.label, sample.jpg));
      if (sample.note) all.back() += " note=" + *sample.note;
    }
    return all;
  }
  /// Scans bytes that may be anything. The message if that throws, which names the file; else every field lies inside.
  std::string fault(const std::string& bytes, std::int64_t* count = nullptr) const {
    MemorySource source(GetParam().file, std::vector<std::uint8_t>(bytes.begin(), bytes.end()));
    std::int64_t found = 0;
    const auto said = fault_of_data([&] {
      const std::unique_ptr<ShardScan> scan = begin_scan(source);
      for (SampleRow row; scan->next(row); ++found) {
        for (const SampleField& field : row.fields) {
          std::vector<std::uint8_t> content(std::min<std::size_t>(field.length, bytes.size()));
          EXPECT_EQ(content.size(), field.length);
          read_fully(*row.source, field.offset, content);
        }
      }
    });
    if (count) *count = found;
    if (!said) return "";
    EXPECT_THAT(*said, HasSubstr("'" + GetParam().file + "'"));
    return *said;
  }

  TempFolder folder_;
};

TEST_P(FormatConformance, TellsKeysLabelsAndFields) {
  const auto data = open(write(300));
  EXPECT_EQ(all_of(*data), expected(300));
  for (std::int64_t i = 0; i < data->size(); ++i) {
    const SampleRow row = data->row(i);
    ASSERT_NE(row.image_field(), nullptr);
    EXPECT_EQ(row.image_field()->name, "jpg");
  }
}

TEST_P(FormatConformance, IsReadInAnyOrder) {
  const auto data = open(write(300));
  std::vector<std::int64_t> order(300);
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[i * 7919 % 104729 % i]);
  ASSERT_FALSE(std::is_sorted(order.begin(), order.end()));
  std::vector<std::string> found(order.size());
  for (const std::int64_t i : order) found[static_cast<std::size_t>(i)] = describe(data->row(i));
  EXPECT_EQ(found, expected(300));
}

TEST_P(FormatConformance, HasTheSameFingerprintInEveryFormat) {
  const std::string tar = folder_.path("other.tar");
  write_as_tar(tar, samples(300));
  EXPECT_EQ(open(write(300))->fingerprint(), open(tar)->fingerprint());
}

TEST_P(FormatConformance, TellsTheSameByItsIndexBesideItOrInTheCache) {
  const std::string path = write(300);
  const auto scanned = open(path);
  const IndexOptions cached{.cache_folder = folder_.path("cache")};
  EXPECT_EQ(all_of(*open(path, cached)), expected(300));
  EXPECT_EQ(all_of(*open(path, cached)), expected(300)) << "by what was kept";

  IndexWriter writer;
  const std::string bytes = read_file(path);
  MemorySource shard(path, std::vector<std::uint8_t>(bytes.begin(), bytes.end()));
  const std::shared_ptr<const BlockTable> blocks = blocks_of(shard);
  for (std::int64_t i = 0; i < scanned->size(); ++i) {
    SampleRow row = scanned->row(i);
    row.key += "!";  // tells which was used
    writer.add(row);
  }
  write_whole_file(path + ".sidx", writer.finish({.data_bytes = shard.size(),
                                                  .content_tag = content_tag(shard, shard.size()),
                                                  .blocks = blocks.get()}));
  std::vector<std::string> marked = expected(300);
  for (std::string& line : marked) line.insert(line.find(' '), "!");
  EXPECT_EQ(all_of(*open(path, {})), marked);
}

TEST_P(FormatConformance, IsRecognisedByItsContent) {
  const std::string bytes = read_file(write(3));
  const std::string unnamed = folder_.write("unnamed/train", bytes);
  copy_list("unnamed");
  EXPECT_EQ(all_of(*open(unnamed)), expected(3));
}

TEST_P(FormatConformance, IsFoundInAFolderByItsName) {
  const std::string bytes = read_file(write(3));
  folder_.write("set/" + GetParam().file, bytes);
  folder_.write("set/README", "not a shard");
  copy_list("set");
  EXPECT_EQ(all_of(*open(folder_.path("set"))), expected(3));
}

TEST_P(FormatConformance, NamesTheFileWhereverItIsCut) {
  const std::string bytes = read_file(write(5));
  std::int64_t whole_prefixes = 0;
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    std::int64_t found = 0;
    if (!fault(bytes.substr(0, length), &found).empty()) continue;
    if (GetParam().end_mark_bytes > 0) {
      EXPECT_EQ(found, 5) << "cut after " << length << " bytes";
      EXPECT_GE(length, bytes.size() - GetParam().end_mark_bytes / 2) << "half of the mark tells the end, too";
    } else {
      EXPECT_EQ(found, whole_prefixes) << "cut after " << length << " bytes";
    }
    ++whole_prefixes;
  }
  EXPECT_TRUE(GetParam().end_mark_bytes > 0 || whole_prefixes == 5) << whole_prefixes;
}

TEST_P(FormatConformance, StaysInsideTheFileWhateverBitFlips) {
  std::string bytes = read_file(write(3));
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
    const std::string said = fault(bytes);
    EXPECT_TRUE(!said.empty() || !GetParam().checks_every_byte) << "bit " << bit % 8 << " of byte " << bit / 8;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
  }
  EXPECT_EQ(fault(bytes), "");
}

TEST_P(FormatConformance, SaysWhenItWasStopped) {
  const std::string bytes = read_file(write(3));
  MemorySource source("shard", std::vector<std::uint8_t>(bytes.begin(), bytes.end()));
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(error_of([&] {
              SampleRow row;
              begin_scan(source, stop.get_token())->next(row);
            }).kind(),
            ErrorKind::kClosed);
}

INSTANTIATE_TEST_SUITE_P(
    All, FormatConformance,
    ::testing::Values(
        FormatCase{"tar", "train.tar", format_object<TarFormat>, write_as_tar, false, true, 1024},
        FormatCase{"tfrecord", "train.tfrecord-00000-of-00002", format_object<TfRecordFormat>, write_as_tfrecord, true,
                   true, 0},
        FormatCase{"recordio", "train.rec", format_object<RecordIoFormat>, write_as_recordio, false, false, 0},
        FormatCase{"parquet", "train.parquet", format_object<ParquetFormat>, write_as_parquet, false, true, 1},
        FormatCase{"zip", "train.zip", format_object<ZipFormat>, write_as_zip, false, true, 22, true},
        FormatCase{"mds", "shard.00000.mds", format_object<MdsFormat>, write_as_mds, false, true, 1},
        FormatCase{"litdata", "chunk-0-0.bin", format_object<LitDataFormat>, write_as_litdata, false, true, 1},
        FormatCase{"litdata_frames", "chunk-0-0.bin", format_object<LitDataFormat>, write_as_litdata_frames, false,
                   true, 1},
        FormatCase{"litdata_table", "chunk-0-0.bin", format_object<LitDataFormat>, write_as_litdata_table, false, true,
                   1},
        FormatCase{"arrow", "train.arrow", format_object<ArrowFormat>, write_as_arrow, false, true, 1},
        FormatCase{"feather", "train.feather", format_object<ArrowFormat>, write_as_feather, false, true, 1},
        FormatCase{"beton", "train.beton", format_object<BetonFormat>, write_as_beton, false, false, 1},
        FormatCase{"lmdb", "train.mdb", format_object<LmdbFormat>, write_as_lmdb, false, false, 1},

        FormatCase{"hdf5", "train.h5", format_object<Hdf5Format>, write_as_hdf5, false, true, 1}),
    [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace stoker
