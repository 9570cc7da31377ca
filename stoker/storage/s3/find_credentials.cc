// The places that have keys, in the order in which AWS's tools ask them.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <pugixml.hpp>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/escaped.h"
#include "stoker/storage/s3/credentials.h"
#include "stoker/storage/s3/endpoint.h"
#include "stoker/storage/s3/iso_time.h"

namespace stoker {
namespace {

using std::chrono::milliseconds;

constexpr int kRolesMax = 8;                  // that lead to each other
constexpr milliseconds kInstanceLimit{1000};  // of a request: most machines are not instances, and answer none
constexpr std::string_view kSessionName = "stoker";

using Found = std::optional<FoundCredentials>;

// --- Replies

/// Throws kIo for texts that do not make up keys. `place` gave them.
Credentials credentials_of(std::string_view place, std::string id, std::string secret, std::string session,
                           std::string_view expires) {
  const auto time = parse_iso_time(expires);
  if (id.empty() || secret.empty() || !time) fail(ErrorKind::kIo, "{} answered without keys or their expiry", place);
  return {{std::move(id), std::move(secret), std::move(session)}, time};
}

/// Of a container or an instance.
Credentials parse_json(std::string_view place, const std::string& body) {
  const auto reply = nlohmann::json::parse(body, nullptr, false);
  const auto text = [&](const char* name) {
    const auto value = reply.is_object() ? reply.find(name) : reply.end();
    return reply.is_object() && value != reply.end() && value->is_string() ? value->get<std::string>() : std::string();
  };
  return credentials_of(place, text("AccessKeyId"), text("SecretAccessKey"), text("Token"), text("Expiration"));
}

/// Of the service that gives keys for a role.
Credentials parse_xml(std::string_view place, const std::string& body) {
  pugi::xml_document reply;
  reply.load_buffer(body.data(), body.size());
  const pugi::xml_node keys =
      reply.find_node([](const pugi::xml_node& node) { return std::string_view(node.name()) == "Credentials"; });
  const auto text = [&](const char* name) { return std::string(keys.child_value(name)); };
  return credentials_of(place, text("AccessKeyId"), text("SecretAccessKey"), text("SessionToken"), text("Expiration"));
}

/// The <Code> of an error that AWS answers in XML; empty if there is none.
std::string error_code(const std::string& body) {
  pugi::xml_document reply;
  reply.load_buffer(body.data(), body.size());
  return reply.find_node([](const pugi::xml_node& node) { return std::string_view(node.name()) == "Code"; })
      .child_value();
}

std::string whole_file(const std::string& path, std::string_view variable) {
  std::ifstream file(path, std::ios::binary);
  if (!file) fail(ErrorKind::kNotFound, "cannot read '{}', which {} names", path, variable);
  std::string text(std::istreambuf_iterator<char>(file), {});
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  return text;
}

// --- The service that gives keys for a role

class RoleService {
 public:
  RoleService(const CredentialWorld& world, const AwsProfile& profile)
      : world_(world), region_(region_of(world.environment, profile).value_or("us-east-1")) {
    url_ = custom_endpoint(world.environment, profile, "sts")
               .value_or(fmt::format("https://sts.{}.{}", region_, aws_domain(region_)));
  }

  /// With a token that a cluster or an identity provider wrote into a file.
  Credentials by_web_identity(const std::string& role, const std::string& session, const std::string& token) const {
    return ask({{"Action", "AssumeRoleWithWebIdentity"},
                {"RoleArn", role},
                {"RoleSessionName", session},
                {"Version", "2011-06-15"},
                {"WebIdentityToken", token}},
               std::nullopt);
  }

  /// With the keys of the role that may take this one.
  Credentials by_keys(const std::string& role, const std::string& session,
                      const std::optional<std::string>& external_id, const AccessKey& key) const {
    NamedTexts fields{
        {"Action", "AssumeRole"}, {"RoleArn", role}, {"RoleSessionName", session}, {"Version", "2011-06-15"}};
    if (external_id) fields.emplace_back("ExternalId", *external_id);
    return ask(fields, key);
  }

