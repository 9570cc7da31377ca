// The configuration files of AWS's tools, and what is read from their profiles.
#include <optional>
#include <string>

#include "fuzz/fuzz_target.h"
#include "stoker/storage/s3/endpoint.h"

namespace stoker {
namespace {

void run(Bytes input) {
  accepts({ErrorKind::kUsage}, [&] {
    const AwsSections sections = parse_aws_file(as_text(input), "config");
    const Environment none = [](std::string_view) -> std::optional<std::string> { return std::nullopt; };
    for (const char* const name : {"default", "me"}) {
      const AwsProfile profile(name, sections, sections);
      accepts({ErrorKind::kUsage}, [&] {
        const S3Endpoint endpoint = s3_endpoint(none, profile, "bucket");
        require_that(endpoint.url.starts_with("http"), "an endpoint is reached over HTTP");
        require_that(endpoint.url_of("bucket", "a b").find(' ') == std::string::npos, "a key is escaped in a URL");
      });
    }
  });
}

const AnnounceFuzzTarget kTarget({.name = "aws_files", .run = run});

}  // namespace
}  // namespace stoker
