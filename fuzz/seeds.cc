// Writes the inputs that fuzzing begins with, by the library's own writers: fuzz_seeds CORPUS. Those of `tar` that
// other programs write come from seed_tars.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "fuzz/corpus_folder.h"
#include "stoker/base/little_endian.h"
#include "stoker/codec/npy.h"
#include "stoker/format/arrow/arrow_testing.h"
#include "stoker/format/beton/beton_testing.h"
#include "stoker/format/content_tag.h"
#include "stoker/format/hdf5/hdf5_testing.h"
#include "stoker/format/index/index_places.h"
#include "stoker/format/index/index_testing.h"
#include "stoker/format/litdata/litdata_testing.h"
#include "stoker/format/lmdb/lmdb_page.h"
#include "stoker/format/lmdb/lmdb_testing.h"
#include "stoker/format/manifest/manifest.h"
#include "stoker/format/mds/mds_writer.h"
#include "stoker/format/parquet/parquet_testing.h"
#include "stoker/format/tar/tar_writer.h"
#include "stoker/format/tfrecord/tfrecord_writer.h"
#include "stoker/format/tokens/megatron_index.h"
#include "stoker/format/zip/zip_testing.h"
#include "stoker/pack/job_plan.h"
#include "stoker/pack/planned_rows.h"
#include "stoker/plan/recipe.h"
#include "stoker/storage/atomic_file.h"
#include "stoker/storage/temp_folder_testing.h"

