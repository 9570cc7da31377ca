#include "stoker/pack/pack_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "stoker/base/crc32c.h"
#include "stoker/base/error_testing.h"
#include "stoker/base/hash.h"
#include "stoker/codec/npy.h"
#include "stoker/format/manifest/manifest.h"
#include "stoker/format/open/sharded_dataset.h"
#include "stoker/format/tar/tar_format.h"
#include "stoker/format/tar/tar_writer.h"
#include "stoker/pack/pack_testing.h"
#include "stoker/storage/atomic_file.h"
#include "stoker/storage/file_source.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Pack : public PackOfTinyFolder {};

TEST_F(Pack, HoldsTheSameSamplesAsTheFolder) {
  const PackResult result = pack_to("out", {.shard_bytes = 40'000, .threads = 2});
  EXPECT_EQ(result.samples, 60);
  EXPECT_GT(result.shards, 2);
  EXPECT_EQ(result.resumed, 0);
  const auto loose = open(source_), packed = open(folder_.path("out"));
  EXPECT_EQ(keys(*packed), keys(*loose));
  EXPECT_EQ(packed->fingerprint(), loose->fingerprint());
  EXPECT_EQ(packed->classes(), loose->classes());
  for (std::int64_t i = 0; i < 60; ++i) {
    const SampleRow a = loose->row(i), b = packed->row(i);
    EXPECT_EQ(a.label, b.label);
    EXPECT_EQ(read_field(a, "image"), read_field(b, "image"));
    EXPECT_EQ(read_field(b, "cls"), std::to_string(a.label));
    EXPECT_EQ(b.soundness, Soundness::kClean);
    EXPECT_EQ(b.facts->width, 32);
    EXPECT_TRUE(b.field("png")->crc32c);
  }
}

TEST_F(Pack, HoldsTheSameSamplesWithoutItsIndexesAndManifest) {
  pack_to("out", {.shard_bytes = 40'000});
  const auto with = open(folder_.path("out")), without = open(folder_.path("out") + "/*.tar", {.use = false});
  EXPECT_EQ(with->fingerprint(), without->fingerprint());
  for (std::int64_t i = 0; i < 60; ++i) {
    EXPECT_EQ(with->row(i).field("png")->offset, without->row(i).field("png")->offset);
    EXPECT_EQ(with->label(i), without->label(i));
  }
}

TEST_F(Pack, KeepsTheClassNumbersOfAFolderWithoutClasses) {
  TempFolder other;
  for (int i = 0; i < 5; ++i) {
    other.write(fmt::format("in/{}.png", i), as_text(noisy_png(8, 8, 1)));
    if (i != 3) other.write(fmt::format("in/{}.cls", i), fmt::format("{:03}\n", 7 * i));
  }
  pack({other.path("in")}, other.path("out"), {});
  const auto loose = open(other.path("in")), with = open(other.path("out"));
  const auto without = open(other.path("out") + "/*.tar", {.use = false});
  for (std::int64_t i = 0; i < 5; ++i) {
    EXPECT_EQ(loose->label(i), i == 3 ? -1 : 7 * i);
    EXPECT_EQ(with->label(i), loose->label(i));
    EXPECT_EQ(without->label(i), loose->label(i));
  }
  EXPECT_EQ(with->fingerprint(), loose->fingerprint());
  EXPECT_EQ(without->fingerprint(), loose->fingerprint());
}

TEST_F(Pack, MakesTheSameBytesForAnyNumberOfThreads) {
  pack_to("one", {.shard_bytes = 40'000, .threads = 1});
  const auto expected = files_below(folder_.path("one"));
  for (const int threads : {2, 3, 8}) {
    const std::string name = fmt::format("with{}", threads);
    pack_to(name, {.shard_bytes = 40'000, .threads = threads});
    EXPECT_EQ(files_below(folder_.path(name)), expected);
  }
  // Nothing of where it came from: a copy of the data elsewhere gives the same.
  fs::copy(source_, folder_.path("copy"), fs::copy_options::recursive);
  pack({folder_.path("copy")}, folder_.path("of_copy"), {.shard_bytes = 40'000});
  EXPECT_EQ(files_below(folder_.path("of_copy")), expected);
}

TEST_F(Pack, CanBePackedAgainIntoTheSameBytes) {
  pack_to("first", {.shard_bytes = 40'000});
  pack({folder_.path("first")}, folder_.path("second"), {.shard_bytes = 40'000});
  auto first = files_below(folder_.path("first")), second = files_below(folder_.path("second"));
  EXPECT_EQ(first, second);
}

TEST_F(Pack, HoldsTheListedSamplesWithTheListedLabels) {
  const auto all = open(source_);
  std::string list, labels;
  std::vector<std::string> chosen;
  for (std::int64_t i = 1; i < 60; i += 3) {
    chosen.push_back(all->key(i));
    list += all->key(i) + "\n";
    labels += fmt::format("{},{}\n", all->key(i), i % 2 == 0 ? "even" : "odd");
  }
  folder_.write("list.txt", list);
  folder_.write("labels.csv", labels);
  const PackOptions options{.subset = folder_.path("list.txt"), .labels = folder_.path("labels.csv")};
  EXPECT_EQ(pack_to("out", options).samples, 20);
  const auto packed = open(folder_.path("out"));
  EXPECT_EQ(keys(*packed), chosen);
  EXPECT_THAT(packed->classes(), ElementsAre("even", "odd"));
  for (std::int64_t at = 0; at < packed->size(); ++at) {
    EXPECT_EQ(packed->label(at), at % 2 == 0 ? 1 : 0) << "sample " << 1 + 3 * at << " of the folder";
    EXPECT_EQ(read_field(packed->row(at), "cls"), std::to_string(packed->label(at)));
  }
  EXPECT_EQ(pack_to("out", options).resumed, 1) << "the same choice resumes";
  EXPECT_EQ(error_of([&] { pack_to("out", {.subset = options.subset}); }).kind(), ErrorKind::kUsage);
}

TEST_F(Pack, TakesClassesByTheLabelsThatAreGiven) {
  const auto all = open(source_);
  std::string labels;
  for (std::int64_t i = 0; i < 60; ++i) labels += fmt::format("{} {}\n", all->key(i), i < 7 ? "few" : "many");
  folder_.write("labels.txt", labels);
  EXPECT_EQ(pack_to("out", {.labels = folder_.path("labels.txt"), .classes = {"few"}}).samples, 7);
  EXPECT_EQ(pack_to("by_folder", {.labels = "folders"}).samples, 60);
  EXPECT_EQ(open(folder_.path("by_folder"))->classes(), all->classes());
}

TEST_F(Pack, RefusesAListThatDoesNotSuitTheData) {
  folder_.write("strange.txt", "strange\n");
  folder_.write("none.txt", "# none\n");
  const auto refusal = [&](const PackOptions& options) { return error_of([&] { pack_to("out", options); }); };
  EXPECT_THAT(refusal({.subset = folder_.path("strange.txt")}).message(), HasSubstr("not in the data set"));
  EXPECT_THAT(refusal({.subset = folder_.path("none.txt")}).message(), HasSubstr("names no sample"));
  EXPECT_EQ(refusal({.labels = folder_.path("strange.txt")}).kind(), ErrorKind::kData);
  EXPECT_EQ(refusal({.labels = folder_.path("missing.txt")}).kind(), ErrorKind::kNotFound);
  EXPECT_FALSE(fs::exists(folder_.path("out")));
}

TEST_F(Pack, KeepsTheChecksumsOfEveryChunkOfEveryField) {
  TempFolder other;
  std::string content(2 * kChunkBytes + 1000, 'x');
  for (std::size_t i = 0; i < content.size(); i += 1000) content[i] = static_cast<char>('a' + i / 1000 % 26);
  other.write("in/s.a.npy", content);
  other.write("in/s.b.npy", content.substr(500));
  other.write("in/s.png", as_text(noisy_png(8, 8, 1)));
  pack({other.path("in")}, other.path("out"), {});
  const auto packed = open(other.path("out"));
  const SampleRow row = packed->row(0);
  for (const char* name : {"a.npy", "b.npy"}) {
    const SampleField& field = *row.field(name);
    const std::string bytes = read_field(row, name);
    ASSERT_EQ(field.chunks, 3u) << name;
    for (std::uint32_t i = 0; i < field.chunks; ++i) {
      EXPECT_EQ(row.chunk_crcs[field.first_chunk + i],
                crc32c(as_bytes(std::string_view(bytes).substr(i * kChunkBytes, kChunkBytes))))
          << i << " of " << name;
    }
  }
}

TEST_F(Pack, KeepsShardsWithinTheirSize) {
  constexpr std::uint64_t kSize = 30'000;
  pack_to("out", {.shard_bytes = kSize});
  const Manifest manifest = *Manifest::read({}, folder_.path("out"));
  ASSERT_GT(manifest.shards.size(), 3u);
  for (std::size_t i = 0; i < manifest.shards.size(); ++i) {
    const ManifestShard& shard = manifest.shards[i];
    EXPECT_EQ(shard.name, fmt::format("shard-{:06}.tar", i));
    const std::string bytes = read_file(folder_.path("out/" + shard.name));
    EXPECT_EQ(bytes.size(), shard.bytes);
    EXPECT_EQ(hash64(bytes), shard.hash);
    const std::size_t index = bytes.find(kIndexMember);
    EXPECT_LE(index, kSize);
    if (i + 1 < manifest.shards.size()) {
      EXPECT_GT(index, kSize / 2);
    }
  }
  // A sample larger than that has a shard of its own.
  EXPECT_EQ(pack_to("tiny", {.shard_bytes = 1}).shards, 60);
}

TEST_F(Pack, RefusesAFolderThatHoldsSomethingElse) {
  folder_.write("taken/file", "");
  EXPECT_THAT(error_of([&] { pack_to("taken"); }).what(), HasSubstr("not empty"));
  folder_.write("a_file", "");
  EXPECT_THAT(error_of([&] { pack_to("a_file"); }).what(), HasSubstr("not a folder"));
  pack_to("done");
  EXPECT_THAT(error_of([&] { pack_to("done", {.shuffle = 1}); }).what(), HasSubstr("another packed data set"));
  EXPECT_EQ(pack_to("done").resumed, 1) << "the same again finds all there";
  EXPECT_EQ(pack_to("done", {.threads = 3}).resumed, 1) << "threads make no difference";
}

TEST_F(Pack, NoticesThatALooseFileWasWrittenToMeanwhile) {
  PackOptions options{.threads = 1};
  bool changed = false;
  const std::string file = folder_.path("loose/c0000/0000001.png");
  options.progress = [&](std::int64_t, std::int64_t) {
    if (!std::exchange(changed, true)) fs::last_write_time(file, fs::last_write_time(file) + std::chrono::seconds(5));
  };
  const Error error = error_of([&] { pack_to("out", options); });
  EXPECT_EQ(error.kind(), ErrorKind::kData);
  EXPECT_THAT(error.what(), HasSubstr("changed while"));
  EXPECT_FALSE(fs::exists(folder_.path("out/manifest.json")));
}

TEST_F(Pack, NoticesThatATarChangedMeanwhile) {
  pack_to("tars", {});
  const std::string tar = folder_.path("tars/shard-000000.tar");
  PackOptions options{.threads = 1};
  bool changed = false;
  options.progress = [&](std::int64_t, std::int64_t) {
    if (std::exchange(changed, true)) return;
    fs::last_write_time(tar, fs::last_write_time(tar) + std::chrono::seconds(5));
  };
  const Error error = error_of([&] { pack({tar}, folder_.path("out"), options); });
  EXPECT_EQ(error.kind(), ErrorKind::kData);
  EXPECT_THAT(error.what(), AllOf(HasSubstr(tar), HasSubstr("changed while")));
  EXPECT_FALSE(fs::exists(folder_.path("out/manifest.json")));
}

TEST_F(Pack, NoticesThatALooseFileGrewOrShrank) {
  for (const std::string& content : {std::string(50'000, 'm'), std::string("less")}) {
    PackOptions options{.shard_bytes = 1, .threads = 1};
    TempFolder other;
    fs::copy(source_, other.path("loose"), fs::copy_options::recursive);
    const std::string last = other.path("loose/c0003/0000059.png");
    bool changed = false;
    options.progress = [&](std::int64_t, std::int64_t) {
      if (!std::exchange(changed, true)) other.write("loose/c0003/0000059.png", content);
    };
    // One sample a chunk would be needed to be sure that the last is read after the first was packed; a large file in
    // between sees to that.
    other.write("loose/c0002/zzz.npy", std::string(4 << 20, 'x'));
    other.write("loose/c0002/zzz.png", as_text(noisy_png(8, 8, 1)));
    other.write("loose/c0002/zzzz.npy", std::string(4 << 20, 'x'));
    other.write("loose/c0002/zzzz.png", as_text(noisy_png(8, 8, 1)));
    for (int i = 0; i < 8; ++i) {
      other.write(fmt::format("loose/c0003/0000000{}.npy", i), std::string(4 << 20, 'x'));
      other.write(fmt::format("loose/c0003/0000000{}.png", i), as_text(noisy_png(8, 8, 1)));
    }
    const Error error = error_of([&] { pack({other.path("loose")}, folder_.path("out"), options); });
    EXPECT_EQ(error.kind(), ErrorKind::kData);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("0000059.png"), HasSubstr("changed")));
    fs::remove_all(folder_.path("out"));
  }
}

TEST_F(Pack, LeavesBadSamplesOutKeepsThemOrStops) {
  folder_.write("loose/c0001/bad.jpg", "no picture");
  std::string cut(as_text(noisy_jpeg(64, 64, 3)));
  folder_.write("loose/c0002/cut.jpg", cut.substr(0, cut.size() / 2));

  const PackResult skipped = pack_to("skip", {.threads = 3});
  EXPECT_EQ(skipped.samples, 60);
  ASSERT_EQ(skipped.bad.size(), 2u);
  EXPECT_EQ(skipped.bad[0].key, "c0001/bad");
  EXPECT_THAT(skipped.bad[0].reason, HasSubstr("not a JPEG, PNG, WebP, BMP, GIF, PNM, TIFF, JPEG 2000 or AVIF"));
  EXPECT_EQ(skipped.bad[1].key, "c0002/cut");
  EXPECT_THAT(skipped.bad[1].reason, HasSubstr("end-of-image"));

  const PackResult kept = pack_to("keep", {.bad = BadSamplePolicy::kKeep});
  EXPECT_EQ(kept.samples, 62);
  EXPECT_EQ(kept.bad.size(), 2u);
  const auto packed = open(folder_.path("keep"));
  EXPECT_EQ(packed->fingerprint(), open(source_)->fingerprint());
  for (std::int64_t i = 0; i < packed->size(); ++i) {
    const bool bad = packed->key(i) == "c0001/bad" || packed->key(i) == "c0002/cut";
    EXPECT_EQ(packed->row(i).soundness, bad ? Soundness::kBad : Soundness::kClean);
  }

  const Error error = error_of([&] { pack_to("fail", {.bad = BadSamplePolicy::kFail}); });
  EXPECT_EQ(error.kind(), ErrorKind::kBadSample);
  EXPECT_THAT(error.what(), HasSubstr("c0001/bad"));
}

TEST_F(Pack, KeepsItAsBadWhatIsNotWhatItsIndexSays) {
  pack_to("first");
  const std::string shard = folder_.path("first/shard-000000.tar");
  std::string bytes = read_file(shard);
  const std::uint64_t offset = open(shard)->row(7).field("cls")->offset;
  bytes[offset] = '3';  // a class as good as any, but not the one that was packed
  write_whole_file(shard, as_bytes(bytes));
  const PackResult result = pack({shard}, folder_.path("second"), {.bad = BadSamplePolicy::kKeep});
  ASSERT_EQ(result.bad.size(), 1u);
  EXPECT_THAT(result.bad[0].reason, HasSubstr("checksum"));
  const auto packed = open(folder_.path("second"));
  EXPECT_EQ(packed->row(7).soundness, Soundness::kBad);
  EXPECT_EQ(packed->row(8).soundness, Soundness::kClean);
}

TEST_F(Pack, MakesNoShardsOfNothing) {
  fs::create_directories(folder_.path("empty"));
  const PackResult none = pack({folder_.path("empty")}, folder_.path("out"), {});
  EXPECT_EQ(none.samples, 0);
  EXPECT_EQ(none.shards, 0);
  EXPECT_TRUE(fs::is_empty(folder_.path("out")));
  folder_.write("all_bad/x.jpg", "no picture");
  const PackResult bad = pack({folder_.path("all_bad")}, folder_.path("out2"), {});
  EXPECT_EQ(bad.shards, 0);
  EXPECT_EQ(bad.bad.size(), 1u);
  EXPECT_TRUE(fs::is_empty(folder_.path("out2")));
  folder_.write("all_bad/y.png", as_text(noisy_png(8, 8, 1)));
  EXPECT_EQ(pack({folder_.path("all_bad")}, folder_.path("out2"), {}).samples, 1) << "once there is one";
}

TEST_F(Pack, NumbersTheClassesOfASubsetAnew) {
  pack_to("out", {.classes = {"c0003", "c0001"}});
  const auto packed = open(folder_.path("out"));
  EXPECT_THAT(packed->classes(), ElementsAre("c0001", "c0003"));
  EXPECT_EQ(packed->size(), 30);
  for (std::int64_t i = 0; i < packed->size(); ++i) {
    EXPECT_EQ(packed->label(i), packed->key(i).starts_with("c0003") ? 1 : 0);
    EXPECT_EQ(read_field(packed->row(i), "cls"), std::to_string(packed->label(i)));
  }
  // Of tars, whose classes have numbers only.
  pack_to("all");
  pack({folder_.path("all/shard-000000.tar")}, folder_.path("by_name"), {.classes = {"c0002"}});
  EXPECT_EQ(open(folder_.path("by_name"))->size(), 15);
  fs::remove(folder_.path("all/manifest.json"));
  pack({folder_.path("all/shard-000000.tar")}, folder_.path("by_number"), {.classes = {"2"}});
  EXPECT_EQ(open(folder_.path("by_number"))->size(), 15);
  for (const char* none : {"-1", "2x", ""}) {
    const Error error =
        error_of([&] { pack({folder_.path("all/shard-000000.tar")}, folder_.path("x"), {.classes = {none}}); });
    EXPECT_THAT(error.what(), HasSubstr(fmt::format("'{}' is not a class", none)));
  }
  EXPECT_THAT(error_of([&] { pack_to("x", {.classes = {"nobody"}}); }).what(), HasSubstr("no class 'nobody'"));
  EXPECT_THAT(error_of([&] { pack_to("x", {.classes = {"c0001", "c0001"}}); }).what(), HasSubstr("twice"));
}

TEST_F(Pack, RefusesAClassThatNoSampleIsOf) {
  const std::string png(as_text(noisy_png(8, 8, 1)));
  const std::string tar = folder_.write("a.tar", tar_member("x.png", png) + tar_member("x.cls", "3") + tar_end());
  EXPECT_EQ(pack({tar}, folder_.path("three"), {.classes = {"3"}}).samples, 1);
  const Error error = error_of([&] { pack({tar}, folder_.path("out"), {.classes = {"3", "999"}}); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_THAT(error.what(), HasSubstr("class 999"));
}

TEST_F(Pack, DoesNotTakeDataWithMoreFieldsForWhatItPacked) {
  folder_.write("in/a/x.png", as_text(noisy_png(8, 8, 1)));
  pack({folder_.path("in")}, folder_.path("out"), {});
  folder_.write("in/a/x.json", "{}");
  const Error error = error_of([&] { pack({folder_.path("in")}, folder_.path("out"), {}); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_THAT(error.what(), HasSubstr("another packed data set"));
}

TEST_F(Pack, KeepsClassNamesThatAreNoText) {
  TempFolder other;
  for (const char* name : {"caf\xe9", "caf\xc3\xa9"}) {
    other.write(fmt::format("in/{}/1.png", name), as_text(noisy_png(8, 8, 1)));
  }
  pack({other.path("in")}, other.path("out"), {});
  const auto in = open(other.path("in")), out = open(other.path("out"));
  EXPECT_EQ(out->classes(), in->classes());
  EXPECT_EQ(keys(*out), keys(*in));
  EXPECT_EQ(pack({other.path("in")}, other.path("out"), {}).resumed, 1);
  EXPECT_EQ(open_dataset({other.path("in"), other.path("out")}, std::make_shared<InlineExecutor>())->size(), 4);
}

TEST_F(Pack, ShufflesBySeed) {
  pack_to("a", {.shuffle = 7});
  pack_to("b", {.shuffle = 7});
  pack_to("c", {.shuffle = 8});
  const auto plain = keys(*open(source_)), a = keys(*open(folder_.path("a"))), c = keys(*open(folder_.path("c")));
  EXPECT_EQ(files_below(folder_.path("a")), files_below(folder_.path("b")));
  EXPECT_NE(a, plain);
  EXPECT_NE(a, c);
  EXPECT_THAT(a, ::testing::UnorderedElementsAreArray(plain));
}

TEST_F(Pack, ShufflesASubset) {
  pack_to("plain", {.classes = {"c0003", "c0001"}});
  pack_to("mixed", {.classes = {"c0003", "c0001"}, .shuffle = 7});
  const auto plain = keys(*open(folder_.path("plain"))), mixed = keys(*open(folder_.path("mixed")));
  EXPECT_NE(mixed, plain);
  EXPECT_THAT(mixed, ::testing::UnorderedElementsAreArray(plain));
}

TEST_F(Pack, RefusesAFolderInsideItsSource) {
  fs::create_directory_symlink(source_, folder_.path("link"));
  for (const char* inside : {"loose/out", "loose/c0000/deep/er", "loose/../loose/out", "link/out"}) {
    const Error error = error_of([&] { pack_to(inside); });
    EXPECT_EQ(error.kind(), ErrorKind::kUsage) << inside;
    EXPECT_THAT(error.what(), HasSubstr("outside")) << inside;
  }
  EXPECT_FALSE(fs::exists(folder_.path("loose/out")));
  EXPECT_EQ(pack_to("loose-out").samples, 60) << "a name that only begins alike";
}

TEST_F(Pack, EstimatesWithoutWriting) {
  const PackEstimate estimate = estimate_pack({source_}, folder_.path("none/yet"), {});
  EXPECT_EQ(estimate.samples, 60);
  EXPECT_EQ(estimate.tried, 60);
  EXPECT_GT(estimate.disk_free.value(), 0u);
  EXPECT_FALSE(fs::exists(folder_.path("none")));
  const PackResult packed = pack_to("out");
  EXPECT_NEAR(static_cast<double>(estimate.bytes), static_cast<double>(packed.bytes),
              0.1 * static_cast<double>(packed.bytes));
}

}  // namespace
}  // namespace stoker
