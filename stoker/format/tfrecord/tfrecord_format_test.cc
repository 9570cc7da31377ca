#include "stoker/format/tfrecord/tfrecord_format.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <protozero/pbf_writer.hpp>

#include "stoker/base/error_testing.h"
#include "stoker/base/little_endian.h"
#include "stoker/format/scan_testing.h"
#include "stoker/format/tfrecord/tfrecord_frame.h"
#include "stoker/format/tfrecord/tfrecord_writer.h"
#include "stoker/storage/memory_source_testing.h"

namespace stoker {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kJpeg =
                      "\xff\xd8\xff"
                      "photograph",
                  kPng =
                      "\x89PNG\r\n\x1a\n"
                      "drawing";

/// A record around bytes that may be anything, its checksums right.
std::string framed(std::string_view data) {
  std::vector<std::uint8_t> bytes;
  append_little_endian(bytes, static_cast<std::uint64_t>(data.size()));
  append_little_endian(bytes, masked_crc32c(bytes));
  std::string record(as_text(bytes));
  record += data;
  bytes.clear();
  append_little_endian(bytes, masked_crc32c(as_bytes(data)));
  return record.append(as_text(bytes));
}

std::string record_of(const std::function<void(ExampleBuilder&)>& add) {
  ExampleBuilder builder;
  add(builder);
  return framed(as_text(builder.message()));
}

MemorySource file_of(std::string_view bytes) {
  return MemorySource("data/train.v2.tfrecord", std::vector<std::uint8_t>(bytes.begin(), bytes.end()));
}

/// "key label field=content ..." of each sample.
std::vector<std::string> listing(std::string_view bytes, ShardNotes* notes = nullptr) {
  MemorySource source = file_of(bytes);
  TfRecordSamples samples(source);
  return scan_listing(samples, notes);
}

std::string refusal(std::string_view bytes) {
  const Error error = error_of([&] { listing(bytes); });
  EXPECT_EQ(error.kind(), ErrorKind::kData);
  EXPECT_THAT(error.message(), HasSubstr("'data/train.v2.tfrecord'"));
  return error.message();
}

TEST(TfRecordFrame, RotatesAndShiftsTheChecksum) {
  EXPECT_EQ(masked_crc32c(as_bytes("123456789")), ((0xe3069283U >> 15 | 0xe3069283U << 17) + 0xa282ead8U))
      << "the check value of CRC-32C";
}

TEST(TfRecordFormat, NamesFieldsAsTarsDo) {
  const std::string file = record_of([](ExampleBuilder& example) {
    example.add_bytes("image/encoded", {as_bytes(kJpeg)});
    example.add_bytes("image/class/text", {as_bytes("tench")});
    example.add_integers("image/class/label", {7});
    example.add_bytes("image/filename", {as_bytes("n01440764/n01440764_10026.JPEG")});
    example.add_bytes("Mask", {as_bytes(kPng)});
    example.add_bytes("captions", {as_bytes("one"), as_bytes("two")});
  });
  EXPECT_THAT(listing(file), ElementsAre("n01440764/n01440764_10026 7 captions.0=one captions.1=two "
                                         "image.class.text=tench "
                                         "image.filename=n01440764/n01440764_10026.JPEG jpg=" +
                                         kJpeg + " mask.png=" + kPng));
}

TEST(TfRecordFormat, NumbersSamplesThatHaveNoKey) {
  const std::string record = record_of([](ExampleBuilder& example) { example.add_bytes("img", {as_bytes(kPng)}); });
  EXPECT_THAT(listing(record + record),
              ElementsAre("train_v2/00000000 -1 png=" + kPng, "train_v2/00000001 -1 png=" + kPng));
}

TEST(TfRecordFormat, FindsTheOnlyImageWhateverItIsCalled) {
  EXPECT_THAT(listing(record_of([](ExampleBuilder& example) { example.add_bytes("strange", {as_bytes(kJpeg)}); })),
              ElementsAre("train_v2/00000000 -1 jpg=" + kJpeg));
  const std::string two = record_of([](ExampleBuilder& example) {
    example.add_bytes("left", {as_bytes(kJpeg)});
    example.add_bytes("right", {as_bytes(kJpeg)});
  });
  EXPECT_THAT(listing(two), ElementsAre("train_v2/00000000 -1 left.jpg=" + kJpeg + " right.jpg=" + kJpeg));
}

TEST(TfRecordFormat, PutsNoOtherImageInThePlaceOfADamagedOne) {
  const auto record = [](std::string_view image) {
    return record_of([&](ExampleBuilder& example) {
      if (!image.empty()) example.add_bytes("image", {as_bytes(image)});
      example.add_bytes("mask", {as_bytes(kPng)});
    });
  };
  EXPECT_THAT(listing(record(kJpeg) + record("RIFFbroken") + record("")),
              ElementsAre("train_v2/00000000 -1 jpg=" + kJpeg + " mask.png=" + kPng,
                          "train_v2/00000001 -1 jpg=RIFFbroken mask.png=" + kPng, "train_v2/00000002 -1 mask=" + kPng));
}

TEST(TfRecordFormat, ReadsAnExampleWithoutFeatures) {
  EXPECT_THAT(listing(framed("")), ElementsAre("train_v2/00000000 -1 example="));
}

TEST(TfRecordFormat, LocatesNumbersAsTheyArePacked) {
  const std::string file = record_of([](ExampleBuilder& example) {
    example.add_floats("box", {1.0F, 2.0F});
    example.add_integers("ids", {1, 300});
    example.add_integers("label", {-5});
  });
  EXPECT_THAT(listing(file),
              ElementsAre(std::string("train_v2/00000000 -1 box.f32=\0\0\x80?\0\0\0@ ids.varint=\x01\xac\x02", 52)));
}

TEST(TfRecordFormat, TakesALabelThatIsText) {
  EXPECT_THAT(listing(record_of([](ExampleBuilder& example) { example.add_bytes("cls", {as_bytes("12\n")}); })),
              ElementsAre("train_v2/00000000 12 cls=12\n"));
}

TEST(TfRecordFormat, ReadsTheStepsOfASequence) {
  std::string feature, list, lists, message;
  for (const std::string& frame : {kJpeg, kPng}) {
    std::string one;
    {
      protozero::pbf_writer writer(one);
      protozero::pbf_writer bytes(writer, 1);
      bytes.add_bytes(1, frame);
    }
    protozero::pbf_writer(feature).add_message(1, one);
  }
  protozero::pbf_writer entry(list);
  entry.add_string(1, "frames");
  entry.add_message(2, feature);
  protozero::pbf_writer(lists).add_message(1, list);
  protozero::pbf_writer(message).add_message(2, lists);
  EXPECT_THAT(listing(framed(message)),
              ElementsAre("train_v2/00000000 -1 frames.0.jpg=" + kJpeg + " frames.1.png=" + kPng));
}

TEST(TfRecordFormat, PassesOverLongListsAndSaysSo) {
  const std::vector<Bytes> many(Example::kValuesMax + 1, as_bytes("x"));
  ShardNotes notes;
  const auto rows = listing(record_of([&](ExampleBuilder& example) {
                              example.add_bytes("many", many);
                              example.add_bytes("one", {as_bytes("y")});
                            }),
                            &notes);
  EXPECT_THAT(rows, ElementsAre("train_v2/00000000 -1 one=y"));
  EXPECT_THAT(notes.problems, ElementsAre(AllOf(HasSubstr("1 list"), HasSubstr("'many' of record 0"))));
}

TEST(TfRecordFormat, RefusesCompressedFilesAndSaysHowToDecompressThem) {
  EXPECT_THAT(refusal("\x1f\x8b\x08 and what follows in such a file"),
              AllOf(HasSubstr("gzip"), HasSubstr("from its beginning"), HasSubstr("gzip -dc")));
  EXPECT_THAT(refusal("\x78\x9c and what follows in such a file"), HasSubstr("zlib"));
  EXPECT_THAT(refusal("\x1f\x8b\x08"), HasSubstr("gzip"));
}

TEST(TfRecordFormat, RefusesLengthsThatLie) {
  for (const std::uint64_t length :
       {std::uint64_t{17}, std::uint64_t{1} << 40, ~std::uint64_t{0}, ~std::uint64_t{0} - 15, std::uint64_t{1} << 63}) {
    std::vector<std::uint8_t> header;
    append_little_endian(header, length);
    append_little_endian(header, masked_crc32c(header));
    EXPECT_THAT(refusal(std::string(as_text(header)) + std::string(20, 'x')), HasSubstr("truncated")) << length;
  }
}

TEST(TfRecordFormat, RefusesRecordsThatAreNoExamples) {
  EXPECT_THAT(refusal(framed(kJpeg)), AllOf(HasSubstr("record 0 at byte 0"), HasSubstr("not a tf.train.Example")));
  const std::string good = record_of([](ExampleBuilder& example) { example.add_bytes("x", {as_bytes("y")}); });
  EXPECT_THAT(refusal(good + framed("\x0a\xff\x01")), HasSubstr(fmt::format("record 1 at byte {}", good.size())));
  const std::string twice = record_of([](ExampleBuilder& example) {
    example.add_bytes("x", {as_bytes("y")});
    example.add_bytes("X", {as_bytes("y")});
  });
  EXPECT_THAT(refusal(twice), HasSubstr("two values for the field 'x'"));
}

TEST(TfRecordFormat, RefusesNamesWithoutEnd) {
  const std::string name(1 << 20, 'n');
  EXPECT_THAT(refusal(record_of([&](ExampleBuilder& example) { example.add_bytes(name, {as_bytes("x")}); })),
              AllOf(HasSubstr("record 0 at byte 0"), HasSubstr("has 1048576 bytes; the limit is 4096")));
  // Of which a few bytes would make as many names as there are values.
  const std::vector<Bytes> values(Example::kValuesMax, as_bytes("x"));
  EXPECT_THAT(refusal(record_of([&](ExampleBuilder& example) {
                for (int i = 0; i < 300; ++i) example.add_bytes(fmt::format("feature{}", i), values);
              })),
              HasSubstr("more than 65535 different names"));
}

// As protobuf says of maps.
TEST(TfRecordFormat, TakesTheLastOfFeaturesOfOneName) {
  const std::string file = record_of([](ExampleBuilder& example) {
    example.add_integers("label", {3});
    example.add_bytes("x", {as_bytes("a"), as_bytes("b")});
    example.add_floats("x", {1.0F});
    example.add_bytes("y", {as_bytes("z")});
    example.add_integers("label", {5});
    example.add_bytes("x", {as_bytes("last")});
  });
  EXPECT_THAT(listing(file), ElementsAre("train_v2/00000000 5 x=last y=z"));
  // Of a feature list all steps are replaced.
  const auto part = [](int number, const std::string& bytes) {
    return static_cast<char>(number << 3 | 2) + (static_cast<char>(bytes.size()) + bytes);
  };
  const auto list = [&](const std::vector<std::string>& steps) {
    std::string features;
    for (const std::string& value : steps) features += part(1, part(1, part(1, value)));
    return part(1, part(1, "s") + part(2, features));
  };
  EXPECT_THAT(listing(framed(part(2, list({"a", "b", "c"}) + list({"d"}) + list({"e", "f"})))),
              ElementsAre("train_v2/00000000 -1 s.0=e s.1=f"));
}

TEST(TfRecordFormat, LocatesNothingOutsideOfARecordWhateverItsMessageSays) {
  ExampleBuilder builder;
  builder.add_bytes("image/encoded", {as_bytes(kJpeg)});
  builder.add_integers("label", {300});
  builder.add_floats("box", {1.0F, 2.0F});
  std::string message(as_text(builder.message()));
  for (std::size_t at = 0; at < message.size(); ++at) {
    const char kept = message[at];
    for (int value = 0; value < 256; ++value) {
      message[at] = static_cast<char>(value);
      const std::string file = framed(message);
      MemorySource source = file_of(file);
      TfRecordSamples samples(source);
      SampleRow row;
      fault_of_data([&] {
        while (samples.next(row)) {
          for (const SampleField& field : row.fields) {
            EXPECT_GE(field.offset, kTfRecordHeaderBytes);
            EXPECT_LE(field.offset + field.length, file.size() - kTfRecordFooterBytes);
          }
        }
      });
    }
    message[at] = kept;
  }
}

TEST(TfRecordFormat, KnowsTheNamesOfShards) {
  const TfRecordFormat format;
  for (const char* name : {"a.tfrecord", "a.tfrecords", "a.tfrecord-00000-of-00010", "train-00000-of-01024"}) {
    EXPECT_TRUE(format.is_shard_name(name)) << name;
  }
  for (const char* name : {"a.tar", "a.tfrecord.sidx", "train-00000-of-00001.parquet", "-00000-of-01024", "tfrecord"}) {
    EXPECT_FALSE(format.is_shard_name(name)) << name;
  }
}

}  // namespace
}  // namespace stoker
