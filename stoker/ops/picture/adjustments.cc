#include "stoker/ops/picture/adjustments.h"

#include "stoker/base/portable_math.h"

namespace stoker {
namespace {

using Matrix = std::array<std::array<double, 3>, 3>;

constexpr Matrix product(const Matrix& a, const Matrix& b) {
  Matrix result{};
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t k = 0; k < 3; ++k) {
      for (std::size_t j = 0; j < 3; ++j) result[i][j] += a[i][k] * b[k][j];
    }
  }
  return result;
}

constexpr Matrix inverse(const Matrix& m) {
  Matrix result{};
  double determinant = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      const std::size_t row = (j + 1) % 3, row2 = (j + 2) % 3, column = (i + 1) % 3, column2 = (i + 2) % 3;
      result[i][j] = m[row][column] * m[row2][column2] - m[row][column2] * m[row2][column];
    }
    determinant += m[0][i] * result[i][0];
  }
  for (auto& row : result) {
    for (double& value : row) value /= determinant;
  }
  return result;
}

// Of the NTSC standard: luma, and two differences of colour.
constexpr Matrix kYiq = {{{0.299, 0.587, 0.114}, {0.5959, -0.2746, -0.3213}, {0.2115, -0.5227, 0.3112}}};
constexpr Matrix kFromYiq = inverse(kYiq);

// A factor, and what it leaves for the other side of a blend.
PictureStep& add_blend(PictureSteps& steps, PictureKind kind, double factor) {
  PictureStep& step = steps.add(kind);
  step.f[0] = static_cast<float>(factor);
  step.f[1] = static_cast<float>(1 - factor);
  return step;
}

}  // namespace

void add_brightness(PictureSteps& steps, AdjustmentStyle style, double factor) {
  if (style == AdjustmentStyle::kTorchvision) {
    add_blend(steps, PictureKind::kTorchvisionBrightness, factor);
    return;
  }
  PictureStep& step = steps.add(PictureKind::kAffine);
  for (int c = 0; c < 3; ++c) step.f[c] = static_cast<float>(factor);
}

void add_contrast(PictureSteps& steps, AdjustmentStyle style, double factor) {
  const bool own = style == AdjustmentStyle::kStoker;
  add_blend(steps, own ? PictureKind::kContrast : PictureKind::kTorchvisionContrast, factor);
}

void add_saturation(PictureSteps& steps, AdjustmentStyle style, double factor) {
  const bool own = style == AdjustmentStyle::kStoker;
  add_blend(steps, own ? PictureKind::kSaturation : PictureKind::kTorchvisionSaturation, factor);
}

// The colour differences are turned around grey; luma stays.
void add_hue(PictureSteps& steps, AdjustmentStyle style, double turn) {
  if (style == AdjustmentStyle::kTorchvision) {
    steps.add(PictureKind::kTorchvisionHue).f[0] = static_cast<float>(turn);
    return;
  }
  constexpr double kPi = 0x1.921fb54442d18p1;
  const auto [sine, cosine] = portable_sine_cosine(2 * kPi * turn);
  // From red to yellow to green, as torchvision and others count.
  const Matrix turned = {{{1, 0, 0}, {0, cosine, sine}, {0, -sine, cosine}}};
  const Matrix rgb = product(kFromYiq, product(turned, kYiq));
  PictureStep& step = steps.add(PictureKind::kMatrix);
  for (std::size_t i = 0; i < 9; ++i) step.f[i] = static_cast<float>(rgb[i / 3][i % 3]);
}

}  // namespace stoker
