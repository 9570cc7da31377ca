// What `pack` must do in every format that it writes, and what single formats refuse.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <filesystem>
#include <limits>
#include <memory>

#include "stoker/base/error_testing.h"
#include "stoker/base/little_endian.h"
#include "stoker/format/manifest/manifest.h"
#include "stoker/format/open/sharded_dataset.h"
#include "stoker/format/recordio/recordio_reader.h"
#include "stoker/format/recordio/recordio_testing.h"
#include "stoker/format/tar/tar_writer.h"
#include "stoker/pack/index_job.h"
#include "stoker/pack/pack_testing.h"
#include "stoker/pack/verify_job.h"
#include "stoker/storage/atomic_file.h"
#include "stoker/storage/memory_store_testing.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::shared_ptr<const Dataset> open(const std::vector<std::string>& paths, const IndexOptions& index = {}) {
  return open_dataset(paths, std::make_shared<InlineExecutor>(), index);
}

std::string read_field(const SampleRow& row, const SampleField& field) {
  std::string bytes(field.length, '\0');
  read_checked(row, field, {reinterpret_cast<std::uint8_t*>(bytes.data()), bytes.size()});
  return bytes;
}

std::string label_and_image(const SampleRow& row) {
  return fmt::format("{} {}", row.label, read_field(row, *row.image_field()));
}

/// All that a row tells of where things are.
std::string places_in(const SampleRow& row) {
  std::string text = fmt::format("{} {}", row.key, row.label);
  for (const SampleField& field : row.fields) {
    text += fmt::format(" {}@{}+{}", field.name, field.offset, field.length);
  }
  return text;
}

std::vector<std::string> told(const Dataset& data, std::string (*tell)(const SampleRow&)) {
  std::vector<std::string> all;
  for (std::int64_t i = 0; i < data.size(); ++i) all.push_back(tell(data.row(i)));
  return all;
}

std::vector<std::string> shards_in(const std::string& folder) {
  std::vector<std::string> paths;
  const std::optional<Manifest> manifest = Manifest::read({}, folder);
  for (const ManifestShard& shard : manifest->shards) paths.push_back(folder + "/" + shard.name);
  return paths;
}