namespace stoker {
namespace {

/// Rows of `count` samples that have little: more blocks fit a small file.
std::vector<std::uint8_t> small_index(std::int64_t count, std::uint64_t tag) {
  IndexWriter writer;
  for (std::int64_t i = 0; i < count; ++i) {
    SampleRow row = testing_row(i);
    row.key = std::to_string(i % 10);
    row.facts.reset();
    row.fields.clear();
    writer.add(row);
  }
  return writer.finish({.data_bytes = 0, .content_tag = tag});
}

/// As a folder of arrays has it: checksums of chunks.
std::vector<std::uint8_t> index_with_chunks(std::uint64_t data_bytes, std::uint64_t tag) {
  SampleRow row;
  row.key = "raw";
  row.label = 3;
  row.fields = {{.name = "npy", .part = {}, .offset = 512, .length = 2 * kChunkBytes + 1, .chunks = 3},
                {.name = "json", .part = {}, .offset = 0, .length = 0, .first_chunk = 3}};
  row.chunk_crcs = {1, 2, 3};
  IndexWriter writer;
  writer.add(row);
  return writer.finish({.data_bytes = data_bytes, .content_tag = tag});
}

/// The target takes the shard of an index to be all zeros.
std::uint64_t tag_of_zeros(std::size_t bytes) {
  MemorySource zeros("zeros", std::vector<std::uint8_t>(bytes));
  return content_tag(zeros, bytes);
}

void keep_indexes(const Corpus& corpus) {
  corpus.keep("index", "empty", testing_index(0, tag_of_zeros(0)));
  corpus.keep("index", "five_rows", testing_index(5, tag_of_zeros(5000)));
  corpus.keep("index", "two_blocks", small_index(258, tag_of_zeros(0)));
  corpus.keep("index", "chunks", index_with_chunks(1 << 20, tag_of_zeros(1 << 20)));
}

void keep_index_in_tar(const Corpus& corpus) {
  const std::string path = corpus.path("index", "inside_a_tar");
  TarWriter tar(path);
  IndexWriter writer;
  SampleRow row;
  row.key = "a/1";
  row.label = 7;
  row.fields = {{.name = "cls", .part = {}, .offset = tar.add("a/1.cls", as_bytes("7")), .length = 1}};
  writer.add(row);
  tar.add(kIndexMember, writer.finish({.data_bytes = tar.bytes(), .data_hash = tar.hash()}));
  tar.finish();
}

void keep_blocks(const Corpus& corpus) {
  for (const int rows : {1, 4}) {
    IndexBlockBuilder builder;
    const std::vector<std::uint16_t> names = {0, 1};
    for (int i = 0; i < rows; ++i) builder.add(testing_row(i), names);
    std::vector<std::uint8_t> input = {static_cast<std::uint8_t>(rows - 1), 2, 1};
    append_little_endian(input, std::uint64_t{5000});
    builder.take(input);
    corpus.keep("index_block", fmt::format("rows_{}", rows), input);
  }
}

void keep_tars(const Corpus& corpus) {
  TarWriter tar(corpus.path("tar", "written_by_stoker"));
  tar.add("n01/1.cls", as_bytes("1"));
  tar.add("n01/1.jpg", as_bytes("no picture"));
  tar.add("n02/2.Seg.PNG", as_bytes("none either"));
  tar.finish();
}

void keep_tfrecords(const Corpus& corpus) {
  TfRecordWriter file(std::make_unique<AtomicFile>(corpus.path("tfrecord", "written_by_stoker")));
  ExampleBuilder example;
  for (const std::int64_t i : {0, 1}) {
    example.clear();
    example.add_bytes("__key__", {as_bytes(i == 0 ? "n01/1" : "n02/2")});
    example.add_bytes("image/encoded", {as_bytes("\xff\xd8\xff no picture")});
    example.add_integers("image/class/label", {i});
    example.add_bytes("captions", {as_bytes("a"), as_bytes("")});
    example.add_floats("box", {0.5F, 1.0F});
    example.add_integers("ids", {1, 300, -1});
    file.add(example.message());
  }
  file.finish();
}

void keep_parquet(const Corpus& corpus) {
  std::vector<ParquetTestColumn> columns =
      parquet_columns_of({{.key = "n01/1", .label = 0, .image = "\xff\xd8\xff no picture", .note = "a note"},
                          {.key = "n02/2", .label = 1, .image = "\xff\xd8\xff none, too"}});
  columns.push_back({.path = "captions.list.element", .is_optional = true, .rows = {{"a", std::nullopt}, {}}});
  const auto keep = [&](const std::string& name, const ParquetTestOptions& options) {
    corpus.keep("parquet", name, as_bytes(parquet_file(columns, options)));
  };
  // What is compressed is kept in the corpus alone: another version of a codec's library writes other bytes.
  keep("plain", {.has_checksums = false,
                 .huggingface = R"({"info": {"features": {"label": {"_type": "ClassLabel", "names": ["a", "b"]}}}})"});
  keep("checksums_in_two_groups", {.rows_per_group = 1});
  for (ParquetTestColumn& column : columns) column.encoding = ParquetEncoding::kDictionary;
  keep("dictionaries_2", {.version_2 = true, .has_checksums = false, .rows_per_page = 1});
  for (ParquetTestColumn& column : columns) {
    column.encoding = column.type == ParquetType::kInt64 ? ParquetEncoding::kDelta : ParquetEncoding::kDeltaLengths;
  }
  keep("deltas", {.has_checksums = false});
  columns = {{.path = "ids.list.element",
              .type = ParquetType::kInt32,
              .encoding = ParquetEncoding::kDictionary,
              .rows = {{plain_int32(7), plain_int32(9), plain_int32(7)}, {}, {plain_int32(9)}}},
             {.path = "steps.list.element",
              .type = ParquetType::kInt64,
              .encoding = ParquetEncoding::kDelta,
              .rows = {{plain_int64(1), plain_int64(5)}, {plain_int64(6)}, {}}},
             {.path = "scale",
              .type = ParquetType::kFloat,
              .encoding = ParquetEncoding::kSplitBytes,
              .rows = {{plain_float(1)}, {plain_float(2)}, {plain_float(3)}}}};
  keep("packed_numbers", {.has_checksums = false, .entries_per_page = 2});
}

void keep_mds(const Corpus& corpus) {
  MdsWriter file(std::make_unique<AtomicFile>(corpus.path("mds", "written_by_stoker")),
                 {{"array", "ndarray"}, {"image", "jpeg"}, {"label", "int"}, {"name", "str"}, {"object", "pkl"}});
  for (const std::int64_t i : {0, 1}) {
    std::vector<std::uint8_t> label;
    append_little_endian(label, i);
    file.add(std::vector<Bytes>{as_bytes("\x08\x04\x02xy"), as_bytes("\xff\xd8\xff no picture"), label,
                                as_bytes(i == 0 ? "a" : ""), as_bytes("?")});
  }
  file.finish();
}

void keep_mds_index(const Corpus& corpus) {
  constexpr std::string_view kIndex =
      R"({"version": 2, "shards": [{"format": "mds", "raw_data": {"basename": "shard.00000.mds", "bytes": 10}}, )"
      R"({"format": "mds", "raw_data": {"basename": "below/shard.00001.mds", "bytes": 9}, )"
      R"("zip_data": {"basename": "below/shard.00001.mds.zstd", "bytes": 5}}]})";
  corpus.keep("mds_index", "shards", as_bytes(kIndex));
}

std::vector<ArrowTestBatch> arrow_batches(const std::string& jpeg) {
  return {{{.name = "image", .type = "bytes", .values = {jpeg, ""}},
           {.name = "label", .type = "i8", .values = {"\1", "\2"}, .valid = {false, true}},
           {.name = "boxes",
            .type = "list",
            .counts = {2, 1},
            .children = {{.name = "", .type = "bool", .values = {"\1", "", ""}}}},
           {.name = "meta",
            .type = "struct",
            .children = {{.name = "path", .type = "text", .values = {"a", "b"}}},
            .rows = 2}}};
}

void keep_arrow(const Corpus& corpus) {
  const std::string jpeg = "\xff\xd8\xff no picture";
  std::vector<ArrowTestBatch> batches = arrow_batches(jpeg);
  corpus.keep("arrow", "file", as_bytes(arrow_file(batches)));
  corpus.keep("arrow", "lz4", as_bytes(arrow_file(batches, {.codec = ArrowTestCodec::kLz4})));
  batches.front().push_back({.name = "view", .type = "text_view", .values = {"a", "more than twelve bytes"}});
  batches.front().push_back(
      {.name = "word", .type = "text", .values = {"cat", "dog"}, .dictionary = 1, .numbers = {1, 0}});
  batches.front().push_back({.name = "pair",
                             .type = "fixed_list",
                             .children = {{.name = "", .type = "i8", .values = {"a", "b", "c", "d"}}},
                             .rows = 2,
                             .fixed = 2});
  batches.front().push_back({.name = "day", .type = "timestamp", .values = {"12345678", "abcdefgh"}});
  const std::string features = R"({"info": {"features": {"label": {"names": ["a"], "_type": "ClassLabel"}}}})";
  corpus.keep("arrow", "stream", as_bytes(arrow_stream(batches, {.huggingface = features})));
  corpus.keep("huggingface_folder", "state",
              as_bytes(std::string_view(R"({"_data_files": [{"filename": "data-00000-of-00001.arrow"}]})")));
  corpus.keep("huggingface_folder", "splits", as_bytes(std::string_view(R"({"splits": {"train": {"num_bytes": 5}}})")));
  corpus.keep("huggingface_folder", "dict", as_bytes(std::string_view(R"({"splits": ["train", "test"]})")));
}

/// Values in the order of the target's leaves.
void keep_litdata(const Corpus& corpus) {
  const std::string jpeg = "\xff\xd8\xff no picture";
  std::vector<std::string> items;
  for (const int i : {0, 1}) {
    items.push_back(
        litdata_item({jpeg, litdata_int(i), i == 0 ? "a/1.jpg" : "b", litdata_u32s({9, 1, 1}) + "real",
                      litdata_u32s({0x0b000000, 0x01000000, 0x02000000}) + "xy",
                      litdata_u32s({1, static_cast<std::uint32_t>(jpeg.size())}) + jpeg,
                      litdata_u32s({2, 1, 3}) + "RGB" + "abcdef", "\5" + litdata_u32s({1, 0}) + "\x0a\1", "?"}));
  }
  corpus.keep("litdata", "plain", as_bytes(litdata_chunk(items)));
  corpus.keep("litdata", "frames", as_bytes(litdata_chunk_of_frames(items, 1)));
  corpus.keep("litdata", "by_one", as_bytes(litdata_chunk_by_one(items)));
  const std::vector<ArrowTestBatch> batches = arrow_batches(jpeg);
  corpus.keep("litdata", "table", as_bytes(litdata_chunk_of_table(2, arrow_file(batches))));
  corpus.keep("litdata", "zstd_table",
              as_bytes(litdata_chunk_of_table(2, arrow_stream(batches, {.codec = ArrowTestCodec::kZstd}))));
  corpus.keep("litdata", "list", as_bytes(litdata_list({{"a", "jpeg"}, {"b", "no_header_numpy:3"}}, {{"x.bin", 2}})));
}

void keep_betons(const Corpus& corpus) {
  using namespace std::string_literals;
  const std::string jpeg = "\xff\xd8\xff no picture";
  corpus.keep("beton", "images",
              as_bytes(beton_file({{"image"}, {"label", BetonType::kInteger}},
                                  {{{jpeg}, {beton_int(0)}},
                                   {{"abcdef", true, 2, 1}, {beton_int(1)}},
                                   {{"ghijkl", true, 2, 1}, {beton_int(2)}}},
                                  64)));
  corpus.keep("beton", "fields",
              as_bytes(beton_file({{"text", BetonType::kBytes},
                                   {"weight", BetonType::kFloat},
                                   {"meta", BetonType::kJson},
                                   {"box", BetonType::kArray, "<f4", {2}},
                                   {"mask", BetonType::kTensor, "|u1", {2, 2}}},
                                  {{{"words"}, {beton_int(5)}, {"{}\0"s}, {"floatval"}, {"abcd"}}}, 64)));
}

void keep_zips(const Corpus& corpus) {
  TestZip zip{.members = {{.name = "cat/1.jpg", .content = "one"},
                          {.name = "cat/1.json", .content = "{}", .descriptor = true},
                          {.name = "dog/2.png", .content = "two two", .deflate = true},
                          {.name = "dog/", .content = ""}},
              .comment = "made by hand"};
  corpus.keep("zip", "classes", as_bytes(zip.bytes()));
  zip = {.members = {{.name = "1.webp", .content = "one", .zip64 = true},
                     {.name = "1.cls", .content = "7", .deflate = true},
                     {.name = "2.jpg", .content = "1.webp", .unix_mode = 0120777}},
         .prefix = "stub",
         .zip64 = true};
  corpus.keep("zip", "zip64", as_bytes(zip.bytes()));
}

void keep_databases(const Corpus& corpus) {
  using namespace std::string_literals;
  const std::string jpeg = "\xff\xd8\xff no picture";
  const auto keep = [&](const std::string& name, const std::vector<TestLmdbEntry>& entries, const TestLmdb& options) {
    corpus.keep("lmdb", name, as_bytes(lmdb_file(entries, options)));
  };
  keep("caffe",
       {{"00000000_a/1.jpg", encoded_datum(jpeg, 7)},
        {"00000001", caffe_datum(3, 2, 1, "bbggrr", 4)},
        {"00000002", encoded_datum(jpeg + std::string(600, 'x'), 1)},
        {"00000003", caffe_datum(2, 1, 1, "", 3) + "\x35\0\0\x80\x3f"s}},
       {.nodes_max = 2});
  keep("numbered",
       {{"image-000000001", jpeg},
        {"image-000000002", jpeg},
        {"label-000000001", "word"},
        {"label-000000002", "other"},
        {"num-samples", "2"}},
       {.nodes_max = 2});
  keep("images", {{"__len__", "\x80\x03K\x02."s}, {"n01/a.1.jpg", jpeg}, {"other", std::string(48, 'x'), kLmdbSubTree}},
       {});
  keep("integers", {{"\x07\0\0\0"s, jpeg}, {"\0\x01\0\0"s, jpeg}}, {.flags = kLmdbIntegerKey});
}

void keep_hdf5s(const Corpus& corpus) {
  const std::string jpeg = "\xff\xd8\xff no picture";
  const std::vector<Hdf5TestDataset> values = hdf5_datasets_of({{"n01/1", 0, jpeg, "a note"}, {"n02/2", 1, jpeg}});
  corpus.keep("hdf5", "values", as_bytes(hdf5_file(values)));
  corpus.keep("hdf5", "new_values", as_bytes(hdf5_file(values, {.is_new = true, .group = "train"})));
  corpus.keep("hdf5", "heap_of_links", as_bytes(hdf5_file(values, {.is_new = true, .has_dense_links = true})));
  // zlib's bytes are not the same from every version of its library.
  Hdf5TestDataset images{
      .name = "images", .shape = {14, 1, 2, 3}, .content = std::string(84, 'x'), .chunk = {1, 1, 2, 3}};
  Hdf5TestDataset labels{
      .name = "labels", .type = "<i2", .shape = {14}, .content = std::string(28, '\1'), .chunk = {4}};
  labels.filters = {Hdf5Filter::kShuffle, Hdf5Filter::kLzf, Hdf5Filter::kFletcher32};
  const auto keep = [&](const std::string& name, Hdf5ChunkIndex index) {
    images.index = labels.index = index;
    corpus.keep("hdf5", name, as_bytes(hdf5_file({images, labels}, {.is_new = index != Hdf5ChunkIndex::kTree})));
  };
  keep("tree", Hdf5ChunkIndex::kTree);
  keep("fixed_array", Hdf5ChunkIndex::kFixedArray);
  keep("extensible_array", Hdf5ChunkIndex::kExtensibleArray);
  keep("new_tree", Hdf5ChunkIndex::kNewTree);
}

void keep_lists(const Corpus& corpus) {
  corpus.keep("list", "table", as_bytes("path,label,text\n\"a.jpg\",cat,\"say \"\"x\"\"\n\"\nb.jpg,dog,\r\n"));
  corpus.keep("list", "files",
              as_bytes("path,file:mask.png,file:xml,note\na.jpg,m/a.png,a.xml,x\nb.jpg,,\"b \"\"1\"\".xml\",\n"));
  corpus.keep("list", "lines",
              as_bytes("{\"file_name\": \"a.jpg\", \"label\": 3}\n{\"image\": \"b.jpg\", \"x\": [1]}\n"));
  corpus.keep(
      "list", "document",
      as_bytes(R"({"info": {}, "images": [{"id": 2, "file_name": "a.jpg"}, {"id": 1, "file_name": "b"}],)"
               R"("annotations": [{"image_id": 1, "category_id": 3}], "categories": [{"id": 3, "name": "c"}]})"));
}

void keep_manifests(const Corpus& corpus) {
  Manifest manifest;
  corpus.keep("manifest", "empty", as_bytes(manifest.to_json()));
  manifest.job = "a job";
  manifest.fields = {"jpg", "cls"};
  manifest.classes = {"cat", "dog"};
  for (const int i : {0, 1}) {
    manifest.shards.push_back({.name = fmt::format("shard-{:06}.tar", i),
                               .bytes = 10240,
                               .hash = 5,
                               .samples = 2,
                               .sample_bytes = 100,
                               .fingerprint = Fingerprint(7, 2)});
  }
  corpus.keep("manifest", "two_shards", as_bytes(manifest.to_json()));
  manifest.bad = {{.sample = 1, .key = "a/1", .reason = "no picture"}, {.sample = 3, .key = "\xff", .reason = ""}};
  manifest.concealed = 1;
  corpus.keep("manifest", "bad_samples", as_bytes(manifest.to_json()));
}

void keep_plans(const Corpus& corpus) {
  const TempFolder folder;
  const Stores stores;
  const auto keep = [&](std::string_view name, bool whole, int tasks) {
    const std::string path = folder.path(std::string(name));
    PlannedData data;
    RowFreezer rows(data, whole);
    JobPlanWriter writer(stores, path, "pack");
    for (int task = 0; task < tasks; ++task) {
      SampleRow row;
      row.key = fmt::format("a/{}", task);
      row.fields = {{.name = "jpg", .part = "a/0.jpg", .length = 100},
                    {.name = "json", .part = "a/0.json", .length = 2}};
      rows.add(row, 2 * task, task % 2, 0);
      row.relabelled = true;
      rows.add(row, 2 * task + 1, -1, 0);
      writer.add({.name = fmt::format("shard-{:06}.tar", task), .samples = 2, .bytes = 204, .mark = 7}, rows.take());
    }
    writer.finish({{"job", "a job"}});
    corpus.keep("job_plan", std::string(name), as_bytes(read_whole(*stores.open(path))));
  };
  keep("empty", true, 0);
  keep("loose", true, 2);
  keep("numbers", false, 1);
}

void keep_rows(const Corpus& corpus) {
  std::vector<std::uint8_t> image;
  const std::vector<std::uint8_t> pixels(2 * 3 * 3, 9);
  encode_npy(interleaved_view(pixels.data(), 3, 2, 3), image);
  corpus.keep("npy_rows", "one_array", image);
  const std::string array(as_text(image));
  const TestZip zip{
      .members = {{.name = "x.npy", .content = array, .deflate = true}, {.name = "z.npy", .content = array}}};
  corpus.keep("npy_rows", "archive", as_bytes(zip.bytes()));
  encode_npy(interleaved_view(pixels.data(), 3, 1, 3), image);
  const TestZip sets{.members = {{.name = "x.npy", .content = array},
                                 {.name = "x_test.npy", .content = std::string(as_text(image))},
                                 {.name = "y.npy", .content = array}}};
  corpus.keep("npy_rows", "sets", as_bytes(sets.bytes()));
}

void keep_token_indexes(const Corpus& corpus) {
  MegatronIndexWriter writer(TokenType::kU16);
  for (const int length : {3, 0, 5}) {
    for (int i = 0; i < length; ++i) writer.add_token();
    writer.end_document();
  }
  std::vector<std::uint8_t> input = {16, 0};
  const std::vector<std::uint8_t> index = writer.bytes();
  input.insert(input.end(), index.begin(), index.end());
  corpus.keep("tokens", "three_documents", input);
}

void keep_recipes(const Corpus& corpus) {
  for (const std::string& name : Recipe::names()) {
    corpus.keep("recipe", name, as_bytes(Recipe::named(name).to_toml()));
  }
}

}  // namespace
}  // namespace stoker

int main(int argc, char** argv) {
  if (argc != 2 || argv[1][0] == '-') {
    fmt::print(stderr, "usage: fuzz_seeds CORPUS\n");
    return 2;
  }
  const stoker::Corpus corpus(argv[1]);
  for (const auto keep :
       {stoker::keep_indexes,    stoker::keep_index_in_tar, stoker::keep_blocks,        stoker::keep_tars,
        stoker::keep_tfrecords,  stoker::keep_parquet,      stoker::keep_zips,          stoker::keep_mds,
        stoker::keep_mds_index,  stoker::keep_arrow,        stoker::keep_litdata,       stoker::keep_betons,
        stoker::keep_databases,  stoker::keep_hdf5s,        stoker::keep_lists,         stoker::keep_manifests,
        stoker::keep_plans,      stoker::keep_rows,         stoker::keep_token_indexes, stoker::keep_recipes,
        stoker::keep_image_seeds}) {
    keep(corpus);
  }
}