 private:
  Credentials ask(const NamedTexts& fields, const std::optional<AccessKey>& key) const {
    SmallRequest request{
        "POST", url_ + "/", {{"Content-Type", "application/x-www-form-urlencoded"}}, canonical_query(fields)};
    if (key) {
      const std::string host = url_.substr(url_.find("://") + 3);
      const NamedTexts added =
          RequestSigner(*key, region_, "sts")
              .headers({"POST", host, "/", {}, request.headers}, sha256_hex(as_bytes(request.body)), world_.now());
      request.headers.insert(request.headers.end(), added.begin(), added.end());
    }
    const SmallReply reply = world_.request(request);
    const std::string& role =
        std::find_if(fields.begin(), fields.end(), [](const auto& field) { return field.first == "RoleArn"; })->second;
    if (reply.status != 200) {
      fail(ErrorKind::kIo, "{} refused keys for the role '{}': {} {}", url_, role, reply.status,
           error_code(reply.body));
    }
    return parse_xml(url_, reply.body);
  }

  const CredentialWorld& world_;
  std::string region_;
  std::string url_;
};

// --- Places

Found from_environment(const Environment& environment) {
  const auto id = environment("AWS_ACCESS_KEY_ID"), secret = environment("AWS_SECRET_ACCESS_KEY");
  if (!id && !secret) return std::nullopt;
  if (!id || !secret) {
    fail(ErrorKind::kUsage, "{} is set, but {} is not", id ? "AWS_ACCESS_KEY_ID" : "AWS_SECRET_ACCESS_KEY",
         id ? "AWS_SECRET_ACCESS_KEY" : "AWS_ACCESS_KEY_ID");
  }
  return FoundCredentials{{{*id, *secret, environment("AWS_SESSION_TOKEN").value_or("")}},
                          "the environment (AWS_ACCESS_KEY_ID)"};
}

Found from_web_identity(const CredentialWorld& world, const AwsProfile& profile) {
  const auto& environment = world.environment;
  const auto file = environment("AWS_WEB_IDENTITY_TOKEN_FILE"), role = environment("AWS_ROLE_ARN");
  if (!file || !role) return std::nullopt;
  const std::string session = environment("AWS_ROLE_SESSION_NAME").value_or(std::string(kSessionName));
  return FoundCredentials{
      RoleService(world, profile).by_web_identity(*role, session, whole_file(*file, "AWS_WEB_IDENTITY_TOKEN_FILE")),
      fmt::format("the role '{}' by web identity", *role)};
}

/// Whether a container's token may be sent there: to the machine itself, to the agents of ECS and EKS, or over TLS.
bool may_have_token(std::string_view url) {
  if (url.starts_with("https://")) return true;
  constexpr std::string_view kScheme = "http://";
  if (!url.starts_with(kScheme)) return false;
  url.remove_prefix(kScheme.size());
  std::string_view host = url.substr(0, url.find_first_of("/?#"));
  const std::size_t port = host.starts_with('[') ? host.find(':', host.find(']')) : host.find(':');
  if (port != std::string::npos) {
    if (host.find_first_not_of("0123456789", port + 1) != std::string::npos) return false;
    host = host.substr(0, port);
  }
  constexpr std::string_view kTrusted[] = {"127.0.0.1",     "localhost",      "[::1]",
                                           "169.254.170.2", "169.254.170.23", "[fd00:ec2::23]"};
  return std::find(std::begin(kTrusted), std::end(kTrusted), host) != std::end(kTrusted);
}

Found from_container(const CredentialWorld& world) {
  const auto& environment = world.environment;
  const auto relative = environment("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
  const auto full = environment("AWS_CONTAINER_CREDENTIALS_FULL_URI");
  if (!relative && !full) return std::nullopt;
  SmallRequest request{"GET", relative ? "http://169.254.170.2" + *relative : *full};
  if (!relative && !may_have_token(request.url)) {
    fail(ErrorKind::kUsage,
         "AWS_CONTAINER_CREDENTIALS_FULL_URI must be an https URL, or name this machine, ECS or EKS");
  }
  if (const auto file = environment("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE")) {
    request.headers.emplace_back("Authorization", whole_file(*file, "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"));
  } else if (const auto token = environment("AWS_CONTAINER_AUTHORIZATION_TOKEN")) {
    request.headers.emplace_back("Authorization", *token);
  }
  const SmallReply reply = world.request(request);
  constexpr std::string_view kPlace = "the container's service for keys";
  if (reply.status != 200) fail(ErrorKind::kIo, "{} answered {}", kPlace, reply.status);
  return FoundCredentials{parse_json(kPlace, reply.body), std::string(kPlace)};
}

/// The metadata service of an EC2 instance.
class InstanceService {
 public:
  explicit InstanceService(const CredentialWorld& world)
      : world_(world), url_(world.environment("AWS_EC2_METADATA_SERVICE_ENDPOINT").value_or("http://169.254.169.254")) {
    while (url_.ends_with('/')) url_.pop_back();
  }

  Found find() {
    try {
      begin_session();
      const std::string folder = "/latest/meta-data/iam/security-credentials/";
      const SmallReply role = get(folder);
      if (role.status != 200 || role.body.empty()) return std::nullopt;  // an instance without a role
      const std::string name = role.body.substr(0, role.body.find('\n'));
      const SmallReply keys = get(folder + name);
      if (keys.status != 200) return std::nullopt;
      return FoundCredentials{parse_json("the instance's service for keys", keys.body),
                              fmt::format("the instance's role '{}'", name)};
    } catch (const Error& error) {
      if (answered_ || error.kind() != ErrorKind::kIo) throw;
      return std::nullopt;  // this is not an instance
    }
  }

 private:
  void begin_session() {
    SmallReply token;
    try {
      token = ask(
          {"PUT", url_ + "/latest/api/token", {{"X-aws-ec2-metadata-token-ttl-seconds", "21600"}}, "", kInstanceLimit});
    } catch (const Error& error) {
      // A token may be sent one hop far by default, which is too near for a container; other answers arrive there.
      if (error.kind() != ErrorKind::kIo) throw;
    }
    // Services of the first version have no tokens.
    if (token.status == 200) headers_.emplace_back("X-aws-ec2-metadata-token", token.body);
  }

  SmallReply get(const std::string& path) { return ask({"GET", url_ + path, headers_, "", kInstanceLimit}); }

  SmallReply ask(const SmallRequest& request) {
    SmallReply reply = world_.request(request);
    answered_ = true;
    return reply;
  }

  const CredentialWorld& world_;
  std::string url_;
  NamedTexts headers_;
  bool answered_ = false;
};

Found from_instance(const CredentialWorld& world) {
  const std::string disabled = world.environment("AWS_EC2_METADATA_DISABLED").value_or("");
  if (disabled == "true" || disabled == "TRUE" || disabled == "True") return std::nullopt;
  return InstanceService(world).find();
}

Found from_profile(const CredentialWorld& world, const AwsProfile& profile, int depth);

/// The keys that may take a profile's role.
FoundCredentials source_of_role(const CredentialWorld& world, const AwsProfile& profile, const std::string& role,
                                int depth) {
  Found source;
  if (const auto name = profile.get("source_profile")) {
    const AwsProfile other = profile.with_name(*name);
    if (!other.exists()) {
      fail(ErrorKind::kUsage, "the profile '{}' has the source_profile '{}', which does not exist", profile.name(),
           *name);
    }
    // A profile whose source is itself has keys of its own.
    source = *name == profile.name() ? std::nullopt : from_profile(world, other, depth + 1);
    if (const auto id = other.get("aws_access_key_id"); !source && id) {
      source = FoundCredentials{
          {{*id, other.get("aws_secret_access_key").value_or(""), other.get("aws_session_token").value_or("")}}, ""};
    }
  } else if (const auto place = profile.get("credential_source")) {
    if (*place == "Environment") source = from_environment(world.environment);
    if (*place == "EcsContainer") source = from_container(world);
    if (*place == "Ec2InstanceMetadata") source = from_instance(world);
  }
  if (!source) {
    fail(ErrorKind::kUsage, "the profile '{}' has the role '{}', but no keys to take it with: set its source_profile",
         profile.name(), role);
  }
  return *source;
}

Found from_role(const CredentialWorld& world, const AwsProfile& profile, int depth) {
  const auto role = profile.get("role_arn");
  if (!role) return std::nullopt;
  if (depth > kRolesMax) {
    fail(ErrorKind::kUsage, "the profiles that lead to the role '{}' by their source_profile form a circle", *role);
  }
  const std::string session = profile.get("role_session_name").value_or(std::string(kSessionName));
  const std::string origin = fmt::format("the role '{}' of the profile '{}'", *role, profile.name());
  const RoleService service(world, profile);
  if (const auto file = profile.get("web_identity_token_file")) {
    return FoundCredentials{service.by_web_identity(*role, session, whole_file(*file, "web_identity_token_file")),
                            origin};
  }
  const FoundCredentials source = source_of_role(world, profile, *role, depth);
  return FoundCredentials{service.by_keys(*role, session, profile.get("external_id"), source.credentials.key), origin};
}

Found from_profile(const CredentialWorld& world, const AwsProfile& profile, int depth) {
  if (auto found = from_role(world, profile, depth)) return found;
  if (const auto id = profile.get("aws_access_key_id")) {
    const auto secret = profile.get("aws_secret_access_key");
    if (!secret) {
      fail(ErrorKind::kUsage, "the profile '{}' has an aws_access_key_id, but no aws_secret_access_key",
           profile.name());
    }
    return FoundCredentials{{{*id, *secret, profile.get("aws_session_token").value_or("")}},
                            fmt::format("the profile '{}'", profile.name())};
  }
  for (const std::string_view setting : {"credential_process", "sso_session", "sso_start_url"}) {
    if (!profile.get(setting)) continue;
    fail(ErrorKind::kUsage,
         "the profile '{0}' gets its keys by {1}, which Stoker does not do: export them with "
         "`aws configure export-credentials --profile {0} --format env`",
         profile.name(), setting);
  }
  return std::nullopt;
}

/// It becomes a part of a host's name, and of signatures.
std::string checked_region(std::string region) {
  const auto is_usual = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '.';
  };
  if (!std::all_of(region.begin(), region.end(), is_usual)) {
    fail(ErrorKind::kUsage, "the region '{}' cannot be one: a region is named like us-east-1", escaped(region));
  }
  return region;
}

}  // namespace

std::optional<std::string> region_of(const Environment& environment, const AwsProfile& profile) {
  for (const std::string_view variable : {"AWS_REGION", "AWS_DEFAULT_REGION"}) {
    if (auto region = environment(variable); region && !region->empty()) return checked_region(*std::move(region));
  }
  if (auto region = profile.get("region"); region && !region->empty()) return checked_region(*std::move(region));
  return std::nullopt;
}

Found find_credentials(const CredentialWorld& world, const AwsProfile& profile) {
  if (auto found = from_environment(world.environment)) return found;
  if (auto found = from_web_identity(world, profile)) return found;
  if (auto found = from_profile(world, profile, 0)) return found;
  if (auto found = from_container(world)) return found;
  return from_instance(world);
}

Found find_gs_credentials(const Environment& environment) {
  const auto id = environment("GS_ACCESS_KEY_ID"), secret = environment("GS_SECRET_ACCESS_KEY");
  if (id && secret) return FoundCredentials{{{*id, *secret, ""}}, "the environment (GS_ACCESS_KEY_ID)"};
  const std::string file = configuration_file(environment, "BOTO_CONFIG", "/.boto");
  if (file.empty()) return std::nullopt;
  const AwsSections sections = read_aws_file(file);
  const auto keys = sections.find("Credentials");
  if (keys == sections.end()) return std::nullopt;
  const auto file_id = keys->second.find("gs_access_key_id"), file_secret = keys->second.find("gs_secret_access_key");
  if (file_id == keys->second.end() || file_secret == keys->second.end()) return std::nullopt;
  return FoundCredentials{{{file_id->second, file_secret->second, ""}}, fmt::format("'{}'", file)};
}

}  // namespace stoker
