// Photographs are, to a good approximation, things of all sizes in front of each other ("dead leaves"); synthetic
// images are painted from such leaves: shaded, textured shapes with soft and irregular edges.
#pragma once

#include "stoker/pack/synth/synth_field.h"

namespace stoker {

/// Luma in 0..255, chroma as its distance from grey.
struct SynthCanvas {
  SynthField luma, blue, red;

  SynthCanvas(int width, int height) : luma(width, height), blue(width, height), red(width, height) {}
  int width() const { return luma.width; }
  int height() const { return luma.height; }
};

/// Noise that the leaves of an image share; each at least kTextureMargin_px wider and higher than the canvas.
inline constexpr int kTextureMargin_px = 64;
struct SynthTextures {
  SynthField smooth;   // wobbling edges, uneven light and colour
  SynthField fine;     // fur, sand, foliage
  SynthField streaks;  // bark, grass, hair
};

struct SynthColor {
  float luma = 0, blue = 0, red = 0;
};

struct SynthLeaf {
  float center_x = 0, center_y = 0;  // pixels
  float radius_u = 1, radius_v = 1;  // pixels, along the leaf's own axes
  float axis_x = 1, axis_y = 0;      // unit vector along u
  float boxiness = 0;                // 0: ellipse, 1: nearly a rectangle
  float wobble = 0;                  // irregularity of the edge, as a share of the radius
  float softness_px = 1;             // width of the edge
  SynthColor color;
  float light_u = 0, light_v = 0;         // change of luma from the centre to the edge
  float bulge = 0;                        // how much lighter the centre is than the edge
  float uneven = 0;                       // strength of the smooth field in luma
  float fine = 0, streaks = 0;            // strength of the two textures in luma
  float stripes = 0, stripes_per_px = 0;  // strength and frequency of stripes along v
  float tint = 0;                         // chroma that follows the texture, as a share of it
  int shift_x = 0, shift_y = 0;           // where in the textures; below kTextureMargin_px
};

void paint_leaf(const SynthLeaf& leaf, const SynthTextures& textures, SynthCanvas& canvas);

}  // namespace stoker
