// The meaning of jpeg_degrade: what a picture becomes when libjpeg codes it (4:2:0, the accurate integer transform) and
// decodes it again, bit for bit. Coding the coefficients loses nothing, so it is left out.
//
// A step makes the decoded samples in the work, Y of the picture's size, then Cb and Cr of half of that; the next step
// makes pixels of them.
#pragma once

#include "stoker/ops/picture/picture_pass.h"

namespace stoker {

/// The 8 x 8 transform of libjpeg's jfdctint.c and jidctint.c. Their butterflies are exact in integers, so that only
/// the matrix and the places where sums are rounded matter.
struct JpegTransform {
  static constexpr int kSide = 8;

  /// In units of 2^-13; the other half of each row is its mirror image, with the sign changed in odd rows.
  STOKER_HOST_DEVICE static int matrix(int frequency, int place) {
    constexpr int kMatrix[kSide][kSide / 2] = {{8192, 8192, 8192, 8192},     {11363, 9633, 6437, 2260},
                                               {10703, 4433, -4433, -10703}, {9633, -2259, -11362, -6436},
                                               {8192, -8192, -8192, 8192},   {6437, -11362, 2261, 9633},
                                               {4433, -10704, 10704, -4433}, {2260, -6436, 9633, -11363}};
    return kMatrix[frequency][place];
  }
  STOKER_HOST_DEVICE static int rounded_shift(int sum, int bits) { return (sum + (1 << (bits - 1))) >> bits; }

  /// Transforms each column.
  STOKER_HOST_DEVICE static void forward(int (&block)[kSide][kSide], int shift) {
    int even[kSide / 2][kSide], odd[kSide / 2][kSide];
    for (int n = 0; n < kSide / 2; ++n) {
      for (int i = 0; i < kSide; ++i) {
        even[n][i] = block[n][i] + block[kSide - 1 - n][i];
        odd[n][i] = block[n][i] - block[kSide - 1 - n][i];
      }
    }
    for (int k = 0; k < kSide; ++k) {
      const auto& half = k % 2 == 0 ? even : odd;
      for (int i = 0; i < kSide; ++i) {
        const int sum = matrix(k, 0) * half[0][i] + matrix(k, 1) * half[1][i] + matrix(k, 2) * half[2][i] +
                        matrix(k, 3) * half[3][i];
        block[k][i] = rounded_shift(sum, shift);
      }
    }
  }

  /// The inverse, of each column.
  STOKER_HOST_DEVICE static void inverse(int (&block)[kSide][kSide], int shift) {
    int result[kSide][kSide];
    for (int n = 0; n < kSide / 2; ++n) {
      for (int i = 0; i < kSide; ++i) {
        const int even = matrix(0, n) * block[0][i] + matrix(2, n) * block[2][i] + matrix(4, n) * block[4][i] +
                         matrix(6, n) * block[6][i];
        const int odd = matrix(1, n) * block[1][i] + matrix(3, n) * block[3][i] + matrix(5, n) * block[5][i] +
                        matrix(7, n) * block[7][i];
        result[n][i] = rounded_shift(even + odd, shift);
        result[kSide - 1 - n][i] = rounded_shift(even - odd, shift);
      }
    }
    for (int n = 0; n < kSide; ++n) {
      for (int i = 0; i < kSide; ++i) block[n][i] = result[n][i];
    }
  }

  STOKER_HOST_DEVICE static void transpose(int (&block)[kSide][kSide]) {
    for (int n = 0; n < kSide; ++n) {
      for (int i = 0; i < n; ++i) {
        const int value = block[n][i];
        block[n][i] = block[i][n];
        block[i][n] = value;
      }
    }
  }
};

/// The divisors of luma and of chroma: the tables of the standard's annex K, scaled by the quality as libjpeg does.
struct JpegDivisors {
  int of[2][JpegTransform::kSide][JpegTransform::kSide];

