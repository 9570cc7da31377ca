// The configuration files of AWS's tools, ~/.aws/config and ~/.aws/credentials: profiles by name, each with its
// settings.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "stoker/base/environment.h"

namespace stoker {

/// The settings of a section, by their names in small letters. One that is nested in another, as "endpoint_url" in "s3
/// =", has the name "s3.endpoint_url".
using AwsSettings = std::map<std::string, std::string, std::less<>>;
/// The sections of a file by what stands in their brackets: "default", "profile me", "services local".
using AwsSections = std::map<std::string, AwsSettings, std::less<>>;

/// Throws kUsage, with `name` and the line, for text that is not such a file. A section that comes twice is joined; of
/// a setting that comes twice, the last one holds.
AwsSections parse_aws_file(std::string_view text, std::string_view name);

/// The sections of a file; none if it is not there. Throws kIo if it cannot be read, kLimit if it is larger than 1 MB,
/// and as parse_aws_file().
AwsSections read_aws_file(const std::string& path);

/// The file that a variable names, or else one in the home folder; empty without a home.
std::string configuration_file(const Environment& environment, std::string_view variable, std::string_view below_home);

/// A profile as both files give it. Threads: a value.
class AwsProfile {
 public:
  /// Reads the files that the environment names, or those in the home folder; a file that is not there is empty. The
  /// profile is the one that AWS_PROFILE or AWS_DEFAULT_PROFILE names, else "default". Throws kUsage if the one they
  /// name is in neither file, and kIo for a file that cannot be read.
  static AwsProfile load(const Environment& environment);

  /// Sections as the two files have them; `profile` may be in neither.
  AwsProfile(std::string profile, AwsSections config, AwsSections credentials)
      : name_(std::move(profile)), config_(std::move(config)), credentials_(std::move(credentials)) {}

  const std::string& name() const { return name_; }
  bool exists() const;
  /// Another profile of the same files.
  AwsProfile with_name(std::string name) const { return AwsProfile(std::move(name), config_, credentials_); }

  /// The value of a setting; the file of credentials comes first. Nothing if neither file has it.
  std::optional<std::string> get(std::string_view setting) const;
  /// A setting for one service, such as "s3", alone: of the profile's "services" section, or nested in its "s3".
  std::optional<std::string> get_for(std::string_view service, std::string_view setting) const;

 private:
  std::string section() const;  // in the file of configuration

  std::string name_;
  AwsSections config_;
  AwsSections credentials_;
};

}  // namespace stoker
