#include "stoker/doctor/verdict/what_if.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/base/error.h"
#include "stoker/base/error_testing.h"
#include "stoker/doctor/facts_testing.h"

namespace stoker {
namespace {

using testing::AllOf;
using testing::HasSubstr;

Configuration parsed(std::string_view text, const Facts& facts = healthy_facts()) {
  return parse_what_if(text, facts, Catalogue::shipped());
}

std::string refusal(std::string_view text, const Facts& facts = healthy_facts()) {
  const Error error = error_of([&] { parsed(text, facts); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  return error.message();
}

TEST(WhatIf, ReadsAllItsWords) {
  const Configuration change = parsed(
      "cores=16 threads=8 memory=64GB disk=nvme network=25g gpu=b200 gpus=8 nodes=2 layout=packed cache=ram "
      "transfer-index=0 io-depth=64 prefetch=4 batch=512 order=windowed step=0.1 without=normalize");
  EXPECT_EQ(change.cores, 16);
  EXPECT_EQ(change.threads, 8);
  EXPECT_EQ(change.memory_bytes, 64'000'000'000u);
  EXPECT_EQ(change.disk->name, "nvme");
  EXPECT_NEAR(change.network->bytes_per_s, 25e9 / 8, 1);
  EXPECT_EQ(change.gpu->name, "b200");
  EXPECT_EQ(change.gpus, 8);
  EXPECT_EQ(change.nodes, 2);
  EXPECT_EQ(change.layout, "packed");
  EXPECT_EQ(change.cache, "ram");
  EXPECT_EQ(change.transfer_index, 0);
  EXPECT_EQ(change.io_depth, 64);
  EXPECT_EQ(change.prefetch, 4);
  EXPECT_EQ(change.batch, 512);
  EXPECT_EQ(change.order, "windowed");
  EXPECT_EQ(change.step_s, 0.1);
  EXPECT_EQ(change.without, "normalize");
}

TEST(WhatIf, TextIsReadBackAsTheSame) {
  for (const char* text : {"cores=2.5 memory=64GiB", "memory=64GB disk=hdd", "memory=1234567",
                           "layout=loose cache=disk order=global step=0.0125", "gpus=4 nodes=2 without=resize", ""}) {
    EXPECT_EQ(what_if_text(parsed(text)), text);
  }
  EXPECT_EQ(what_if_text(parsed("step=0.1, cores=4,disk=nvme")), "cores=4 disk=nvme step=0.1");
}

TEST(WhatIf, AGpusSpeedIsAgainstTheOneThatWasMeasured) {
  const Catalogue& catalogue = Catalogue::shipped();
  EXPECT_NEAR(parsed("gpu=b200").gpu->speed_against,
              catalogue.gpu("b200").speed_against / catalogue.gpu("h100").speed_against, 1e-9);
  EXPECT_NEAR(parsed("gpu=h100").gpu->speed_against, 1, 1e-9);
  Facts facts = healthy_facts();
  facts.step.source = "mlperf:resnet50/v100";  // the profile's GPU counts, not the machine's
  EXPECT_NEAR(parsed("gpu=v100", facts).gpu->speed_against, 1, 1e-9);
  facts.step.source = "seconds";
  facts.machine.gpus.clear();
  facts.copy.device.clear();
  EXPECT_THAT(refusal("gpu=h100", facts), HasSubstr("step=SECONDS"));
  EXPECT_EQ(parsed("gpu=h100 step=0.05", facts).gpu->speed_against, 1);
}

TEST(WhatIf, SuggestsWhatWasMeant) {
  EXPECT_THAT(refusal("corse=16"), AllOf(HasSubstr("'corse'"), HasSubstr("did you mean 'cores'?")));
  EXPECT_THAT(refusal("disk=nmve"), HasSubstr("did you mean 'nvme'?"));
  EXPECT_THAT(refusal("layout=pakced"), HasSubstr("did you mean 'packed'?"));
  EXPECT_THAT(refusal("without=resise"), HasSubstr("did you mean 'resize'?"));
  EXPECT_THAT(refusal("without=decode"), HasSubstr("could leave out"));
}

TEST(WhatIf, RefusesWhatCannotBe) {
  EXPECT_THAT(refusal("cores"), HasSubstr("cores=VALUE"));
  EXPECT_THAT(refusal("cores="), HasSubstr("cores=VALUE"));
  EXPECT_THAT(refusal("cores=0"), HasSubstr("above 0"));
  EXPECT_THAT(refusal("cores=-4"), HasSubstr("above 0"));
  EXPECT_THAT(refusal("cores=nan"), HasSubstr("above 0"));
  EXPECT_THAT(refusal("cores=4x"), HasSubstr("'4x'"));
  EXPECT_THAT(refusal("cores=4 cores=5"), HasSubstr("given twice"));
  EXPECT_THAT(refusal("gpus=0"), HasSubstr("whole number"));
  EXPECT_THAT(refusal("gpus=1.5"), HasSubstr("whole number"));
  EXPECT_THAT(refusal("gpus=65"), HasSubstr("from 1 to 64"));
  EXPECT_THAT(refusal("memory=lots"), HasSubstr("memory"));
  EXPECT_THAT(refusal("memory=0"), HasSubstr("above 0"));
  EXPECT_THAT(refusal("transfer-index=7"), HasSubstr("from 0 to 3"));
  EXPECT_THAT(refusal("step=1e9"), HasSubstr("at most"));
  Facts facts = healthy_facts();
  facts.copy = {};
  EXPECT_THAT(refusal("transfer-index=0", facts), HasSubstr("no device"));
}

}  // namespace
}  // namespace stoker