  STOKER_HOST_DEVICE explicit JpegDivisors(int quality) {
    constexpr std::uint8_t kLuma[64] = {16, 11, 10, 16, 24,  40,  51,  61,  12, 12, 14, 19, 26,  58,  60,  55,  //
                                        14, 13, 16, 24, 40,  57,  69,  56,  14, 17, 22, 29, 51,  87,  80,  62,  //
                                        18, 22, 37, 56, 68,  109, 103, 77,  24, 35, 55, 64, 81,  104, 113, 92,  //
                                        49, 64, 78, 87, 103, 121, 120, 101, 72, 92, 95, 98, 112, 100, 103, 99};
    constexpr std::uint8_t kChroma[16] = {17, 18, 24, 47, 18, 21, 26, 66, 24, 26, 56, 99, 47, 66, 99, 99};
    const int percent = quality < 50 ? 5000 / quality : 200 - 2 * quality;
    for (int row = 0; row < JpegTransform::kSide; ++row) {
      for (int column = 0; column < JpegTransform::kSide; ++column) {
        of[0][row][column] = scaled(kLuma[8 * row + column], percent);
        of[1][row][column] = scaled(row < 4 && column < 4 ? kChroma[4 * row + column] : 99, percent);
      }
    }
  }

  /// What a coefficient, 8 times too large, is decoded as.
  STOKER_HOST_DEVICE static int quantized(int coefficient, int divisor) {
    const int magnitude = coefficient < 0 ? -coefficient : coefficient;
    // The integer part of the float's quotient is that of the true one: both numbers have at most 16 bits.
    const auto count = static_cast<int>(static_cast<float>(magnitude + 4 * divisor) / static_cast<float>(8 * divisor));
    return (coefficient < 0 ? -count : count) * divisor;
  }

 private:
  STOKER_HOST_DEVICE static int scaled(int divisor, int percent) {
    const int value = (divisor * percent + 50) / 100;
    return value < 1 ? 1 : value > 255 ? 255 : value;
  }
};

/// The planes of the work.
struct JpegPlanes {
  std::uint8_t* plane[3];
  int width[3], height[3];