class PackFormat : public PackOfTinyFolder, public ::testing::WithParamInterface<const WritableFormat*> {
 protected:
  static PackOptions options(int threads = 2) {
    return {.format = GetParam(), .shard_bytes = 30'000, .threads = threads};
  }
  static bool keeps_keys() { return GetParam()->name() != "recordio"; }
  VerifyResult verify_out() const { return verify({folder_.path("out")}, {}); }
};

TEST_P(PackFormat, HoldsTheSameSamplesAsTheFolder) {
  const PackResult result = pack_to("out", options());
  EXPECT_EQ(result.samples, 60);
  EXPECT_GT(result.shards, 2);
  const auto loose = open({source_}), packed = open({folder_.path("out")});
  EXPECT_EQ(told(*packed, label_and_image), told(*loose, label_and_image));
  EXPECT_EQ(packed->classes(), loose->classes());
  EXPECT_EQ(packed->fingerprint() == loose->fingerprint(), keeps_keys());
}

TEST_P(PackFormat, TellsByItsIndexesWhatAScanTells) {
  pack_to("out", options());
  const auto indexed = open({folder_.path("out")}), scanned = open(shards_in(folder_.path("out")), {.use = false});
  ASSERT_EQ(indexed->size(), 60);
  EXPECT_EQ(told(*indexed, places_in), told(*scanned, places_in));
  EXPECT_EQ(indexed->fingerprint(), scanned->fingerprint());
  for (std::int64_t i = 0; i < 60; ++i) {
    const SampleRow row = indexed->row(i);
    EXPECT_EQ(row.soundness, Soundness::kClean);
    EXPECT_EQ(row.facts->width, 32);
    EXPECT_TRUE(row.image_field()->crc32c) << "as an index knows it, and a scan does not";
  }
}

TEST_P(PackFormat, LeavesTheIndexesThatIndexingWouldMake) {
  pack_to("out", options());
  for (const std::string& shard : shards_in(folder_.path("out"))) {
    if (!fs::exists(shard + ".sidx")) continue;  // it is in the shard
    fs::remove_all(folder_.path("indexes"));
    ASSERT_EQ(index_shards({shard}, {.folder = folder_.path("indexes")}).shards, 1);
    EXPECT_EQ(files_below(folder_.path("indexes")).begin()->second, read_file(shard + ".sidx")) << shard;
  }
}

TEST_P(PackFormat, NamesItsShardsAndKeepsThemWithinTheirSize) {
  pack_to("out", options());
  const Manifest manifest = *Manifest::read({}, folder_.path("out"));
  for (std::size_t i = 0; i < manifest.shards.size(); ++i) {
    const ManifestShard& shard = manifest.shards[i];
    EXPECT_EQ(shard.name, fmt::format("shard-{:06}.{}", i, GetParam()->ending()));
    EXPECT_EQ(read_file(folder_.path("out/" + shard.name)).size(), shard.bytes);
    EXPECT_LT(shard.bytes, 30'000 + 10'000) << "an index inside";
    if (!shard.index_tag) {
      EXPECT_LE(shard.bytes, 30'000);
    }
    if (i + 1 < manifest.shards.size()) {
      EXPECT_GT(shard.bytes, 24'000) << "not closed early";
    }
  }
}

TEST_P(PackFormat, MakesTheSameBytesForAnyNumberOfThreadsAndStops) {
  pack_to("one", options(1));
  const auto expected = files_below(folder_.path("one"));
  pack_to("three", options(3));
  EXPECT_EQ(files_below(folder_.path("three")), expected);
  stop_pack_to("out", options(), 40);
  ASSERT_FALSE(Manifest::read({}, folder_.path("out")));
  const PackResult result = pack_to("out", options());
  EXPECT_GT(result.resumed, 0);
  EXPECT_EQ(files_below(folder_.path("out")), expected);
}

TEST_P(PackFormat, PacksAgainAShardThatHasLostAFileOfItsOwn) {
  pack_to("one", options());
  const auto expected = files_below(folder_.path("one"));
  const std::vector<std::string> beside = Manifest::read({}, folder_.path("one"))->shards[0].beside;
  EXPECT_EQ(beside.empty(), GetParam()->name() == "tar");
  for (const std::string& name : beside) {
    stop_pack_to("out", options(), 40);
    fs::remove(folder_.path("out/" + name));
    EXPECT_EQ(pack_to("out", options()).resumed, 0);
    EXPECT_EQ(files_below(folder_.path("out")), expected);

    fs::remove(folder_.path("out/" + name));
    const Error lost = error_of([&] { pack_to("out", options()); });
    EXPECT_THAT(lost.message(), AllOf(HasSubstr("has lost 'shard-000000"), HasSubstr(name)));
    const VerifyResult verified = verify_out();
    ASSERT_EQ(verified.bad.size(), 1u);
    EXPECT_THAT(verified.bad[0].reason, HasSubstr("'" + name + "' belongs to"));
    fs::remove_all(folder_.path("out"));
  }
}

TEST_P(PackFormat, IsFinishedWhenItIsCalledAgain) {
  pack_to("out", options());
  const PackResult again = pack_to("out", options());
  EXPECT_EQ(again.resumed, again.shards);
  PackOptions in_another = options();
  in_another.format = writable_formats()[static_cast<std::size_t>(GetParam() == writable_formats().front())];
  ASSERT_NE(in_another.format, GetParam());
  EXPECT_THAT(error_of([&] { pack_to("out", in_another); }).message(), HasSubstr("another packed data set"));
}

TEST_P(PackFormat, HasIndexesThatTheIndexJobTakes) {
  const PackResult result = pack_to("out", options());
  const IndexJobResult indexed = index_shards({folder_.path("out")}, {});
  EXPECT_EQ(indexed.current, result.shards);
  EXPECT_EQ(indexed.shards, 0);
}

TEST_P(PackFormat, IsVerifiedToTheLastBit) {
  pack_to("out", options());
  EXPECT_THAT(verify_out().bad, IsEmpty());
  for (const auto& [name, content] : files_below(folder_.path("out"))) {
    if (name == kManifestName || name.ends_with(".idx")) continue;  // the list of offsets is for others
    for (const std::size_t at : {std::size_t{9}, content.size() / 3, content.size() - 1}) {
      std::string damaged = content;
      damaged[at] = static_cast<char>(damaged[at] ^ 4);
      write_whole_file(folder_.path("out/" + name), as_bytes(damaged));
      EXPECT_FALSE(verify_out().bad.empty()) << "byte " << at << " of " << name;
    }
    write_whole_file(folder_.path("out/" + name), as_bytes(content));
  }
}

TEST_P(PackFormat, GivesTheTarsBackThatItWasMadeOf) {
  pack_to("tars", {.shard_bytes = 40'000});
  pack({folder_.path("tars")}, folder_.path("out"), options());
  pack({folder_.path("out")}, folder_.path("back"), {.shard_bytes = 40'000});
  if (keeps_keys()) {
    EXPECT_EQ(files_below(folder_.path("back")), files_below(folder_.path("tars")));
  } else {
    EXPECT_EQ(told(*open({folder_.path("back")}), label_and_image), told(*open({source_}), label_and_image));
  }
}

TEST_P(PackFormat, EstimatesAboutWhatItTakes) {
  const PackEstimate estimate = estimate_pack({source_}, folder_.path("out"), options());
  const PackResult result = pack_to("out", options());
  EXPECT_EQ(estimate.samples, 60);
  EXPECT_NEAR(static_cast<double>(estimate.bytes), static_cast<double>(result.bytes),
              0.2 * static_cast<double>(result.bytes));
}

TEST_P(PackFormat, WritesToAStoreWhatItWritesToAFolder) {
  pack_to("out", options());
  const auto store = std::make_shared<MemoryStore>();
  PackOptions to_store = options();
  to_store.stores.add(store);
  pack({source_}, "mem://out", to_store);
  const auto files = files_below(folder_.path("out"));
  EXPECT_EQ(store->names().size(), files.size());
  for (const auto& [name, content] : files) {
    EXPECT_EQ(read_whole(*to_store.stores.open("mem://out/" + name)), content) << name;
  }
}

TEST_P(PackFormat, HoldsWhateverCodecAndRawPixels) {
  TempFolder other;
  other.write("in/a.jpg", as_text(noisy_jpeg(16, 16, 3)));
  other.write("in/b.jpg", as_text(noisy_jpeg(24, 16, 3)));
  other.write("in/a.cls", "3");
  other.write("in/b.cls", "5");
  PackOptions raw = options();
  raw.transform.raw = true;
  pack({other.path("in")}, other.path("raw"), raw);
  const auto packed = open({other.path("raw")});
  for (std::int64_t i = 0; i < 2; ++i) {
    const SampleRow row = packed->row(i);
    EXPECT_EQ(row.image_field()->name, "npy");
    EXPECT_EQ(row.label, i == 0 ? 3 : 5);
  }
  EXPECT_EQ(told(*packed, places_in), told(*open(shards_in(other.path("raw")), {.use = false}), places_in));
}

INSTANTIATE_TEST_SUITE_P(All, PackFormat, ::testing::ValuesIn(writable_formats()),
                         [](const auto& instance) { return std::string(instance.param->name()); });

TEST(PackFormats, SayWhichThereAre) {
  const Error error = error_of([] { writable_format("zip"); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_THAT(error.message(), HasSubstr("use tar, tfrecord"));
  EXPECT_EQ(writable_format("tar").name(), writable_formats().front()->name());
}

// --- TFRecord

TEST(PackTfRecord, KeepsFieldsUnderTheirNames) {
  TempFolder folder;
  TarWriter tar(folder.path("in.tar"));
  const std::string png(as_text(noisy_png(8, 8, 1))), floats("\x00\x00\x80\x3f\x00\x00\xc0\x7f", 8);
  for (const std::string key : {"b/1", "a/2"}) {
    tar.add(key + ".mask", as_bytes(png));  // an image that is not named as one
    tar.add(key + ".jpg", noisy_jpeg(16, 16, 1));
    tar.add(key + ".other.png", as_bytes(png));
    tar.add(key + ".cls", as_bytes(key == "b/1" ? "7" : " 8\n"));
    tar.add(key + ".box.f32", as_bytes(floats));
    tar.add(key + ".odd.f32", as_bytes("odd"));
    tar.add(key + ".empty", {});
    tar.add(key + ".note.txt", as_bytes(std::string(70'000, 'x')));
  }
  tar.finish();
  pack({folder.path("in.tar")}, folder.path("out"), {.format = &writable_format("tfrecord")});
  for (const auto& data :
       {open({folder.path("out")}), open({folder.path("out/shard-000000.tfrecord")}, {.use = false})}) {
    ASSERT_EQ(data->size(), 2);
    EXPECT_EQ(data->key(0), "b/1");
    EXPECT_EQ(data->key(1), "a/2");
    EXPECT_EQ(data->label(0), 7);
    EXPECT_EQ(data->label(1), 8);
    const SampleRow row = data->row(0);
    std::vector<std::string> names;
    for (const SampleField& field : row.fields) names.emplace_back(field.name);
    EXPECT_THAT(names, ElementsAre("box.f32", "empty", "jpg", "mask", "note.txt", "odd.f32", "other.png"));
    EXPECT_EQ(read_field(row, *row.field("mask")), png);
    EXPECT_EQ(read_field(row, *row.field("box.f32")), floats);
    EXPECT_EQ(read_field(row, *row.field("odd.f32")), "odd");
    EXPECT_EQ(read_field(row, *row.field("empty")), "");
    EXPECT_EQ(read_field(row, *row.field("note.txt")), std::string(70'000, 'x'));
    EXPECT_EQ(row.image_field()->name, "jpg");
  }
  EXPECT_EQ(open({folder.path("out")})->row(0).field("note.txt")->chunks, 2u);
  EXPECT_EQ(open({folder.path("out")})->fingerprint(), open({folder.path("in.tar")})->fingerprint());
}

TEST(PackTfRecord, RefusesNamesThatItsReadersTakeForOthers) {
  for (const std::string name : {"__key__", "image"}) {
    TempFolder folder;
    TarWriter tar(folder.path("in.tar"));
    tar.add("a.x.png", noisy_png(8, 8, 1));
    tar.add("a." + name, as_bytes("value"));
    tar.finish();
    const Error error =
        error_of([&] { pack({folder.path("in.tar")}, folder.path("out"), {.format = &writable_format("tfrecord")}); });
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("sample 'a'"), HasSubstr("field '" + name + "'")));
    EXPECT_FALSE(fs::exists(folder.path("out")));
  }
}

TEST(PackTfRecord, RefusesSamplesThatHaveNothingButAClass) {
  TempFolder folder;
  TarWriter tar(folder.path("in.tar"));
  tar.add("a.cls", as_bytes("1"));
  tar.add("a.txt", as_bytes("text"));
  tar.add("b.cls", as_bytes("2"));
  tar.finish();
  const Error error =
      error_of([&] { pack({folder.path("in.tar")}, folder.path("out"), {.format = &writable_format("tfrecord")}); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_THAT(error.what(), AllOf(HasSubstr("sample 'b'"), HasSubstr("no field besides its class")));
  EXPECT_FALSE(fs::exists(folder.path("out")));
}

// --- RecordIO

class PackRecordIo : public ::testing::Test {
 protected:
  void write_tar(const std::vector<std::pair<std::string, std::string>>& members) const {
    TarWriter tar(folder_.path("in.tar"));
    for (const auto& [name, content] : members) tar.add(name, as_bytes(content));
    tar.finish();
  }
  PackResult pack_in() const {
    return pack({folder_.path("in.tar")}, folder_.path("out"), {.format = &writable_format("recordio")});
  }
  std::string refusal_of(const std::vector<std::pair<std::string, std::string>>& members) const {
    write_tar(members);
    const Error error = error_of([&] { pack_in(); });
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_FALSE(fs::exists(folder_.path("out")));
    return error.what();
  }

  TempFolder folder_;
  const std::string png_{as_text(noisy_png(8, 8, 1))};
};

TEST_F(PackRecordIo, ListsTheOffsetsOfRecordsForMxnet) {
  write_tar({{"a.png", png_}, {"a.cls", "1"}, {"b.png", png_}, {"b.cls", "2"}});
  pack_in();
  const std::string second = std::to_string((8 + 24 + png_.size() + 3) / 4 * 4);
  EXPECT_EQ(read_file(folder_.path("out/shard-000000.idx")), "0\t0\n1\t" + second + "\n");
  EXPECT_EQ(read_file(folder_.path("out/shard-000000.rec")),
            recordio_record(recordio_image({1}, 0, png_)) + recordio_record(recordio_image({2}, 1, png_)));
  const auto data = open({folder_.path("out")});
  EXPECT_EQ(data->key(1), "shard-000000/00000001") << "RecordIO has numbers in place of keys";
}

TEST_F(PackRecordIo, RefusesWhatWouldBeLostBeforeItWritesAnything) {
  EXPECT_THAT(refusal_of({{"a.png", png_}, {"b.png", png_}, {"b.json", "{}"}}),
              AllOf(HasSubstr("sample 'b'"), HasSubstr("besides its image 'png' it has a field 'json'")));
  EXPECT_THAT(refusal_of({{"a.png", png_}, {"a.cls", "16777217"}}), HasSubstr("classes up to 16777216"));
  EXPECT_THAT(refusal_of({{"a.mask.png", png_}}), HasSubstr("its image is named 'mask.png'"));
  // A bad sample, which is left out, is not in the way.
  write_tar({{"a.txt", "no image"}, {"a.json", "{}"}, {"b.png", png_}});
  EXPECT_EQ(pack_in().samples, 1);
}

TEST_F(PackRecordIo, KeepsLabelsOfAnyKindAndNone) {
  std::string records;
  std::uint64_t id = 0;
  for (const std::vector<float>& labels : {std::vector<float>{3}, {0.5F}, {1, 2.5F, -1}, {-1}}) {
    records += recordio_record(recordio_image(labels, id++, png_));
  }
  write_whole_file(folder_.path("shard-000000.rec"), as_bytes(records));
  pack({folder_.path("shard-000000.rec")}, folder_.path("out"), {.format = &writable_format("recordio")});
  EXPECT_EQ(read_file(folder_.path("out/shard-000000.rec")), records);

  write_tar({{"a.png", png_}});
  fs::remove_all(folder_.path("out"));
  pack_in();
  for (const auto& data : {open({folder_.path("out")}), open({folder_.path("out/shard-000000.rec")}, {.use = false})}) {
    EXPECT_EQ(data->label(0), -1);
    EXPECT_EQ(data->row(0).fields.size(), 1u) << "no label";
  }
}

TEST_F(PackRecordIo, RefusesNumbersThatReadersTakeForClassesOrForNone) {
  const auto refusal = [&](float number) {
    std::string bytes(sizeof number, '\0');
    store_little_endian(reinterpret_cast<std::uint8_t*>(bytes.data()), std::bit_cast<std::uint32_t>(number));
    write_tar({{"a.png", png_}, {"a.label.f32", bytes}});
    fs::remove_all(folder_.path("out"));
    const Error error = error_of([&] { pack_in(); });
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    return std::string(error.what());
  };
  EXPECT_THAT(refusal(5), AllOf(HasSubstr("sample 'a'"), HasSubstr("'label.f32' is 5"), HasSubstr("a class number")));
  EXPECT_THAT(refusal(std::numeric_limits<float>::quiet_NaN()), HasSubstr("take for no label"));
}

TEST_F(PackRecordIo, SplitsARecordThatHoldsTheMagicNumber) {
  std::vector<std::uint8_t> magic;
  append_little_endian(magic, kRecordIoMagic);
  // After the image's end, where decoders do not look.
  std::string odd = png_ + std::string((4 - png_.size() % 4) % 4, '\0');
  odd.append(as_text(magic)).append("more").append(as_text(magic));
  write_tar({{"a.png", png_}, {"b.png", odd}, {"c.png", png_}});
  const PackResult packed = pack_in();
  EXPECT_EQ(packed.samples, 3);
  const std::string nan_label = recordio_record(recordio_image({std::numeric_limits<float>::quiet_NaN()}, 1, odd));
  EXPECT_THAT(read_file(folder_.path("out/shard-000000.rec")), HasSubstr(nan_label));
  EXPECT_FALSE(fs::exists(folder_.path("out/shard-000000.rec.sidx"))) << "an index describes ranges of a file alone";
  const auto data = open({folder_.path("out")});
  EXPECT_EQ(read_field(data->row(1), *data->row(1).image_field()), odd);
  EXPECT_THAT(verify({folder_.path("out")}, {}).bad, IsEmpty());
  EXPECT_EQ(pack_in().resumed, 1);
}

}  // namespace
}  // namespace stoker
