// What packs of MDS and Parquet keep of samples with several fields, what they refuse, and what lies beside them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>

#include "stoker/base/error_testing.h"
#include "stoker/base/little_endian.h"
#include "stoker/format/manifest/manifest.h"
#include "stoker/format/open/sharded_dataset.h"
#include "stoker/format/parquet/parquet_footer.h"
#include "stoker/format/tar/tar_writer.h"
#include "stoker/pack/pack_testing.h"
#include "stoker/pack/verify_job.h"
#include "stoker/storage/atomic_file.h"
#include "stoker/tensor/npy_testing.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Members = std::vector<std::pair<std::string, std::string>>;

std::vector<std::string> names_in(const SampleRow& row) {
  std::vector<std::string> names;
  for (const SampleField& field : row.fields) names.emplace_back(field.name);
  return names;
}

class PackColumns : public ::testing::TestWithParam<const char*> {
 protected:
  std::shared_ptr<const Dataset> open(const std::string& path, const IndexOptions& index = {}) const {
    return open_dataset({folder_.path(path)}, std::make_shared<InlineExecutor>(), index);
  }
  /// The pack by its indexes, and its first shard as a scan finds it.
  std::vector<std::shared_ptr<const Dataset>> packs() const {
    return {open("out"), open(fmt::format("out/shard-000000.{}", GetParam()), {.use = false})};
  }
  void write_tar(const Members& members) const {
    TarWriter tar(folder_.path("in.tar"));
    for (const auto& [name, content] : members) tar.add(name, as_bytes(content));
    tar.finish();
  }
  PackOptions options() const { return {.format = &writable_format(GetParam())}; }
  PackResult pack_in(const PackOptions& options) const {
    return pack({folder_.path("in.tar")}, folder_.path("out"), options);
  }
  PackResult pack_tar(const Members& members) const {
    write_tar(members);
    return pack_in(options());
  }
  /// Of a pack that is refused before it writes anything.
  std::string refusal_of(const Members& members) const {
    const std::string said = error_of_pack(members);
    EXPECT_FALSE(fs::exists(folder_.path("out")));
    return said;
  }
  std::string error_of_pack(const Members& members) const {
    const Error error = error_of([&] { pack_tar(members); });
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    return error.what();
  }
  std::string read(const SampleRow& row, std::string_view name) const {
    const SampleField* const field = row.field(name);
    if (!field) return "none";
    std::vector<std::uint8_t> bytes(field->length);
    read_checked(row, *field, bytes);
    return std::string(as_text(bytes));
  }

  TempFolder folder_;
  const std::string png_{as_text(noisy_png(8, 8, 1))}, jpg_{as_text(noisy_jpeg(16, 16, 1))};
};

