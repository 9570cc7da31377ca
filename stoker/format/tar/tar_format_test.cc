#include "stoker/format/tar/tar_format.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <locale.h>

#include <cstdlib>
#include <map>

#include "stoker/base/error_testing.h"
#include "stoker/base/log.h"
#include "stoker/base/log_testing.h"
#include "stoker/base/random.h"
#include "stoker/base/rounds_testing.h"
#include "stoker/format/tar/tar_writer.h"
#include "stoker/format/tar_testing.h"
#include "stoker/storage/faulty_source_testing.h"
#include "stoker/storage/file_source.h"
#include "stoker/storage/memory_source_testing.h"
#include "stoker/storage/temp_folder_testing.h"
#include "stoker/storage/thread_executor_testing.h"

namespace stoker {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

MemorySource in_memory(std::string_view tar) {
  return MemorySource("train-003.tar", std::vector<std::uint8_t>(tar.begin(), tar.end()));
}

/// "key label field=content field=content", a line per sample, with the contents read from where the scan says they
/// lie.
std::vector<std::string> listing(Source& source) {
  const SampleTable samples = scan_tar(source);
  std::vector<std::string> lines;
  for (std::int64_t i = 0; i < samples.size(); ++i) {
    std::string line = fmt::format("{} {}", samples.key(i), samples.label(i));
    for (const FieldLocation& field : samples.fields(i)) {
      std::string content(field.length, '?');
      read_fully(source, field.offset, {reinterpret_cast<std::uint8_t*>(content.data()), content.size()});
      line += fmt::format(" {}={}", samples.field_names()[field.name], content);
    }
    lines.push_back(line);
  }
  return lines;
}

std::vector<std::string> listing(std::string_view tar) {
  MemorySource source = in_memory(tar);
  return listing(source);
}

Error failure_to_scan(std::string_view tar) {
  return error_of([&] {
    MemorySource source = in_memory(tar);
    scan_tar(source);
  });
}

std::string small_tar() {
  return tar_member("n01/a.jpg", "JPEG a") + tar_member("n01/a.cls", "3\n") +
         tar_member("n01/b.jpg", std::string(700, 'b')) + tar_member("n01/b.cls", " 12 ") + tar_end();
}

TEST(TarFormat, ListsSamplesAndLabelsAndWhereTheirFieldsLie) {
  EXPECT_THAT(listing(small_tar()),
              ElementsAre("n01/a 3 jpg=JPEG a cls=3\n", "n01/b 12 jpg=" + std::string(700, 'b') + " cls= 12 "));
}

TEST(TarFormat, SplitsNamesAtTheFirstDotOfTheLastComponent) {
  EXPECT_THAT(listing(tar_member("v1.0/x.seg.PNG", "s") + tar_member("v1.0/x.json", "{}") + tar_member("./y.jpg", "y") +
                      tar_member("none", "-") + tar_member(".hidden.jpg", "-") + tar_member("dot.", "-") + tar_end()),
              ElementsAre("v1.0/x -1 seg.png=s json={}", "y -1 jpg=y"));
}

TEST(TarFormat, MakesTwoSamplesOfAKeyThatComesAgainLater) {
  EXPECT_THAT(listing(tar_member("a.jpg", "1") + tar_member("b.jpg", "2") + tar_member("a.jpg", "3") + tar_end()),
              ElementsAre("a -1 jpg=1", "b -1 jpg=2", "a -1 jpg=3"));
}

TEST(TarFormat, PassesOverWhatIsNoSample) {
  EXPECT_THAT(listing(tar_member("pax_global_header", "52 comment=0123456789012345678901234567890123456789\n", 'g') +
                      tar_member("d.jpg/", "", '5') + tar_member("link.jpg", "", '2', "/etc/passwd") +
                      tar_member("hard.jpg", "", '1', "a.jpg") + tar_member("char.jpg", "", '3') +
                      tar_member("block.jpg", "", '4') + tar_member("fifo.jpg", "", '6') + tar_member("a.jpg", "a") +
                      tar_member("__stoker__/index.sidx", "index") + tar_member("a.cls", "1") + tar_end()),
              ElementsAre("a 1 jpg=a cls=1"));
}

TEST(TarFormat, PassesOverWhatDescribesTheShard) {
  EXPECT_THAT(listing(tar_member("__meta__/x.png", "1") + tar_member("__stoker__/index.bin", "1") +
                      tar_member("__key__.jpg", "1") + tar_member("a/__b__/c.jpg", "12") +
                      tar_member("___/d.jpg", "123") + tar_end()),
              ElementsAre("__key__ -1 jpg=1", "a/__b__/c -1 jpg=12", "___/d -1 jpg=123"));
}

TEST(TarFormat, TakesHostileNamesAsMereKeys) {
  EXPECT_THAT(listing(tar_member("../../etc/a.jpg", "1") + tar_member("/abs/b.jpg", "2") + tar_member("//c.jpg", "3") +
                      tar_end()),
              ElementsAre("../../etc/a -1 jpg=1", "/abs/b -1 jpg=2", "//c -1 jpg=3"));
}

TEST(TarFormat, ReadsLongNamesOfPaxAndGnuHeaders) {
  const std::string path = std::string(150, 'd') + "/" + std::string(120, 'k') + ".jpg";
  const std::string gnu = tar_member("././@LongLink", path + '\0', 'L') + tar_member(path.substr(0, 100), "gnu");
  EXPECT_THAT(listing(gnu + tar_end()), ElementsAre(path.substr(0, path.size() - 4) + " -1 jpg=gnu"));

  const std::string record = fmt::format("{} path={}\n", path.size() + 10, path);
  ASSERT_EQ(record.size(), path.size() + 10);
  const std::string pax = tar_member("PaxHeader/x", record, 'x') + tar_member("short.jpg", "pax");
  EXPECT_THAT(listing(pax + tar_end()), ElementsAre(path.substr(0, path.size() - 4) + " -1 jpg=pax"));
}

TEST(TarFormat, KeepsTheBytesOfNamesInEveryLocale) {
  const std::string utf8 = "tête/été.jpg", latin1 = "\xe9t\xe9.jpg";
  const std::string record = fmt::format("{} path={}\n", utf8.size() + 9, utf8);
  ASSERT_EQ(record.size(), utf8.size() + 9);
  const std::string tar = tar_member("PaxHeader/x", record, 'x') + tar_member("short.jpg", "1") +
                          tar_member("z.jpg", "z") + tar_member(utf8, "2") + tar_member(latin1, "3") + tar_end();
  std::vector<std::string> warnings;  // libarchive's, of names that it could not convert
  set_log_sink([&](LogLevel, std::string_view message) { warnings.emplace_back(message); });
  for (const char* locale : {"C", "C.UTF-8"}) {
    ASSERT_NE(::setlocale(LC_ALL, locale), nullptr);
    EXPECT_THAT(listing(tar), ElementsAre("tête/été -1 jpg=1", "z -1 jpg=z", "tête/été -1 jpg=2", "\xe9t\xe9 -1 jpg=3"))
        << locale;
  }
  set_log_sink(nullptr);
  EXPECT_THAT(warnings, IsEmpty());
  ::setlocale(LC_ALL, "C");
}

TEST(TarFormat, TakesAnEmptyTarForNoSamples) {
  EXPECT_TRUE(listing(tar_end()).empty());
  EXPECT_TRUE(listing(std::string(512, '\0')).empty());
  EXPECT_TRUE(listing(std::string(10240, '\0')).empty());
}

TEST(TarFormat, RefusesAFieldThatASampleHasTwice) {
  const Error error = failure_to_scan(tar_member("a.jpg", "1") + tar_member("a.JPG", "2") + tar_end());
  EXPECT_EQ(error.kind(), ErrorKind::kData);
  EXPECT_THAT(error.message(), AllOf(HasSubstr("train-003.tar"), HasSubstr("a.JPG"), HasSubstr("twice")));
}

TEST(TarFormat, WarnsOfClassesThatAreNoNumbers) {
  std::string tar = tar_member("0.cls", "7") + tar_member("1.cls", "-1") + tar_member("2.cls", "8.0");
  const std::vector<std::string> wrong = {
      "abc", "", "- 1", "1.5", "7 8", "99999999999999999999", "0x10", "1" + std::string(100, ' ')};
  for (std::size_t i = 0; i < wrong.size(); ++i) tar += tar_member(fmt::format("k/{}.cls", i), wrong[i]);
  MemorySource source = in_memory(tar + tar_end());
  const LogCapture log;
  const SampleTable samples = scan_tar(source);
  EXPECT_EQ(samples.label(0), 7);
  EXPECT_EQ(samples.label(1), -1) << "which says so";
  EXPECT_EQ(samples.label(2), 8);
  for (std::size_t i = 3; i < wrong.size() + 3; ++i) EXPECT_EQ(samples.label(static_cast<std::int64_t>(i)), -1);
  EXPECT_THAT(log.lines, ElementsAre(AllOf(HasSubstr("train-003.tar"), HasSubstr("8 samples"), HasSubstr("'k/0'"))));
}

TEST(TarFormat, WarnsOfMembersThatItPassesOver) {
  MemorySource source =
      in_memory(tar_member("folder/", "", '5') + tar_member("a.jpg", "x") + tar_member("b.jpg", "", '1', "a.jpg") +
                tar_member("c.jpg", "", '2', "a.jpg") + tar_end());
  const LogCapture log;
  EXPECT_EQ(scan_tar(source).size(), 1);
  EXPECT_THAT(log.lines, ElementsAre(AllOf(HasSubstr("train-003.tar"), HasSubstr("2 members"), HasSubstr("'b.jpg'"))));
}

TEST(TarFormat, WarnsOfImagesThatNumbersAloneTellApart) {
  MemorySource source =
      in_memory(tar_member("cd1.1.jpg", "x") + tar_member("cd1.2.jpg", "y") + tar_member("b.left.jpg", "x") +
                tar_member("b.right.jpg", "y") + tar_member("c.2019.06.jpg", "x") + tar_end());
  const LogCapture log;
  EXPECT_EQ(scan_tar(source).size(), 3);
  EXPECT_THAT(log.lines, ElementsAre(AllOf(HasSubstr("1 sample has"), HasSubstr("'cd1' with '1.jpg' and '2.jpg'"))));
}

TEST(TarFormat, ReportsTruncationAtEveryByte) {
  const std::string whole = small_tar();
  const std::size_t end_mark = whole.size() - 1024;
  for (std::size_t size = 0; size < end_mark + 512; ++size) {
    const Error error = failure_to_scan(whole.substr(0, size));
    ASSERT_EQ(error.kind(), ErrorKind::kData) << "cut to " << size << " bytes: " << error.message();
    ASSERT_THAT(error.message(), AllOf(HasSubstr("train-003.tar"))) << size;
  }
  for (std::size_t size = end_mark + 512; size <= whole.size(); ++size) {
    ASSERT_NO_THROW(listing(whole.substr(0, size))) << size;
  }
}

TEST(TarFormat, SaysWhereATruncatedTarEndsAndWhichMemberWasTheLastGoodOne) {
  const std::string whole = small_tar();
  const std::size_t b_header = 4 * 512;
  EXPECT_THAT(failure_to_scan(whole.substr(0, b_header + 100)).message(),
              AllOf(HasSubstr("byte 2048"), HasSubstr("last good member: 'n01/a.cls'")));
  EXPECT_THAT(failure_to_scan(whole.substr(0, b_header + 512 + 300)).message(),
              AllOf(HasSubstr("is truncated"), HasSubstr("'n01/b.jpg' has 700 bytes at byte 2560"),
                    HasSubstr("ends at byte 2860"), HasSubstr("last good member: 'n01/a.cls'")));
  EXPECT_THAT(failure_to_scan(whole.substr(0, whole.size() - 1024)).message(),
              AllOf(HasSubstr("without a tar's end mark"), HasSubstr("last good member: 'n01/b.cls'")));
}

TEST(TarFormat, ReportsTruncationInsideWhatItPassesOver) {
  const std::string whole =
      tar_member("a.jpg", "a") + tar_member("__stoker__/index", std::string(1000, 'i')) + tar_end();
  for (std::size_t size = 1024; size < whole.size() - 512; ++size) {
    ASSERT_EQ(failure_to_scan(whole.substr(0, size)).kind(), ErrorKind::kData) << size;
  }
}

TEST(TarFormat, WarnsOfHalfAnEndMark) {
  const std::string whole = small_tar();
  std::vector<std::string> warnings;
  set_log_sink([&](LogLevel, std::string_view message) { warnings.emplace_back(message); });
  EXPECT_EQ(listing(whole).size(), 2u);
  EXPECT_THAT(warnings, IsEmpty());
  EXPECT_EQ(listing(whole.substr(0, whole.size() - 512)).size(), 2u);
  set_log_sink(nullptr);
  EXPECT_THAT(warnings, ElementsAre(AllOf(HasSubstr("train-003.tar"), HasSubstr("half of a tar's end mark"))));
}

TEST(TarFormat, WarnsOfWhatFollowsTheEndMark) {
  std::vector<std::string> warnings;
  set_log_sink([&](LogLevel, std::string_view message) { warnings.emplace_back(message); });
  EXPECT_EQ(listing(small_tar() + std::string(9000, '\0')).size(), 2u) << "as tar fills its last block";
  EXPECT_THAT(warnings, IsEmpty());
  EXPECT_EQ(listing(small_tar() + small_tar()).size(), 2u);
  set_log_sink(nullptr);
  const std::string at = fmt::format("at byte {}:", small_tar().size() - 1024);
  EXPECT_THAT(warnings, ElementsAre(AllOf(HasSubstr("goes on after its end mark"), HasSubstr(at))));
}

TEST(TarFormat, MissesTheEndMarkAlsoAfterAMemberOfZeros) {
  EXPECT_THAT(failure_to_scan(tar_member("a.jpg", std::string(2048, '\0'))).message(),
              HasSubstr("without a tar's end mark"));
}

TEST(TarFormat, SaysWhyACompressedTarIsRefused) {
  for (const auto& [name, magic] : std::map<std::string, std::string>{
           {"gzip", "\x1f\x8b\x08"}, {"zstd", "\x28\xb5\x2f\xfd"}, {"xz", "\xfd\x37zXZ"}, {"bzip2", "BZh9"}}) {
    const Error error = failure_to_scan(magic + std::string(2000, 'x'));
    EXPECT_EQ(error.kind(), ErrorKind::kData);
    EXPECT_THAT(error.message(), AllOf(HasSubstr(name), HasSubstr("decompress")));
  }
}

TEST(TarFormat, RefusesWhatIsNoTar) {
  EXPECT_THAT(failure_to_scan(std::string(5000, 'x')).message(), HasSubstr("is not a tar file"));
  EXPECT_THAT(failure_to_scan("").message(), HasSubstr("is empty"));
  EXPECT_THAT(failure_to_scan(small_tar().replace(1024, 1, "X")).message(), HasSubstr("damaged at byte 1024"));
}

TEST(TarFormat, RecognisesTarsByNameAndByMagic) {
  TempFolder folder;
  const auto recognised = [](const std::string& path) {
    const Stores stores;
    const Location location(path);
    const std::optional<ObjectFacts> facts = stores.find(location);
    return TarFormat().recognises(ShardCandidate(stores, location, facts));
  };
  EXPECT_TRUE(recognised(folder.write("a.tar", "")));
  EXPECT_TRUE(recognised(folder.write("a.TAR", "")));
  EXPECT_TRUE(recognised(folder.write("a.tar.gz", "")));
  EXPECT_TRUE(recognised(folder.write("shard", small_tar())));
  EXPECT_FALSE(recognised(folder.write("short", small_tar().substr(0, 260))));
  EXPECT_FALSE(recognised(folder.write("a.txt", "x")));
  folder.write("folder.tar/x", "");
  EXPECT_FALSE(recognised(folder.path("folder.tar")));
}

TEST(TarFormat, PassesOnTheErrorsOfItsSource) {
  const std::string tar = small_tar();
  const auto memory = std::make_shared<MemorySource>("m.tar", std::vector<std::uint8_t>(tar.begin(), tar.end()));
  for (std::int64_t read = 0; read < 2; ++read) {  // the first block, and the look at the end mark
    FaultySource source(memory, {.fail_reads = {read}});
    EXPECT_EQ(error_of([&] { scan_tar(source); }).kind(), ErrorKind::kIo) << read;
  }
}

TEST(TarFormat, SeeksOverTheDataOfLargeMembers) {
  std::string tar;
  for (int i = 0; i < 50; ++i) tar += tar_member(fmt::format("{}.jpg", i), std::string(200'000, 'x'));
  tar += tar_end();
  struct Counting final : Source {
    explicit Counting(MemorySource in) : inner(std::move(in)) {}
    const std::string& name() const override { return inner.name(); }
    std::uint64_t size(std::string_view part) const override { return inner.size(part); }
    void start(ReadRequest& request) override {
      bytes += request.length();
      inner.start(request);
    }
    MemorySource inner;
    std::uint64_t bytes = 0;
  };
  Counting source(in_memory(tar));
  EXPECT_EQ(scan_tar(source).size(), 50);
  EXPECT_LT(source.bytes, tar.size() / 20);
}

TEST(TarFormat, ReadsAFileThroughAnExecutorWithThreads) {
  TempFolder folder;
  FileSource source(folder.write("a.tar", small_tar()), std::make_shared<ThreadExecutor>(2));
  EXPECT_EQ(scan_tar(source).size(), 2);
}

TEST(TarFormat, StopsBetweenMembers) {
  const std::string tar = small_tar();
  MemorySource source("m.tar", std::vector<std::uint8_t>(tar.begin(), tar.end()));
  std::stop_source stop;
  stop.request_stop();
  const std::unique_ptr<ShardScan> scan = TarFormat().scan(source, stop.get_token());
  SampleRow row;
  const Error error = error_of([&] { scan->next(row); });
  EXPECT_EQ(error.kind(), ErrorKind::kClosed);
}

/// Runs GNU tar on files in a folder; false when there is no such command.
bool run_tar(const TempFolder& folder, const std::string& arguments) {
  return std::system(fmt::format("cd '{}' && tar {} 2>/dev/null", folder.path(), arguments).c_str()) == 0;
}

TEST(TarFormat, ReadsWhatTheSystemsTarWrites) {
  TempFolder folder;
  if (std::system("tar --version 2>/dev/null | grep -q GNU") != 0) GTEST_SKIP() << "no GNU tar here";
  const std::string long_name = std::string(120, 'a') + "/" + std::string(130, 'b');
  folder.write("in/" + long_name + ".jpg", "long");
  folder.write("in/" + long_name + ".cls", "5");
  folder.write("in/x.jpg", std::string(513, 'x'));
  for (const std::string format : {"pax", "gnu"}) {
    const std::string name = format + ".tar";
    ASSERT_TRUE(run_tar(
        folder, fmt::format("--format={0} --sort=name -cf {1} -C in {2}.jpg {2}.cls x.jpg", format, name, long_name)));
    FileSource source(folder.path(name), std::make_shared<InlineExecutor>());
    EXPECT_THAT(listing(source), ElementsAre(long_name + " 5 jpg=long cls=5", "x -1 jpg=" + std::string(513, 'x')))
        << format;
  }
  folder.write("in/sparse.jpg", "start");
  std::filesystem::resize_file(folder.path("in/sparse.jpg"), 1 << 20);
  for (const std::string format : {"pax", "gnu"}) {
    ASSERT_TRUE(run_tar(folder, fmt::format("--format={0} --sparse -cf {0}s.tar -C in sparse.jpg x.jpg", format)));
    FileSource source(folder.path(format + "s.tar"), std::make_shared<InlineExecutor>());
    EXPECT_THAT(listing(source), ElementsAre("x -1 jpg=" + std::string(513, 'x'))) << format;
  }
}

TEST(TarFormat, SurvivesRandomCorruptions) {
  const std::string pax_path = std::string(150, 'p') + ".png";
  const std::string gnu_path = std::string(150, 'g') + ".png";
  const std::string whole =
      tar_member("PaxHeader/x", fmt::format("{} path={}\n", pax_path.size() + 10, pax_path), 'x') +
      tar_member("p.png", "pax") + tar_member("././@LongLink", gnu_path + '\0', 'L') + tar_member("g.png", "gnu") +
      small_tar();
  ASSERT_EQ(listing(whole).size(), 4u);
  int refused = 0, accepted = 0;
  for (std::uint64_t trial = 0; trial < rounds(std::uint64_t{1000}); ++trial) {
    Random random(1, 0, trial, 0);
    std::string tar = whole;
    for (std::uint64_t edits = 1 + random.below(4); edits > 0 && !tar.empty(); --edits) {
      const std::size_t at = random.below(tar.size());
      switch (random.below(4)) {
        case 0: tar[at] = static_cast<char>(random.below(256)); break;
        case 1: tar[at] = static_cast<char>(tar[at] ^ 1 << random.below(8)); break;
        case 2: tar.resize(at); break;
        default: tar.insert(at, random.below(600), static_cast<char>(random.below(256)));
      }
    }
    MemorySource source = in_memory(tar);
    try {
      const SampleTable samples = scan_tar(source);
      for (std::int64_t i = 0; i < samples.size(); ++i) {
        for (const FieldLocation& field : samples.fields(i)) {
          ASSERT_LE(field.offset, tar.size()) << trial;
          ASSERT_LE(field.length, tar.size() - field.offset) << trial;
        }
      }
      ++accepted;
    } catch (const Error& error) {
      ASSERT_THAT(error.message(), HasSubstr("train-003.tar")) << trial;
      ++refused;
    }
  }
  EXPECT_GT(refused, rounds(300));
  EXPECT_GT(accepted, rounds(50));  // flips inside data cannot be seen
}

}  // namespace
}  // namespace stoker
