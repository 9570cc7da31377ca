// The examples of AWS's documentation for S3, and the suite of vectors for Signature Version 4.
#include "stoker/storage/s3/signature.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "stoker/storage/http/http_url.h"

namespace stoker {
namespace {

using std::chrono::sys_days;

constexpr RequestSigner::Time kDay = sys_days(std::chrono::year(2013) / 5 / 24);
const AccessKey kKey{"AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", ""};
const std::string kNothing = sha256_hex({});

std::string header(const NamedTexts& headers, std::string_view name) {
  for (const auto& [other, value] : headers) {
    if (other == name) return value;
  }
  return "";
}

std::string signature_of(const NamedTexts& headers) {
  const std::string authorization = header(headers, "Authorization");
  return authorization.substr(authorization.find("Signature=") + 10);
}

std::string signature_of(const RequestToSign& request, const std::string& payload = kNothing) {
  return signature_of(RequestSigner(kKey, "us-east-1").headers(request, payload, kDay));
}

RequestToSign request(std::string method, std::string path, NamedTexts query = {}, NamedTexts headers = {}) {
  return {std::move(method), "examplebucket.s3.amazonaws.com", std::move(path), std::move(query), std::move(headers)};
}

TEST(RequestSigner, SignsARangeOfAnObject) {
  EXPECT_EQ(signature_of(request("GET", "/test.txt", {}, {{"Range", "bytes=0-9"}})),
            "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
}

TEST(RequestSigner, SignsAnObjectThatIsWritten) {
  EXPECT_EQ(
      signature_of(request("PUT", "/test$file.text", {},
                           {{"Date", "Fri, 24 May 2013 00:00:00 GMT"}, {"x-amz-storage-class", "REDUCED_REDUNDANCY"}}),
                   sha256_hex(as_bytes("Welcome to Amazon S3."))),
      "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd");
}

TEST(RequestSigner, SignsAQuery) {
  EXPECT_EQ(signature_of(request("GET", "/", {{"lifecycle", ""}})),
            "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543");
  EXPECT_EQ(signature_of(request("GET", "/", {{"prefix", "J"}, {"max-keys", "2"}})),
            "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
}

TEST(RequestSigner, SignsTheTokenOfKeysThatExpire) {
  const AccessKey key{kKey.id, kKey.secret, "a/token=="};
  const NamedTexts headers = RequestSigner(key, "us-east-1").headers(request("GET", "/"), kNothing, kDay);
  EXPECT_EQ(header(headers, "x-amz-security-token"), "a/token==");
  EXPECT_NE(header(headers, "Authorization").find(";x-amz-security-token,"), std::string::npos);
}

TEST(RequestSigner, NeverSendsTheSecret) {
  for (const auto& [name, value] : RequestSigner(kKey, "r").headers(request("GET", "/"), kNothing, kDay)) {
    EXPECT_EQ(value.find(kKey.secret), std::string::npos) << name;
  }
}

TEST(RequestSigner, SignsEachDayAsIfItWereTheFirst) {
  RequestSigner signer(kKey, "us-east-1");
  for (const int days : {0, 0, 1, 1, 0, 400}) {
    const RequestSigner::Time now = kDay + std::chrono::days(days) + std::chrono::hours(7);
    EXPECT_EQ(signer.headers(request("GET", "/"), kNothing, now),
              RequestSigner(kKey, "us-east-1").headers(request("GET", "/"), kNothing, now));
  }
}

TEST(RequestSigner, ComparesHeadersByTheirWords) {
  const RequestToSign plain = request("GET", "/", {}, {{"my-header1", "a b c"}});
  const RequestToSign spaced = request("GET", "/", {}, {{"My-Header1", "  a   b c "}});
  EXPECT_EQ(signature_of(plain), signature_of(spaced));
}

TEST(SignedChunks, ContinueTheSignatureOfTheRequest) {
  RequestSigner signer(kKey, "us-east-1");
  const RequestToSign put{"PUT",
                          "s3.amazonaws.com",
                          "/examplebucket/chunkObject.txt",
                          {},
                          {{"x-amz-storage-class", "REDUCED_REDUNDANCY"},
                           {"Content-Encoding", "aws-chunked"},
                           {"x-amz-decoded-content-length", "66560"},
                           {"Content-Length", "66824"}}};
  const NamedTexts headers = signer.headers(put, kSignedChunks, kDay);
  ASSERT_EQ(signature_of(headers), "4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9");

  const std::string data(65536, 'a');
  SignedChunks chunks(signer, headers, kDay);
  EXPECT_EQ(chunks.header(as_bytes(data)),
            "10000;chunk-signature=ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648\r\n");
  EXPECT_EQ(chunks.header(as_bytes(std::string_view(data).substr(0, 1024))),
            "400;chunk-signature=0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497\r\n");
  EXPECT_EQ(chunks.header({}),
            "0;chunk-signature=b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9\r\n");
  EXPECT_EQ(SignedChunks::encoded_length(66560, 65536), 66824u);
}

TEST(SignedChunks, KnowTheLengthOfEachBody) {
  for (const std::uint64_t bytes : {0, 1, 15, 16, 17, 31, 32, 33, 100}) {
    RequestSigner signer(kKey, "us-east-1");
    SignedChunks chunks(signer, signer.headers(request("PUT", "/"), kSignedChunks, kDay), kDay);
    const std::string body(bytes, 'x');
    std::uint64_t length = 0;
    for (std::uint64_t at = 0; at < bytes; at += 16) {
      const std::string_view chunk = std::string_view(body).substr(at, 16);
      length += chunks.header(as_bytes(chunk)).size() + chunk.size() + 2;
    }
    length += chunks.header({}).size() + 2;
    EXPECT_EQ(SignedChunks::encoded_length(bytes, 16), length) << bytes;
  }
}

TEST(EscapedForUrl, LeavesUnreservedCharacters) {
  EXPECT_EQ(escaped_for_url("/a b/é~-._+=&%", true), "/a%20b/%C3%A9~-._%2B%3D%26%25");
  EXPECT_EQ(escaped_for_url("/a", false), "%2Fa");
}

TEST(CanonicalQuery, IsSorted) {
  EXPECT_EQ(canonical_query({{"list-type", "2"}, {"prefix", "a/b c"}, {"delimiter", "/"}}),
            "delimiter=%2F&list-type=2&prefix=a%2Fb%20c");
  EXPECT_EQ(canonical_query({}), "");
}

}  // namespace
}  // namespace stoker
