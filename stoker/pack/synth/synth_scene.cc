#include "stoker/pack/synth/synth_scene.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace stoker {
namespace {

// Draws never share an expression: C++ does not say which of two would come first.
float draw(Random& random, double low, double high) { return static_cast<float>(random.uniform(low, high)); }

/// Bell-shaped around 0 with standard deviation 1, within +-3.
float draw_bell(Random& random) {
  double sum = 0;
  for (int i = 0; i < 3; ++i) sum += random.uniform(-1, 1);
  return static_cast<float>(sum);
}

struct Direction {
  float x, y;
};

/// A direction without sine and cosine, whose last bit differs between machines: a point of the disc, put on the
/// circle.
Direction draw_direction(Random& random) {
  for (;;) {
    const double x = random.uniform(-1, 1);
    const double y = random.uniform(-1, 1);
    const double squared = x * x + y * y;
    if (squared > 1 || squared < 1e-3) continue;
    const double scale = 1 / std::sqrt(squared);
    return {static_cast<float>(x * scale), static_cast<float>(y * scale)};
  }
}

/// What the leaves of one image have in common.
struct Look {
  std::array<SynthColor, 6> palette{};
  float size_px = 0;   // the longer side
  float detail = 1;    // strength of the textures
  float blur_px = 1;   // of the sharpest edges
  float contrast = 1;  // spread of luma
  float tint = 0;
};

/// Hue as a point on the circle by the rational parametrisation; t in [0, 4) goes round once.
Direction hue(double t) {
  const double s = t - 2 * std::floor(t / 2) - 1;  // half a circle per 2
  const double scale = t < 2 ? 1 : -1;
  return {static_cast<float>(scale * (1 - s * s) / (1 + s * s)), static_cast<float>(scale * 2 * s / (1 + s * s))};
}

Look draw_look(Random& random, int width, int height, std::int64_t label) {
  Look look;
  look.size_px = static_cast<float>(std::max(width, height));
  // Neighbouring classes lie far apart on the colour circle: steps of the golden section.
  const double class_turn = static_cast<double>(label) * 0.6180339887498949;
  const double class_hue = 4 * (class_turn - std::floor(class_turn));
  const float saturation = draw(random, 4, 40);
  for (SynthColor& color : look.palette) {
    double t = class_hue + static_cast<double>(draw_bell(random)) * 0.45;
    t -= 4 * std::floor(t / 4);
    const Direction d = hue(t);
    const float strength = saturation * draw(random, 0.2, 1.2);
    color = {128 + 48 * draw_bell(random), strength * d.x, strength * d.y};
    color.luma = std::min(230.0f, std::max(20.0f, color.luma));
  }
  look.detail = std::max(0.05f, 1.45f + 0.7f * draw_bell(random));
  look.blur_px = draw(random, 0.6, 1.6);
  look.contrast = draw(random, 0.6, 1.2);
  look.tint = draw(random, 0, 0.4);
  return look;
}

SynthTextures draw_textures(Random& random, const Look& look, int width, int height) {
  const int w = width + kTextureMargin_px, h = height + kTextureMargin_px;
  const int octaves = look.size_px > 300 ? 7 : 6;
  SynthTextures textures;
  textures.smooth = make_noise(random, w, h, {octaves, 0.5f, 2, 0, 0});
  textures.fine = make_noise(random, w, h, {5, draw(random, 0.6, 0.9), 0, 0, 0});
  const int stretch = 1 + static_cast<int>(random.below(3));
  const float slant = draw(random, -1.2, 1.2);
  const bool level = random.below(2) == 0;
  textures.streaks = make_noise(random, w, h, {4, 0.75f, 0, stretch, level ? 0 : slant});
  return textures;
}

SynthLeaf draw_leaf(Random& random, const Look& look, float x, float y, float radius) {
  SynthLeaf leaf;
  leaf.center_x = x;
  leaf.center_y = y;
  leaf.radius_u = radius;
  leaf.radius_v = radius * draw(random, 0.35, 1);
  const Direction axis = draw_direction(random);
  leaf.axis_x = axis.x;
  leaf.axis_y = axis.y;
  leaf.boxiness = random.below(3) == 0 ? draw(random, 0.7, 1) : draw(random, 0, 0.4);
  leaf.wobble = draw(random, 0, 0.25);
  leaf.softness_px = look.blur_px * draw(random, 0.8, 1.6);
  leaf.color = look.palette[static_cast<std::size_t>(random.below(look.palette.size()))];
  leaf.color.luma += 28 * look.contrast * draw_bell(random);
  leaf.light_u = 14 * look.contrast * draw_bell(random);
  leaf.light_v = 14 * look.contrast * draw_bell(random);
  leaf.bulge = draw(random, 0, 40) * look.contrast;
  leaf.uneven = draw(random, 0, 14) * look.contrast;
  const float fine = draw(random, 0, 1);
  const float streaks = draw(random, 0, 1);
  leaf.fine = 84 * look.detail * fine * fine * fine;
  leaf.streaks = 46 * look.detail * streaks * streaks * streaks;
  leaf.tint = look.tint * draw(random, -0.5, 1);
  leaf.shift_x = static_cast<int>(random.below(kTextureMargin_px));
  leaf.shift_y = static_cast<int>(random.below(kTextureMargin_px));
  return leaf;
}

/// Radii follow the inverse cube that photographs show: each octave of sizes covers the same area.
float draw_radius(Random& random, float smallest, float largest) {
  const float a = 1 / (smallest * smallest), b = 1 / (largest * largest);
  return 1 / std::sqrt(a + (b - a) * draw(random, 0, 1));
}

void paint_background(Random& random, const Look& look, const SynthTextures& textures, SynthCanvas& canvas) {
  const float width = static_cast<float>(canvas.width()), height = static_cast<float>(canvas.height());
  SynthLeaf sky = draw_leaf(random, look, width / 2, height / 2, 2 * look.size_px);
  sky.radius_v = sky.radius_u;
  sky.wobble = 0;
  sky.light_u *= 4;
  sky.light_v *= 4;
  sky.bulge = 0;
  sky.fine *= 0.3f;
  sky.streaks *= 0.3f;
  paint_leaf(sky, textures, canvas);

  if (random.below(3) == 0) return;
  const float horizon = draw(random, 0.3, 0.8) * height;
  SynthLeaf ground = draw_leaf(random, look, width / 2, horizon + 2 * look.size_px, 2 * look.size_px);
  ground.radius_v = ground.radius_u;
  ground.axis_x = 1;
  ground.axis_y = 0;
  ground.boxiness = 1;
  ground.wobble *= 0.04f;
  ground.light_u *= 4;
  ground.light_v *= 4;
  ground.bulge = 0;
  ground.softness_px *= 2;
  paint_leaf(ground, textures, canvas);
}

void paint_clutter(Random& random, const Look& look, const SynthTextures& textures, SynthCanvas& canvas) {
  const float width = static_cast<float>(canvas.width()), height = static_cast<float>(canvas.height());
  const int leaves = static_cast<int>(random.below(160));
  const float smallest = draw(random, 0.02, 0.05) * look.size_px, largest = 0.3f * look.size_px;
  const bool out_of_focus = random.below(3) == 0;
  const float top = random.below(2) == 0 ? 0 : draw(random, 0, 0.5) * height;
  for (int i = 0; i < leaves; ++i) {
    const float x = draw(random, -0.05, 1.05) * width;
    const float y = draw(random, 0, 1) * (height - top) + top;
    const float radius = draw_radius(random, smallest, largest);
    SynthLeaf leaf = draw_leaf(random, look, x, y, radius);
    if (out_of_focus) {
      leaf.softness_px *= 6;
      leaf.fine *= 0.2f;
      leaf.streaks *= 0.2f;
    }
    paint_leaf(leaf, textures, canvas);
  }
}

/// Two to four overlapping leaves of one colour in the middle, striped as the class wants it.
void paint_subject(Random& random, const Look& look, std::int64_t label, const SynthTextures& textures,
                   SynthCanvas& canvas) {
  const float width = static_cast<float>(canvas.width()), height = static_cast<float>(canvas.height());
  const float size = draw(random, 0.15, 0.35) * look.size_px;
  const SynthColor color = look.palette[0];
  const int parts = 2 + static_cast<int>(random.below(3));
  const float stripes = label % 3 == 0 ? draw(random, 8, 30) * look.contrast : 0;
  const float stripes_per_px = static_cast<float>(2 + label % 4) / size;
  for (int i = 0; i < parts; ++i) {
    const float x = width * 0.5f + size * draw(random, -0.8, 0.8);
    const float y = height * 0.5f + size * draw(random, -0.6, 0.6);
    SynthLeaf leaf = draw_leaf(random, look, x, y, i == 0 ? size : size * draw(random, 0.3, 0.7));
    const float shade = draw(random, -25, 25);
    leaf.color = {color.luma + shade, color.blue, color.red};
    leaf.boxiness = label % 2 == 0 ? 0.1f : 0.95f;
    leaf.wobble *= 0.7f;
    leaf.stripes = stripes;
    leaf.stripes_per_px = stripes_per_px;
    paint_leaf(leaf, textures, canvas);
  }
}

}  // namespace

SynthCanvas paint_scene(Random& random, int width, int height, std::int64_t label) {
  const Look look = draw_look(random, width, height, label);
  const SynthTextures textures = draw_textures(random, look, width, height);
  SynthCanvas canvas(width, height);
  paint_background(random, look, textures, canvas);
  paint_clutter(random, look, textures, canvas);
  paint_subject(random, look, label, textures, canvas);
  return canvas;
}

}  // namespace stoker
