// What a store that speaks S3's protocol answers in XML.
#include <string>

#include "fuzz/fuzz_target.h"
#include "stoker/storage/s3/replies.h"

namespace stoker {
namespace {

void run(Bytes input) {
  const std::string_view xml = as_text(input);
  accepts({ErrorKind::kIo}, [&] {
    const ListingPage page = parse_listing(xml, "s3://bucket/");
    for (const ListedObject& object : page.objects) require_that(!object.key.empty(), "an object has a key");
    for (const std::string& folder : page.folders) require_that(!folder.empty(), "a folder has a name");
  });
  accepts({ErrorKind::kIo}, [&] {
    for (const OpenUpload& upload : parse_uploads(xml, "s3://bucket/a").uploads)
      require_that(!upload.key.empty(), "an upload has an object");
  });
  accepts({ErrorKind::kIo}, [&] { require_that(!parse_upload(xml, "s3://bucket/a").empty(), "an upload has a name"); });
  const Refusal refusal = parse_refusal(xml);
  require_that(!completed_upload({refusal.code, refusal.message}).empty(), "any tags make a completion");
}

const AnnounceFuzzTarget kTarget({.name = "s3_replies", .run = run});

}  // namespace
}  // namespace stoker
