// The table of the operators of recipes. It feeds checking, `stoker ops`, and the documentation; an operator's meaning
// is the function that its row points to.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "stoker/ops/color.h"
#include "stoker/ops/combination.h"
#include "stoker/ops/decode_options.h"
#include "stoker/ops/geometry.h"
#include "stoker/ops/json_number.h"
#include "stoker/ops/mask_options.h"
#include "stoker/ops/mix.h"
#include "stoker/ops/object_options.h"
#include "stoker/ops/one_hot.h"
#include "stoker/ops/operator_call.h"
#include "stoker/ops/pad_to.h"
#include "stoker/ops/several_views.h"
#include "stoker/ops/stage.h"
#include "stoker/ops/tensor_format.h"
#include "stoker/ops/text_options.h"
#include "stoker/ops/token_options.h"

namespace stoker {

enum class ArgType : std::uint8_t { kNumber, kInteger, kText, kNumbers, kIntegers, kFlag, kOperators };

struct ArgSpec {
  std::string_view name;
  ArgType type;
  std::string_view doc;
  bool required = false;
  // The default, by type.
  std::string_view text{};
  std::array<double, 8> numbers{};
  int count = 1;  // how many of `numbers`
  // Limits: of each number, of how many numbers (bit n set: n numbers are permitted), and the permitted texts. Of
  // operators: of how many there may be.
  double min = 0, max = 0;
  unsigned counts = 1u << 1;
  std::string_view choices{};  // "a|b|c"
  /// It came after the operator. Recipes are written without it where it is the default: the hash of an older recipe,
  /// which stands in states, stays what it was.
  bool later = false;
};

struct ArrayProgram;
class EraseOperator;
class PictureOperator;

/// What an operator does, by family.
using DecodeFunction = void (*)(const OperatorCall&, DecodeOptions&);
using GeometryFunction = std::unique_ptr<GeometryOperator> (*)(const OperatorCall&);
using PictureFunction = std::unique_ptr<PictureOperator> (*)(const OperatorCall&);
using ColorFunction = void (*)(const OperatorCall&, ColorChain&);
using EraseFunction = std::unique_ptr<EraseOperator> (*)(const OperatorCall&);
using FormatFunction = void (*)(const OperatorCall&, FormatChoice&);
using MaskFunction = void (*)(const OperatorCall&, MaskOptions&);
using BoxFunction = void (*)(const OperatorCall&, ObjectOptions&);
using TextFunction = void (*)(const OperatorCall&, TextOptions&);
using RowsFunction = void (*)(const OperatorCall&, RowPadding&);
using TokenFunction = void (*)(const OperatorCall&, TokenOptions&);
/// `stream` names the random numbers.
using ArrayFunction = void (*)(const OperatorCall&, ArrayProgram&, std::uint64_t stream);
using NumberFunction = void (*)(const OperatorCall&, FieldNumber&);
using LabelFunction = void (*)(const OperatorCall&, OneHot&);
using BatchFunction = std::unique_ptr<BatchOperator> (*)(const OperatorCall&);
using CombinationFunction = Combination (*)(const OperatorCall&);
using ViewsFunction = std::vector<OperatorCalls> (*)(const OperatorCall&);

struct OperatorSpec {
  std::string_view name;
  std::string_view doc;
  /// The alternative is the family, and families come in this order within a view: those of images up to format, or
  /// mask, or boxes or text and rows, or tokens, or array, or number and label. A combination is of the family of its
  /// operators. Those that make several views stand in no view, and the batch's belong to none.
  std::variant<DecodeFunction, GeometryFunction, PictureFunction, ColorFunction, EraseFunction, FormatFunction,
               MaskFunction, BoxFunction, TextFunction, RowsFunction, TokenFunction, ArrayFunction, NumberFunction,
               LabelFunction, CombinationFunction, ViewsFunction, BatchFunction>
      function;
  std::span<const ArgSpec> args;
  /// Arguments that show what it does, as in a recipe, from weak to strong: "degrees = 10 | degrees = 30". Empty where
  /// there are no arguments.
  std::string_view examples{};
  double tolerance = 0;  // largest permitted difference between executors, in units of the output; 0: bit for bit
};

/// "decode", "geometry", "picture", "color", "erase", "format", "mask", "boxes", "text", "rows", "tokens", "array",
/// "number", "label", "combination", "views", "batch".
std::string_view family_name(const OperatorSpec& spec);
/// The stage that operators of its family are a part of; numbers, labels, combinations, views and the batch's have
/// none.
Stage stage_of(const OperatorSpec& spec);
/// Whether it belongs to the batch, not to a view.
bool is_of_batch(const OperatorSpec& spec);
/// Whether a picture can show what it does: `stoker view --operator`.
bool is_drawn(const OperatorSpec& spec);

std::span<const OperatorSpec> operator_table();
/// The part of it that has the operators on pictures (ops/picture/picture_table.cc).
std::span<const OperatorSpec> picture_operators();
/// The same of those on masks, objects, texts and tokens (ops/field_table.cc).
std::span<const OperatorSpec> field_operators();
/// The same of those on arrays (ops/array/array_table.cc).
std::span<const OperatorSpec> array_operators();

/// Throws kUsage, suggesting the nearest name.
const OperatorSpec& find_operator(std::string_view name);

/// The row of the first operator in a checked call that is not a combination: a view treats the call as one of its
/// family.
const OperatorSpec& member_spec(const OperatorCall& checked);

/// The call with every argument filled in and of its declared type. Throws kUsage for an unknown operator or argument,
/// a wrong type or a value out of limits, naming operator, argument and what is permitted, and for operators of several
/// families in one combination; kLimit for combinations within more than kCombinationDepthMax others.
OperatorCall check_call(const OperatorCall& call);

constexpr int kCombinationDepthMax = 8;

/// The default value of an argument that is not required.
Value default_value(const ArgSpec& arg);

/// A checked call as a person would write it, without what is default anyway: "random_resized_crop(size=[224])".
std::string brief(const OperatorCall& checked);

}  // namespace stoker