TEST_P(PackColumns, KeepFieldsUnderTheirNames) {
  Members members;
  for (const std::string key : {"b/1", "a/2"}) {
    members.insert(members.end(), {{key + ".mask", png_},
                                   {key + (key == "b/1" ? ".jpg" : ".png"), key == "b/1" ? jpg_ : png_},
                                   {key + ".other.png", png_},
                                   {key + ".cls", key == "b/1" ? "7" : " 8\n"},
                                   {key + ".empty", ""},
                                   {key + ".vector", std::string("\0\xff", 2)},
                                   {key + ".note.txt", std::string(70'000, 'x')}});
  }
  pack_tar(members);
  for (const auto& data : packs()) {
    ASSERT_EQ(data->size(), 2);
    EXPECT_EQ(data->key(0), "b/1");
    EXPECT_EQ(data->key(1), "a/2");
    EXPECT_EQ(data->label(0), 7);
    EXPECT_EQ(data->label(1), 8);
    const SampleRow row = data->row(0);
    EXPECT_THAT(names_in(row), ElementsAre("empty", "jpg", "mask.png", "note.txt", "other.png", "vector"))
        << "an image that had no extension has got one";
    EXPECT_EQ(row.image_field()->name, "jpg");
    EXPECT_EQ(read(row, "jpg"), jpg_);
    EXPECT_EQ(read(row, "mask.png"), png_);
    EXPECT_EQ(read(row, "other.png"), png_);
    EXPECT_EQ(read(row, "empty"), "");
    EXPECT_EQ(read(row, "vector"), std::string("\0\xff", 2));
    EXPECT_EQ(read(row, "note.txt"), std::string(70'000, 'x'));
    EXPECT_EQ(read(data->row(1), "png"), png_);
  }
  EXPECT_EQ(open("out")->row(0).field("note.txt")->chunks, 2u);
  EXPECT_EQ(open("out")->row(0).field("mask.png")->crc32c, open("out")->row(1).field("png")->crc32c);
  EXPECT_EQ(open("out")->fingerprint(), open("in.tar")->fingerprint());
  EXPECT_THAT(verify({folder_.path("out")}, {}).bad, IsEmpty());
}

TEST_P(PackColumns, KeepSamplesWithAndWithoutALabel) {
  pack_tar({{"a.jpg", jpg_}, {"b.jpg", jpg_}, {"b.cls", "3"}});
  for (const auto& data : packs()) {
    EXPECT_EQ(data->label(0), -1);
    EXPECT_EQ(data->label(1), 3);
  }
  fs::remove_all(folder_.path("out"));
  pack_tar({{"a.jpg", jpg_}, {"a.label", "a cat"}});
  for (const auto& data : packs()) {
    EXPECT_EQ(data->label(0), -1);
    EXPECT_EQ(read(data->row(0), "label"), "a cat") << "no sample has a class number, so the column is free";
  }
}

TEST_P(PackColumns, KeepSamplesWithoutImages) {
  const std::string score("\0\0\x80?", 4);
  pack_tar({{"a.score.f32", score}, {"a.txt", "one"}, {"b.score.f32", "1234"}, {"b.txt", ""}, {"b.cls", "4"}});
  for (const auto& data : packs()) {
    ASSERT_EQ(data->size(), 2);
    EXPECT_EQ(data->label(1), 4);
    EXPECT_THAT(names_in(data->row(0)), ElementsAre("score.f32", "txt"));
    EXPECT_EQ(read(data->row(0), "score.f32"), score);
    EXPECT_EQ(read(data->row(0), "txt"), "one");
    EXPECT_EQ(read(data->row(1), "txt"), "");
  }
  EXPECT_EQ(open("out")->fingerprint(), open("in.tar")->fingerprint());
  EXPECT_THAT(verify({folder_.path("out")}, {}).bad, IsEmpty());
}

TEST_P(PackColumns, RefuseWhatWouldBeReadOtherwise) {
  EXPECT_THAT(refusal_of({{"a.jpg", jpg_}, {"b.jpg", jpg_}, {"b.image", "x"}}),
              AllOf(HasSubstr("sample 'b'"), HasSubstr("field 'image'"), HasSubstr("the column of images")));
  EXPECT_THAT(refusal_of({{"a.jpg", jpg_}, {"a.__key__", "x"}}), HasSubstr("the column of keys"));
  EXPECT_THAT(refusal_of({{"a.jpg", jpg_}, {"a.cls", "1"}, {"a.label", "x"}}),
              HasSubstr("the column of class numbers"));
  EXPECT_THAT(refusal_of({{"a.jpg", jpg_}, {"a.label", "x"}, {"b.jpg", jpg_}, {"b.cls", "1"}}),
              HasSubstr("some samples have a class number, and others a field 'label'"));
  EXPECT_THAT(refusal_of({{"a.jpg", jpg_}, {"a.png", png_}}),
              AllOf(HasSubstr("a field 'png'"), HasSubstr("would take for the image")));
  EXPECT_THAT(refusal_of({{"a.mask.png", png_}}), HasSubstr("its image is named 'mask.png'"));
  EXPECT_THAT(refusal_of({{"\xff.jpg", jpg_}}), HasSubstr("its key is not UTF-8"));
  EXPECT_THAT(refusal_of({{"a.jpg", jpg_}, {"a.\xfe", "x"}}), HasSubstr("cannot be that of a column"));
}

TEST_P(PackColumns, RefuseTextThatIsNotUtf8) {
  EXPECT_THAT(error_of_pack({{"a.jpg", jpg_}, {"a.txt", "caf\xe9"}}),
              AllOf(HasSubstr("sample 'a'"), HasSubstr("its field 'txt' is not UTF-8"), HasSubstr("'txt.bin'")));
}

TEST_P(PackColumns, KeepBadSamplesWhereReadersFindTheirImages) {
  write_tar({{"a.jpg", "no picture"}, {"b.jpg", jpg_}});
  PackOptions keep = options();
  keep.bad = BadSamplePolicy::kKeep;
  if (GetParam() == std::string("mds")) {
    EXPECT_EQ(pack_in(keep).samples, 2) << "the column says that it is a JPEG";
    fs::remove_all(folder_.path("out"));
  } else {
    EXPECT_THAT(error_of([&] { pack_in(keep); }).what(), HasSubstr("its image 'jpg' would not be found by readers"));
    fs::remove_all(folder_.path("out"));
  }
  EXPECT_EQ(pack_in(options()).samples, 1);
}

TEST_P(PackColumns, AskForMemoryForAShard) {
  write_tar({{"a.jpg", jpg_}});
  PackOptions little = options();
  little.memory = std::uint64_t{300} << 20;
  little.shard_bytes = std::uint64_t{290} << 20;
  little.threads = 1;
  if (GetParam() == std::string("mds")) {
    const Error error = error_of([&] { pack_in(little); });
    EXPECT_EQ(error.kind(), ErrorKind::kMemory);
    EXPECT_THAT(error.what(), HasSubstr("for a shard of mds, which is held in memory"));
    EXPECT_FALSE(fs::exists(folder_.path("out")));
    little.shard_bytes = std::uint64_t{100} << 20;
  }
  EXPECT_EQ(pack_in(little).samples, 1);
}

INSTANTIATE_TEST_SUITE_P(Formats, PackColumns, ::testing::Values("mds", "parquet"),
                         [](const auto& instance) { return std::string(instance.param); });

// --- Parquet

TEST(PackParquet, KeepsSamplesThatLackFields) {
  TempFolder folder;
  const std::string jpg(as_text(noisy_jpeg(16, 16, 1)));
  TarWriter tar(folder.path("in.tar"));
  for (int i = 0; i < 5; ++i) {
    tar.add(fmt::format("{}.jpg", i), as_bytes(jpg));
    if (i % 2 == 1) tar.add(fmt::format("{}.txt", i), as_bytes(i == 1 ? "" : "three"));
    if (i == 4) tar.add("4.image.path", as_bytes("four.jpg"));
  }
  tar.finish();
  pack({folder.path("in.tar")}, folder.path("out"), {.format = &writable_format("parquet")});
  const auto data = open_dataset({folder.path("out")}, std::make_shared<InlineExecutor>());
  EXPECT_THAT(names_in(data->row(0)), ElementsAre("jpg"));
  EXPECT_THAT(names_in(data->row(1)), ElementsAre("jpg", "txt"));
  EXPECT_EQ(data->row(1).field("txt")->length, 0u);
  EXPECT_EQ(data->row(3).field("txt")->length, 5u);
  EXPECT_THAT(names_in(data->row(4)), ElementsAre("image.path", "jpg"));
  EXPECT_EQ(data->fingerprint(),
            open_dataset({folder.path("in.tar")}, std::make_shared<InlineExecutor>())->fingerprint());
}

TEST(PackParquet, NamesTheClassesInEachFile) {
  TempFolder folder;
  pack({tiny_folder(folder, 12, 3)}, folder.path("out"),
       {.format = &writable_format("parquet"), .shard_bytes = 10'000});
  const auto whole = open_dataset({folder.path("out")}, std::make_shared<InlineExecutor>());
  const auto shard =
      open_dataset({folder.path("out/shard-000001.parquet")}, std::make_shared<InlineExecutor>(), {.use = false});
  EXPECT_EQ(whole->classes().size(), 3u);
  EXPECT_EQ(shard->classes(), whole->classes());
}

TEST(PackParquet, KeepsSamplesThatHaveAnArrayAlone) {
  TempFolder folder;
  const std::vector<std::uint8_t> array = npy_file({.type = "|u1", .shape = "(4,)"}, as_bytes("1234"));
  TarWriter tar(folder.path("in.tar"));
  tar.add("a.jpg", noisy_jpeg(16, 16, 1));
  tar.add("b.emb.npy", array);
  tar.add("c.emb.npy", as_bytes("no array"));
  tar.finish();
  const PackResult packed = pack({folder.path("in.tar")}, folder.path("out"), {.format = &writable_format("parquet")});
  EXPECT_EQ(packed.samples, 2);
  ASSERT_EQ(packed.bad.size(), 1u);
  EXPECT_EQ(packed.bad[0].key, "c");
  const auto data = open_dataset({folder.path("out")}, std::make_shared<InlineExecutor>());
  ASSERT_EQ(data->row(1).fields.size(), 1u);
  EXPECT_EQ(data->row(1).fields[0].length, array.size());
}

TEST(PackParquet, SaysWhereValuesLieInEachRowGroup) {
  TempFolder folder;
  pack({tiny_folder(folder, 1100, 2)}, folder.path("out"), {.format = &writable_format("parquet")});
  const std::string shard = folder.path("out/shard-000000.parquet");
  const std::shared_ptr<Source> file = Stores().open(shard);
  EXPECT_EQ(read_parquet_footer(*file).groups.size(), 2u);
  const auto indexed = open_dataset({folder.path("out")}, std::make_shared<InlineExecutor>());
  const auto scanned = open_dataset({shard}, std::make_shared<InlineExecutor>(), {.use = false});
  ASSERT_EQ(indexed->size(), 1100);
  for (const std::int64_t sample : {0, 999, 1000, 1099}) {
    const SampleRow row = indexed->row(sample);
    EXPECT_EQ(row.image_field()->offset, scanned->row(sample).image_field()->offset);
    std::vector<std::uint8_t> image(row.image_field()->length);
    EXPECT_NO_THROW(read_checked(row, *row.image_field(), image));
  }
}

// --- MDS

TEST(PackMds, RefusesImagesThatSomeSamplesLack) {
  TempFolder folder;
  TarWriter tar(folder.path("in.tar"));
  for (const std::string key : {"a", "b", "c"}) {
    if (key != "b") tar.add(key + ".jpg", noisy_jpeg(16, 16, 1));
    tar.add(key + ".txt", as_bytes(key));
  }
  tar.finish();
  PackOptions options{.format = &writable_format("mds"), .bad = BadSamplePolicy::kKeep};
  const Error error = error_of([&] { pack({folder.path("in.tar")}, folder.path("out"), options); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_THAT(error.what(),
              AllOf(HasSubstr("sample 'b': it has no image, which other samples have"), HasSubstr("parquet")));
  EXPECT_FALSE(fs::exists(folder.path("out")));
  options.bad = PackOptions().bad;
  EXPECT_EQ(pack({folder.path("in.tar")}, folder.path("out"), options).samples, 2) << "a bad sample is left out";
}

TEST(PackMds, RefusesSamplesThatLackAField) {
  TempFolder folder;
  const std::string jpg(as_text(noisy_jpeg(16, 16, 1)));
  TarWriter tar(folder.path("in.tar"));
  for (const std::string key : {"a", "b", "c"}) {
    tar.add(key + ".jpg", as_bytes(jpg));
    if (key != "b") tar.add(key + ".txt", as_bytes(key));
  }
  tar.finish();
  const Error error =
      error_of([&] { pack({folder.path("in.tar")}, folder.path("out"), {.format = &writable_format("mds")}); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_THAT(error.what(),
              AllOf(HasSubstr("sample 'b'"), HasSubstr("it has no field 'txt', which 2 of 3 samples have")));
  EXPECT_FALSE(fs::exists(folder.path("out")));
}

class PackMdsIndex : public PackOfTinyFolder {
 protected:
  static PackOptions options() { return {.format = &writable_format("mds"), .shard_bytes = 30'000}; }
  std::string out(const std::string& name) const { return folder_.path("out/" + name); }
};

TEST_F(PackMdsIndex, ListsTheShards) {
  pack_to("out", options());
  const std::uint64_t packed = open_dataset({out("")}, std::make_shared<InlineExecutor>())->fingerprint();
  const std::string index = read_file(out("index.json"));
  EXPECT_THAT(index, HasSubstr(R"("column_encodings":["str","png","int"],"column_names":["__key__","image","label"])"));
  EXPECT_THAT(index, HasSubstr(fmt::format(R"("basename":"shard-000000.mds","bytes":{})",
                                           read_file(out("shard-000000.mds")).size())));
  fs::remove(out(std::string(kManifestName)));
  write_whole_file(out("stray.mds"), as_bytes("not listed"));
  EXPECT_EQ(open_dataset({out("")}, std::make_shared<InlineExecutor>(), {.use = false})->fingerprint(), packed);
}

TEST_F(PackMdsIndex, IsMissedWhereItIsLost) {
  pack_to("out", options());
  const std::string index = read_file(out("index.json"));
  for (const std::string& left : {std::string(), index + " "}) {
    fs::remove(out("index.json"));
    if (!left.empty()) write_whole_file(out("index.json"), as_bytes(left));
    EXPECT_THAT(error_of([&] { pack_to("out", options()); }).message(), HasSubstr("has lost 'index.json'"));
    const VerifyResult verified = verify({out("")}, {});
    ASSERT_EQ(verified.bad.size(), 1u);
    EXPECT_THAT(verified.bad[0].reason, HasSubstr("index.json'"));
    EXPECT_EQ(verified.samples, 60);
  }
  write_whole_file(out("index.json"), as_bytes(index));
  EXPECT_EQ(pack_to("out", options()).samples, 60);
  EXPECT_THAT(verify({out("")}, {}).bad, IsEmpty());
}

TEST_F(PackMdsIndex, SaysWhatItsImagesAre) {
  const auto encodings = [&](PackOptions options) {
    fs::remove_all(folder_.path("out"));
    pack_to("out", options);
    const std::string index = read_file(out("index.json"));
    const std::size_t at = index.find("[\"str\",\"") + 8;
    return index.substr(at, index.find('"', at) - at);
  };
  PackOptions jpeg = options(), raw = options();
  jpeg.transform.quality = 90;
  raw.transform.raw = true;
  EXPECT_EQ(encodings(options()), "png");
  EXPECT_EQ(encodings(jpeg), "jpeg");
  EXPECT_EQ(encodings(raw), "bytes");
}

}  // namespace
}  // namespace stoker
