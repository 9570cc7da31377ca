#include "stoker/format/parquet/thrift_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "stoker/base/error_testing.h"
#include "stoker/format/parquet/thrift_writer.h"

namespace stoker {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// "1=5 2=text ..." of a struct, those fields left out that it skips.
std::string described(Bytes bytes, bool skip_all = false) {
  ThriftReader reader(bytes);
  std::string text;
  reader.read_struct([&](int number, ThriftType type) {
    text += std::to_string(number);
    if (skip_all) {
      reader.skip(type);
    } else if (type == ThriftType::kBinary) {
      text.append("=").append(reader.binary(type));
    } else if (type == ThriftType::kTrue || type == ThriftType::kFalse) {
      text += reader.boolean(type) ? "=yes" : "=no";
    } else if (type == ThriftType::kList) {
      text += "=[";
      reader.read_list(type, [&](ThriftType element) { text += std::to_string(reader.integer(element)) + ","; });
      text += "]";
    } else if (type == ThriftType::kStruct || type == ThriftType::kMap || type == ThriftType::kDouble) {
      reader.skip(type);
    } else {
      text.append("=").append(std::to_string(reader.integer(type)));
    }
    text += ' ';
  });
  EXPECT_EQ(reader.position(), bytes.size());
  return text;
}

std::string thrift_refusal(std::string_view bytes) {
  return error_of([&] { described(as_bytes(bytes)); }).message();
}

TEST(ThriftReader, ReadsWhatTheWriterWrote) {
  ThriftWriter writer;
  writer.int32(1, -5);
  writer.boolean(2, true);
  writer.boolean(3, false);
  writer.binary(4, "text");
  writer.begin_list(20, ThriftType::kI32, 3);
  for (const int value : {0, -1, 2147483647}) writer.int32_element(value);
  writer.begin_struct(21);
  writer.int64(7, 1);
  writer.end_struct();
  writer.begin_list(300, ThriftType::kI32, 20);
  for (int i = 0; i < 20; ++i) writer.int32_element(i);
  writer.int64(301, std::int64_t{-1} << 63);
  writer.end_struct();
  EXPECT_EQ(described(as_bytes(writer.bytes())),
            "1=-5 2=yes 3=no 4=text 20=[0,-1,2147483647,] 21 "
            "300=[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,] 301=-9223372036854775808 ");
  EXPECT_EQ(described(as_bytes(writer.bytes()), true), "1 2 3 4 20 21 300 301 ");
  EXPECT_EQ(thrift_refusal(writer.bytes().substr(0, writer.bytes().size() - 1)), "it ends in the middle of a value");
}

TEST(ThriftReader, ReadsBytesAsTheProtocolDescribesThem) {
  using namespace std::string_view_literals;
  EXPECT_EQ(described(as_bytes("\x15\x02\x00"sv)), "1=1 ") << "field 1, an i32 of 1 as a zigzag";
  EXPECT_EQ(described(as_bytes("\x05\x50\x03\x00"sv)), "40=-2 ") << "a number too far from the last for four bits";
  EXPECT_EQ(described(as_bytes("\x13\xff\x00"sv)), "1=-1 ") << "a byte";
  EXPECT_EQ(described(as_bytes("\x17zzzzzzzz\x00"sv)), "1 ") << "a double";
  EXPECT_EQ(described(as_bytes("\x1b\x00\x00"sv)), "1 ") << "an empty map";
  EXPECT_EQ(described(as_bytes("\x1b\x02\x81\x01k\x01\x01l\x02\x00"sv)), "1 ") << "a map of texts to truth values";
  EXPECT_EQ(described(as_bytes("\x1d"
                               "0123456789abcdef\x00"sv),
                      true),
            "1 ")
      << "a UUID";
}

TEST(ThriftReader, RefusesWhatItCannotBe) {
  using namespace std::string_view_literals;
  EXPECT_THAT(thrift_refusal("\x1e\x00"sv), HasSubstr("no known type"));
  EXPECT_THAT(thrift_refusal("\x18\xff\xff\xff\xff\x7f"sv), HasSubstr("in the middle"));
  EXPECT_THAT(thrift_refusal("\x19\xf5\xff\xff\xff\xff\x0f\x00"sv), HasSubstr("longer than all"));
  EXPECT_THAT(thrift_refusal("\x15\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f\x00"sv), HasSubstr("64 bits"));
  EXPECT_THAT(thrift_refusal("\x05\x01\x02\x00"sv), HasSubstr("no field can have"));
  EXPECT_THAT(thrift_refusal(std::string(100, '\x1c')), HasSubstr("nested"));
  EXPECT_THAT(thrift_refusal(std::string("\x19").append(100, '\x19')), HasSubstr("another type"));
  ThriftReader reader(as_bytes("\xfe\xff\xff\xff\x7f"sv));
  EXPECT_THAT(error_of([&] { reader.int32(ThriftType::kI64); }).message(), HasSubstr("32 bits"));
}

TEST(ThriftReader, TellsWhetherMoreBytesCouldHelp) {
  ThriftReader short_one(as_bytes("\x15"));
  EXPECT_TRUE(fault_of_data([&] { short_one.read_struct([&](int, ThriftType type) { short_one.integer(type); }); }));
  EXPECT_TRUE(short_one.ran_out());
  ThriftReader wrong(as_bytes("\x1e"));
  EXPECT_TRUE(fault_of_data([&] { wrong.read_struct([&](int, ThriftType type) { wrong.integer(type); }); }));
  EXPECT_FALSE(wrong.ran_out());
}

}  // namespace
}  // namespace stoker
