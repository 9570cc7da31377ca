#include "stoker/pack/synth/synth_leaf.h"

#include <algorithm>
#include <cmath>

namespace stoker {
namespace {

/// The leaf's rows are worked on one by one; these are the columns of the row at hand.
struct Span {
  int begin = 0, count = 0;
};

/// A leaf with what is constant over its pixels worked out.
struct Brush {
  const SynthLeaf& leaf;
  float ux, uy, vx, vy;  // leaf coordinates per pixel: the edge lies at distance 1
  float sharpness;       // coverage per unit of the implicit function

  explicit Brush(const SynthLeaf& l) : leaf(l) {
    ux = l.axis_x / l.radius_u;
    uy = l.axis_y / l.radius_u;
    vx = -l.axis_y / l.radius_v;
    vy = l.axis_x / l.radius_v;
    sharpness = std::min(l.radius_u, l.radius_v) / (2 * l.softness_px);
  }
};

/// Shade and texture of the span's pixels, apart from the leaf's colour. Local pointers let the loops vectorise.
void shade_row(const Brush& brush, const SynthTextures& textures, Span span, float u0, float v0, int y, float* shade,
               float* texture) {
  const SynthLeaf leaf = brush.leaf;
  const float ux = brush.ux, vx = brush.vx;
  const int column = span.begin + leaf.shift_x;
  const float* smooth = textures.smooth.row(y + leaf.shift_y) + column;
  const float* fine = textures.fine.row(y + leaf.shift_y) + column;
  const float* streaks = textures.streaks.row(y + leaf.shift_y) + column;
  for (int i = 0; i < span.count; ++i) {
    const float x = static_cast<float>(i), u = u0 + x * ux, v = v0 + x * vx;
    texture[i] = leaf.fine * fine[i] + leaf.streaks * streaks[i];
    shade[i] = leaf.light_u * u + leaf.light_v * v + leaf.bulge * (0.5f - (u * u + v * v)) + leaf.uneven * smooth[i];
  }
  if (leaf.stripes == 0) return;
  const float per_v = leaf.stripes_per_px * leaf.radius_v;
  for (int i = 0; i < span.count; ++i) {
    const float v = v0 + static_cast<float>(i) * vx;
    const float phase = 4096 + per_v * v + 0.25f * smooth[i];
    const float triangle = 4 * std::fabs(phase - static_cast<float>(static_cast<int>(phase)) - 0.5f) - 1;
    texture[i] += leaf.stripes * triangle * (1.5f - 0.5f * triangle * triangle);
  }
}

/// How far the leaf covers each pixel of the span.
void cover_row(const Brush& brush, const SynthTextures& textures, Span span, float u0, float v0, int y, float* cover) {
  const SynthLeaf leaf = brush.leaf;
  const float ux = brush.ux, vx = brush.vx, sharpness = brush.sharpness;
  const float box = leaf.boxiness, round = 1 - box, wobble = 2 * leaf.wobble;
  const float* smooth = textures.smooth.row(y + leaf.shift_y) + span.begin + leaf.shift_x;
  for (int i = 0; i < span.count; ++i) {
    const float x = static_cast<float>(i), u = u0 + x * ux, v = v0 + x * vx;
    const float u2 = u * u, v2 = v * v;
    const float inside = 1 - (round * (u2 + v2) + box * (u2 * u2 + v2 * v2)) + wobble * smooth[i];
    const float c = std::min(1.0f, std::max(0.0f, 0.5f + inside * sharpness));
    cover[i] = c * c * (3 - 2 * c);
  }
}

void blend_row(const SynthLeaf& leaf, int count, const float* cover, const float* shade, const float* texture,
               float* luma, float* blue, float* red) {
  const SynthColor color = leaf.color;
  const float tint = leaf.tint;
  for (int i = 0; i < count; ++i) {
    const float follows = tint * texture[i];
    luma[i] += cover[i] * (color.luma + shade[i] + texture[i] - luma[i]);
    blue[i] += cover[i] * (color.blue - follows - blue[i]);
    red[i] += cover[i] * (color.red + follows - red[i]);
  }
}

}  // namespace

void paint_leaf(const SynthLeaf& leaf, const SynthTextures& textures, SynthCanvas& canvas) {
  const Brush brush(leaf);
  // A wobble of w moves the edge by about w x |smooth| radii; the smooth field stays within three deviations.
  const float reach = 1.05f + 3 * leaf.wobble;
  const float reach_x =
      reach * (std::fabs(leaf.axis_x) * leaf.radius_u + std::fabs(leaf.axis_y) * leaf.radius_v) + leaf.softness_px;
  const float reach_y =
      reach * (std::fabs(leaf.axis_y) * leaf.radius_u + std::fabs(leaf.axis_x) * leaf.radius_v) + leaf.softness_px;
  const int left = std::max(0, static_cast<int>(leaf.center_x - reach_x));
  const int right = std::min(canvas.width(), static_cast<int>(leaf.center_x + reach_x) + 1);
  const int top = std::max(0, static_cast<int>(leaf.center_y - reach_y));
  const int bottom = std::min(canvas.height(), static_cast<int>(leaf.center_y + reach_y) + 1);
  if (left >= right) return;

  const Span span{left, right - left};
  std::vector<float> rows(3 * static_cast<std::size_t>(span.count));
  float *cover = rows.data(), *shade = cover + span.count, *texture = shade + span.count;
  for (int y = top; y < bottom; ++y) {
    const float dx = static_cast<float>(left) - leaf.center_x, dy = static_cast<float>(y) - leaf.center_y;
    const float u0 = dx * brush.ux + dy * brush.uy, v0 = dx * brush.vx + dy * brush.vy;
    cover_row(brush, textures, span, u0, v0, y, cover);
    shade_row(brush, textures, span, u0, v0, y, shade, texture);
    blend_row(leaf, span.count, cover, shade, texture, canvas.luma.row(y) + left, canvas.blue.row(y) + left,
              canvas.red.row(y) + left);
  }
}

}  // namespace stoker
