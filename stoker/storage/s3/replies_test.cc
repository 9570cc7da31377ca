#include "stoker/storage/s3/replies.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "stoker/base/error_testing.h"
#include "stoker/storage/s3/iso_time.h"

namespace stoker {
namespace {

TEST(ParseListing, ReadsObjectsFoldersAndWhereItGoesOn) {
  const ListingPage page = parse_listing(
      R"(<?xml version="1.0" encoding="UTF-8"?>
<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>b</Name><Prefix>train/</Prefix>
<IsTruncated>true</IsTruncated><NextContinuationToken>1ueG==</NextContinuationToken>
<Contents><Key>train/a.tar</Key><LastModified>2009-10-12T17:50:30.000Z</LastModified>
<ETag>&quot;fba9dede5f27731c9771645a39863328&quot;</ETag><Size>434234</Size></Contents>
<Contents><Key>train/b &amp; c.tar</Key><Size>0</Size></Contents>
<CommonPrefixes><Prefix>train/more/</Prefix></CommonPrefixes></ListBucketResult>)",
      "s3://b/train/");
  ASSERT_EQ(page.objects.size(), 2u);
  EXPECT_EQ(page.objects[0].key, "train/a.tar");
  EXPECT_EQ(page.objects[0].size, 434234u);
  EXPECT_EQ(page.objects[0].tag, "\"fba9dede5f27731c9771645a39863328\"");
  EXPECT_EQ(page.objects[0].modified.tv_sec, 1255369830);
  EXPECT_EQ(page.objects[1].key, "train/b & c.tar");
  EXPECT_EQ(page.folders, std::vector<std::string>{"train/more/"});
  EXPECT_EQ(page.next, "1ueG==");
}

TEST(ParseListing, PutsQuotesAroundTagsWithoutThem) {
  const auto tag = [](const std::string& text) {
    return parse_listing("<ListBucketResult><Contents><Key>a</Key><Size>1</Size><ETag>" + text +
                             "</ETag></Contents></ListBucketResult>",
                         "s3://b/")
        .objects.at(0)
        .tag;
  };
  EXPECT_EQ(tag("abc-2"), "\"abc-2\"");
  EXPECT_EQ(tag("&quot;abc&quot;"), "\"abc\"");
  EXPECT_EQ(tag("W/&quot;abc&quot;"), "W/\"abc\"");
  EXPECT_EQ(tag(""), "");
}

TEST(ParseListing, UndoesTheEscapesOfKeys) {
  const ListingPage page = parse_listing(
      "<ListBucketResult><EncodingType>url</EncodingType><Contents><Key>a%20b%2Bc%01+d%C3%A9</Key><Size>1</Size>"
      "</Contents><IsTruncated>false</IsTruncated></ListBucketResult>",
      "s3://b/");
  EXPECT_EQ(page.objects.at(0).key, "a b+c\x01 d\xC3\xA9");
  EXPECT_EQ(page.next, "");
}

TEST(ParseListing, RefusesOtherTexts) {
  const auto message = [](const char* xml) { return error_of([&] { parse_listing(xml, "s3://b/"); }).message(); };
  for (const char* xml : {"", "hello", "<html></html>", "<ListBucketResult>", "{}"}) {
    EXPECT_EQ(message(xml), "cannot list 's3://b/': the store's answer is not a listing") << xml;
  }
  EXPECT_EQ(message("<ListBucketResult><Contents><Key>a</Key></Contents></ListBucketResult>"),
            "cannot list 's3://b/': the store's answer has no valid <Size>");
  EXPECT_EQ(message("<ListBucketResult><Contents><Size>1</Size></Contents></ListBucketResult>"),
            "cannot list 's3://b/': the store's answer has no valid <Key>");
  EXPECT_EQ(message("<ListBucketResult><EncodingType>url</EncodingType><Contents><Key>%2</Key><Size>1</Size></Contents>"
                    "</ListBucketResult>"),
            "cannot list 's3://b/': the store's answer has no valid <Key>");
  EXPECT_EQ(message("<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>"),
            "cannot list 's3://b/': the store's answer is cut off");
}

TEST(ParseListing, ExpandsNoEntitiesOfItsOwn) {
  const char* bomb =
      "<!DOCTYPE l [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;\">]>"
      "<ListBucketResult><Contents><Key>&b;</Key><Size>1</Size></Contents></ListBucketResult>";
  EXPECT_EQ(parse_listing(bomb, "s3://b/").objects.at(0).key, "&b;");
}

TEST(ParseUpload, ReadsTheIdentity) {
  EXPECT_EQ(parse_upload("<InitiateMultipartUploadResult><UploadId>VXBsb2Fk</UploadId></InitiateMultipartUploadResult>",
                         "s3://b/a"),
            "VXBsb2Fk");
  EXPECT_EQ(error_of([] { parse_upload("<x/>", "s3://b/a"); }).message(),
            "cannot write 's3://b/a': the store's answer has no <UploadId>");
}

TEST(ParseRefusal, ReadsWhatIsThere) {
  const Refusal refusal = parse_refusal(
      "<Error><Code>PermanentRedirect</Code><Message>Elsewhere.</Message><Region>eu-west-1</Region></Error>");
  EXPECT_EQ(refusal.code, "PermanentRedirect");
  EXPECT_EQ(refusal.message, "Elsewhere.");
  EXPECT_EQ(refusal.region, "eu-west-1");
  EXPECT_EQ(parse_refusal("<html>Bad Gateway</html>").code, "");
  EXPECT_EQ(parse_refusal("").code, "");
}

TEST(CompletedUpload, ListsThePartsInOrder) {
  EXPECT_EQ(completed_upload({"\"a\"", "\"b\""}),
            "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>\"a\"</ETag></Part>"
            "<Part><PartNumber>2</PartNumber><ETag>\"b\"</ETag></Part></CompleteMultipartUpload>");
}

TEST(ParseIsoTime, ReadsTimesInUtcAlone) {
  EXPECT_EQ(parse_iso_time("1970-01-02T00:00:01Z")->time_since_epoch().count(), 86401);
  EXPECT_EQ(parse_iso_time("2026-11-25T12:00:00.123456Z"), parse_iso_time("2026-11-25T12:00:00Z"));
  EXPECT_EQ(parse_iso_time("2026-11-25T12:00:00.5+00:00"), parse_iso_time("2026-11-25T12:00:00Z"));
  for (const char* text : {"", "Z", "2026-11-25T12:00:00", "2026-11-25 12:00:00Z", "2026-13-25T12:00:00Z",
                           "2026-11-31T12:00:00Z", "2026-11-25T24:00:00Z", "2026-11-25T12:00:00+1Z",
                           "2026-11-25T12:00:00.Z", "2026-11-25T12:00:00+01:00", "+00:00", "2026-11-25T12:0x:00Z"}) {
    EXPECT_FALSE(parse_iso_time(text)) << text;
  }
}

}  // namespace
}  // namespace stoker
