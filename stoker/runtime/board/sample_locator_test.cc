#include "stoker/runtime/board/sample_locator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <exception>
#include <string>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/runtime/loader_testing.h"

namespace stoker {
namespace {

using testing::HasSubstr;

class Locating : public testing::Test {
 protected:
  // The ticket of a sample, located.
  const Ticket& locate(std::int64_t sample, LocatorOptions options = {.fields = {"image"}}) {
    ticket_ = {};
    ticket_.work = &work_;
    ticket_.sample = sample;
    SampleLocator(*data_.dataset, std::move(options)).locate(ticket_);
    return ticket_;
  }
  std::string error() const {
    try {
      std::rethrow_exception(ticket_.error);
    } catch (const Error& error) {
      return std::string(to_string(error.kind())) + ": " + error.what();
    }
  }

  MemoryDataset data_ = memory_dataset({.samples = 3, .tiny = true});
  BatchWork work_;
  Ticket ticket_;
};

TEST_F(Locating, SaysWhatIsToBeRead) {
  const std::uint64_t length = data_.dataset->row(1).image_field()->length;
  const Ticket& ticket = locate(1);
  EXPECT_EQ(ticket.error, nullptr);
  EXPECT_TRUE(ticket.wants_read);
  EXPECT_EQ(ticket.row.key, "sample1");
  ASSERT_EQ(ticket.reads.size(), 1U);
  EXPECT_EQ(ticket.reads[0].length, length);
  EXPECT_EQ(ticket.bytes, EncodedArena::in_units(length));
}

TEST_F(Locating, WantsNothingForPaddingOrForLabelsAlone) {
  EXPECT_FALSE(locate(-1).wants_read);
  EXPECT_EQ(ticket_.error, nullptr);
  EXPECT_FALSE(locate(1, {}).wants_read);
  EXPECT_EQ(ticket_.row.key, "sample1");
}

TEST_F(Locating, FindsAMissingFieldBad) {
  EXPECT_FALSE(locate(1, {.fields = {"mask"}}).wants_read);
  EXPECT_THAT(error(), HasSubstr("it has no field 'mask'"));
}

TEST_F(Locating, GivesASampleTheOptionalFieldsThatItLacksWithoutBytes) {
  EXPECT_TRUE(locate(1, {.fields = {"mask", "image"}, .optional = {"mask"}}).wants_read);
  ASSERT_EQ(ticket_.error, nullptr);
  EXPECT_EQ(ticket_.reads[0].length, 0u);
  EXPECT_EQ(ticket_.reads[1].length, data_.dataset->row(1).image_field()->length);
  EXPECT_EQ(locate(1, {.fields = {"image"}, .optional = {"image"}}).reads[0].length,
            data_.dataset->row(1).image_field()->length);
}

TEST_F(Locating, TakesSamplesUpToTheLimitAndRefusesLargerOnes) {
  LocatorOptions options{.fields = {"image"}};
  options.sample_bytes_max = data_.dataset->row(0).image_field()->length;
  EXPECT_EQ(locate(0, options).error, nullptr);
  --options.sample_bytes_max;
  EXPECT_FALSE(locate(0, options).wants_read);
  EXPECT_THAT(error(), HasSubstr("more memory"));
  options.enough_memory = [](std::uint64_t) { return "413MB"; };
  locate(0, options);
  EXPECT_THAT(error(), HasSubstr("give the loader 413MB"));
}

}  // namespace
}  // namespace stoker
