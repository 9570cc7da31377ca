// The operators on other fields than the image, for the operator table: masks, objects, texts, bytes and tokens.
#include "stoker/ops/operator_arguments.h"

namespace stoker {
namespace {

constexpr ArgSpec kDecodeMaskArgs[] = {
    text_arg("codes",
             "how a pixel codes its class: index: by its number, or its colour's index; rgb: red + 256 green + 65,536 "
             "blue; objects: by the category of its object in COCO's JSON, 0 where there is none",
             "index|rgb|objects", "index"),
    text_arg("classes",
             "stored: the class is the pixel's number; from_one: it is one less, and 0 means no class; cityscapes: the "
             "19 classes of Cityscapes' evaluation",
             "stored|from_one|cityscapes", "stored"),
    {.name = "fill",
     .type = ArgType::kInteger,
     .doc = "class of padding, and of pixels without a class",
     .numbers = {255},
     .min = -1e6,
     .max = 1e6},
    text_arg("dtype", "element type of the output", "u8|i64", "u8"),
};
constexpr ArgSpec kFractionsArg = {.name = "fractions",
                                   .type = ArgType::kFlag,
                                   .doc = "coordinates as fractions of the output's width and height, not pixels",
                                   .numbers = {0}};
constexpr ArgSpec kDecodeBoxesArgs[] = {
    text_arg("source",
             "coco: JSON objects with bbox and category_id; voc: Pascal VOC's XML; yolo: lines of class, middle, size",
             "coco|voc|yolo"),
    text_arg("form", "the four numbers of a box in the output", "xyxy|xywh|cxcywh", "xyxy"),
    kFractionsArg,
    {.name = "min_size",
     .type = ArgType::kNumber,
     .doc = "drops boxes with a side shorter than this, in pixels of the output",
     .numbers = {1},
     .min = 0,
     .max = kSideMax},
    {.name = "min_visible",
     .type = ArgType::kNumber,
     .doc = "drops boxes of which less than this part of the area is left",
     .numbers = {0},
     .min = 0,
     .max = 1},
    text_arg("crowds", "drops or keeps groups (crowds), and objects marked as difficult", "drop|keep", "drop"),
    {.name = "most",
     .type = ArgType::kInteger,
     .doc = "the largest number of boxes: a sample with more is a bad one",
     .numbers = {256},
     .min = 1,
     .max = 65'536},
    text_arg(
        "names",
        "names of the classes in the XML, separated by commas: the first one is class 0; voc: the 20 of Pascal VOC", "",
        "voc"),
    {.name = "middle_seen",
     .type = ArgType::kFlag,
     .doc = "drops boxes whose middle is cut off, as SSD does",
     .numbers = {0}},
};
constexpr ArgSpec kDecodeKeypointsArgs[] = {
    {.name = "points",
     .type = ArgType::kInteger,
     .doc = "keypoints of an object",
     .numbers = {17},
     .min = 1,
     .max = 1024},
    text_arg("flip_pairs",
             "pairs of keypoints that swap when the picture is mirrored, numbered from 0, such as '1-2,3-4'; coco: the "
             "pairs of COCO's 17; none: no pairs",
             "", "coco"),
    kFractionsArg};
constexpr ArgSpec kDecodeInstancesArgs[] = {
    text_arg("source",
             "shapes: polygons and runs in COCO's JSON; ids: a picture in which each pixel has the id of its object; "
             "rgb_ids: the same, the id is red + 256 green + 65,536 blue",
             "shapes|ids|rgb_ids", "shapes")};
constexpr ArgSpec kMostBytesArg = {.name = "most",
                                   .type = ArgType::kInteger,
                                   .doc = "the largest number of bytes",
                                   .numbers = {4096},
                                   .min = 1,
                                   .max = 16'777'216};
constexpr ArgSpec longer_arg() {
  return text_arg("longer", "what happens to longer samples: refuse: they are bad samples; cut: the rest is cut off",
                  "refuse|cut", "refuse");
}
constexpr ArgSpec kPadToArgs[] = {{.name = "count",
                                   .type = ArgType::kInteger,
                                   .doc = "how many rows each sample has",
                                   .required = true,
                                   .min = 1,
                                   .max = 16'777'216},
                                  {.name = "fill",
                                   .type = ArgType::kNumber,
                                   .doc = "value of the rows that are added",
                                   .numbers = {0},
                                   .min = -1e9,
                                   .max = 1e9},
                                  longer_arg()};
constexpr ArgSpec kDecodeBytesArgs[] = {kMostBytesArg, longer_arg()};
constexpr ArgSpec kDecodeTextArgs[] = {
    {.name = "key",
     .type = ArgType::kText,
     .doc =
         "key of the text in JSON, or a JSON pointer to it, such as /captions/0; empty: the field itself is the text"},
    kMostBytesArg,
    longer_arg()};
constexpr double kTokensMax = 1 << 24, kTokenMax = 2147483647;
constexpr ArgSpec kDecodeTokensArgs[] = {
    {.name = "length",
     .type = ArgType::kInteger,
     .doc = "tokens in a sequence",
     .required = true,
     .min = 1,
     .max = kTokensMax},
    text_arg("part",
             "for each place of the sequence: inputs: its token; targets: the next token; positions: its position in "
             "its document; documents: the number of its document; mask: 1, or 0 after the end of a shorter sample",
             "inputs|targets|positions|documents|mask", "inputs"),
    {.name = "type",
     .type = ArgType::kText,
     .doc = "the type in which tokens are stored, such as u16; empty: the ending of the field's name"},
    {.name = "eod",
     .type = ArgType::kInteger,
     .doc = "the token that ends a document, needed for part='documents'; -1: there is none",
     .numbers = {-1},
     .min = -1,
     .max = kTokenMax},
    {.name = "pad",
     .type = ArgType::kInteger,
     .doc = "the token that fills up shorter samples; their targets are -100 there",
     .numbers = {0},
     .min = 0,
     .max = kTokenMax},
    text_arg("longer",
             "what happens to longer samples: refuse: they are bad samples; cut: the beginning is used; random: a "
             "random part is used",
             "refuse|cut|random", "refuse")};

constexpr OperatorSpec kFieldOperators[] = {
    {"decode_mask",
     "decodes a mask of classes, which goes through the crops, flips and warps of its image; classes are never mixed",
     &apply_decode_mask, kDecodeMaskArgs, "classes = 'cityscapes'"},
    {"decode_boxes", "decodes the boxes of objects, which go through the crops, flips and warps of their image",
     &apply_decode_boxes, kDecodeBoxesArgs, "source = 'coco', min_visible = 0.3"},
    {"box_labels",
     "gives the classes of the boxes of another view that are left after its crops",
     &apply_box_labels,
     {}},
    {"decode_keypoints", "decodes the keypoints of another view's boxes: x, y and visibility of each",
     &apply_decode_keypoints, kDecodeKeypointsArgs, "points = 5, flip_pairs = '0-1,3-4'"},
    {"decode_instances", "decodes the masks of another view's boxes, one for each object", &apply_decode_instances,
     kDecodeInstancesArgs, "source = 'ids'"},
    {"decode_text", "decodes a text in UTF-8: a caption, a transcript", &apply_decode_text, kDecodeTextArgs,
     "key = '/captions/0'"},
    {"decode_bytes", "gives the bytes of a field as they are", &apply_decode_bytes, kDecodeBytesArgs, "most = 65536"},
    {"pad_to", "pads each sample to the same number of rows: one tensor instead of values and offsets", &apply_pad_to,
     kPadToArgs, "count = 100, longer = 'cut'"},
    {"decode_tokens", "decodes a sequence of tokens", &apply_decode_tokens, kDecodeTokensArgs,
     "length = 1024, part = 'targets'"},
};

}  // namespace

std::span<const OperatorSpec> field_operators() { return kFieldOperators; }

}  // namespace stoker
