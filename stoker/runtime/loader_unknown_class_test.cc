// Samples whose field "cls" says that their class is unknown.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "stoker/codec/encoded_testing.h"
#include "stoker/format/tar/tar_writer.h"
#include "stoker/runtime/loader_testing.h"
#include "stoker/runtime/open.h"
#include "stoker/storage/temp_folder_testing.h"

namespace stoker {
namespace {

/// A tar of samples with these fields "cls".
std::string tar_of_classes(const TempFolder& folder, const std::vector<std::string>& classes) {
  const std::string path = folder.path("data.tar");
  TarWriter tar(path);
  for (std::size_t i = 0; i < classes.size(); ++i) {
    tar.add(fmt::format("{}.jpg", i), noisy_jpeg(20, 20, 1));
    tar.add(fmt::format("{}.cls", i), as_bytes(classes[i]));
  }
  tar.finish();
  return path;
}

TEST(LoaderUnknownClass, IsNoFaultOfASamples) {
  const TempFolder folder;
  Loader loader(open(tar_of_classes(folder, {"-1", "5", " -7.0\n"})), small_recipe(),
                {.batch = 3, .order = OrderKind::kNone, .bad_sample = BadSlotPolicy::kFail});
  const BatchPtr batch = loader.next();
  const auto* const labels = reinterpret_cast<const std::int64_t*>(batch->output("label").data);
  EXPECT_EQ(labels[0], -1);
  EXPECT_EQ(labels[1], 5);
  EXPECT_EQ(labels[2], -1);
}

TEST(LoaderUnknownClass, IsNotWhatIsNoNumber) {
  const TempFolder folder;
  for (const std::string& odd : {std::string("cat"), std::string(), std::string(100, '1')}) {
    Loader loader(open(tar_of_classes(folder, {"4", odd})), small_recipe(),
                  {.batch = 2, .order = OrderKind::kNone, .bad_sample = BadSlotPolicy::kSubstitute});
    const BatchPtr batch = loader.next();
    EXPECT_LT(batch->substituted_for[0], 0);
    EXPECT_EQ(batch->substituted_for[1], 1) << odd;
  }
}

}  // namespace
}  // namespace stoker