  STOKER_HOST_DEVICE static JpegPlanes of(const PicturePass& pass) {
    const int width = (pass.width + 1) / 2, height = (pass.height + 1) / 2;
    std::uint8_t* const cb = pass.work + pass.pixels();
    return {{pass.work, cb, cb + std::ptrdiff_t{width} * height},
            {pass.width, width, width},
            {pass.height, height, height}};
  }
  STOKER_HOST_DEVICE std::uint8_t& at(int c, int x, int y) const { return plane[c][std::ptrdiff_t{y} * width[c] + x]; }
};

/// 8 x 8 samples: coded, decoded, and put in their place. `sample(x, y)` gives them from 0 to 255, by their place in
/// the plane, which the block may exceed on the right and at the bottom.
template <class Sample>
STOKER_HOST_DEVICE void jpeg_block(const JpegPlanes& planes, int c, int x, int y, const JpegDivisors& divisors,
                                   const Sample& sample) {
  constexpr int kBlock = JpegTransform::kSide;
  int block[kBlock][kBlock];  // transposed: libjpeg transforms the rows first
  for (int i = 0; i < kBlock; ++i) {
    for (int j = 0; j < kBlock; ++j) block[i][j] = sample(x + i, y + j) - 128;
  }
  JpegTransform::forward(block, 11);
  JpegTransform::transpose(block);
  JpegTransform::forward(block, 15);
  for (int row = 0; row < kBlock; ++row) {
    for (int column = 0; column < kBlock; ++column) {
      block[row][column] = JpegDivisors::quantized(block[row][column], divisors.of[c > 0 ? 1 : 0][row][column]);
    }
  }
  JpegTransform::inverse(block, 11);
  JpegTransform::transpose(block);
  JpegTransform::inverse(block, 18);
  for (int i = 0; i < kBlock && x + i < planes.width[c]; ++i) {
    for (int j = 0; j < kBlock && y + j < planes.height[c]; ++j) {
      const int value = block[i][j] + 128;
      planes.at(c, x + i, y + j) = static_cast<std::uint8_t>(value < 0 ? 0 : value > 255 ? 255 : value);
    }
  }
}

/// A pixel's Y, Cb or Cr, in libjpeg's 16-bit fixed point.
STOKER_HOST_DEVICE inline int jpeg_ycc(const PicturePass& pass, int x, int y, int c) {
  x = x < pass.width ? x : pass.width - 1;
  y = y < pass.height ? y : pass.height - 1;
  const int r = pass.at(x, y, 0), g = pass.at(x, y, 1), b = pass.at(x, y, 2);
  if (c == 0) return (19595 * r + 38470 * g + 7471 * b + 32768) >> 16;
  constexpr int kCenter = (128 << 16) + 32767;
  return (c == 1 ? -11059 * r - 21709 * g + 32768 * b + kCenter : 32768 * r - 27439 * g - 5329 * b + kCenter) >> 16;
}

STOKER_HOST_DEVICE inline void jpeg_code_luma(const PicturePass& pass, int x, int y, const JpegDivisors& divisors) {
  const auto sample = [&](int column, int row) { return jpeg_ycc(pass, column, row, 0); };
  jpeg_block(JpegPlanes::of(pass), 0, x, y, divisors, sample);
}

/// x and y count samples of these planes.
STOKER_HOST_DEVICE inline void jpeg_code_chroma(const PicturePass& pass, int c, int x, int y,
                                                const JpegDivisors& divisors) {
  const JpegPlanes planes = JpegPlanes::of(pass);
  const auto sample = [&](int column, int row) {
    // Below the picture libjpeg repeats the last row of means, on its right the last column of pixels.
    const int top = 2 * (row < planes.height[c] ? row : planes.height[c] - 1);
    const int sum = jpeg_ycc(pass, 2 * column, top, c) + jpeg_ycc(pass, 2 * column + 1, top, c) +
                    jpeg_ycc(pass, 2 * column, top + 1, c) + jpeg_ycc(pass, 2 * column + 1, top + 1, c);
    return (sum + 1 + column % 2) >> 2;
  };
  jpeg_block(planes, c, x, y, divisors, sample);
}

/// 16 x 16 pixels. n[0]: the quality.
STOKER_HOST_DEVICE inline void jpeg_code_unit(const PicturePass& pass, int x, int y) {
  const JpegDivisors divisors(pass.steps->n[0]);
  for (int j = y; j < y + 16 && j < pass.height; j += 8) {
    for (int i = x; i < x + 16 && i < pass.width; i += 8) jpeg_code_luma(pass, i, j, divisors);
  }
  for (int c = 1; c < 3; ++c) jpeg_code_chroma(pass, c, x / 2, y / 2, divisors);
}

/// Cb or Cr at a pixel: from the four nearest samples, as libjpeg weighs them; from one in a picture too narrow for
/// that.
STOKER_HOST_DEVICE inline int jpeg_chroma(const JpegPlanes& planes, int c, int x, int y) {
  const int width = planes.width[c], column = x / 2, row = y / 2;
  if (width <= 2) return planes.at(c, column, row);
  const int next_row = y % 2 == 0 ? (row > 0 ? row - 1 : 0) : (row < planes.height[c] - 1 ? row + 1 : row);
  const auto down = [&](int i) { return 3 * planes.at(c, i, row) + planes.at(c, i, next_row); };
  const int neighbour = x % 2 == 0 ? column - 1 : column + 1;
  const int near = down(column), other = neighbour < 0 || neighbour >= width ? near : down(neighbour);
  return (3 * near + other + 8 - x % 2) >> 4;
}

STOKER_HOST_DEVICE inline void jpeg_color_pixel(const PicturePass& pass, int x, int y) {
  const JpegPlanes planes = JpegPlanes::of(pass);
  const int luma = planes.at(0, x, y);
  const int cb = jpeg_chroma(planes, 1, x, y) - 128, cr = jpeg_chroma(planes, 2, x, y) - 128;
  const int rgb[3] = {luma + ((91881 * cr + 32768) >> 16), luma + ((-22554 * cb - 46802 * cr + 32768) >> 16),
                      luma + ((116130 * cb + 32768) >> 16)};
  for (int c = 0; c < 3; ++c) {
    pass.put(x, y, c, static_cast<std::uint8_t>(rgb[c] < 0 ? 0 : rgb[c] > 255 ? 255 : rgb[c]));
  }
}

}  // namespace stoker
