#include "cli/command_text.h"

#include <gtest/gtest.h>

namespace stoker {
namespace {

TEST(CommandText, QuotesWhatAShellWouldChange) {
  EXPECT_EQ(command_text({"stoker", "doctor", "a/b-{0..3}.tar", "--what-if", "cores=16 disk=nvme", "it's", ""}),
            R"(stoker doctor 'a/b-{0..3}.tar' --what-if 'cores=16 disk=nvme' 'it'\''s' '')");
}

TEST(CommandText, HasNoPasswords) {
  EXPECT_EQ(command_text({"stoker", "doctor", "https://me:word@host/a.tar?X-Amz-Signature=5ec7e7",
                          "--store-endpoint=https://me:word@host"})
                .find("word"),
            std::string::npos);
  EXPECT_EQ(command_text({"https://host/a?X-Amz-Signature=5ec7e7"}).find("5ec7e7"), std::string::npos);
}

}  // namespace
}  // namespace stoker
