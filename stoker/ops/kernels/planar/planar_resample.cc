#include "stoker/ops/kernels/planar/planar_resample.h"

#include <hwy/cache_control.h>

#include <algorithm>
#include <cassert>
#include <cstring>

#include "stoker/ops/kernels/planar/planar_writer.h"

namespace stoker {
namespace {

constexpr std::size_t kVector = 64;
constexpr std::uint8_t kNeutral = 128;

// Where the vertical pass begins: at the first column that is read, or a little before where memory is aligned.
int aligned_begin(const Plane& plane, int column, int row) {
  const auto before = static_cast<int>(reinterpret_cast<std::uintptr_t>(plane.at(column, row)) % kVector);
  return std::max(plane.x, column - before);
}

// Rows that lie a multiple of 4 KiB apart compete for the same lines of a cache.
std::size_t spread_stride(std::size_t bytes) {
  const std::size_t stride = (bytes + kVector - 1) / kVector * kVector;
  return stride % 4096 == 0 ? stride + kVector : stride;
}

}  // namespace

void PlanarResampler::start(const Planes& planes, const PlanarTaps& taps) {
  kernels_ = &planar_kernels();
  cubic_ = taps.cubic();
  planes_ = taps.x(0).outputs == 0 || taps.y(0).outputs == 0 ? 0 : planes.count;
  row_stride_ = 0;
  int origin[3] = {};
  for (int i = 0; i < planes_; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const Plane& plane = planes.plane[at];
    const Rect needed = taps.source(i);
    assert(plane.x <= needed.x && needed.x + needed.width <= plane.x + plane.width);
    assert(plane.y <= needed.y && needed.y + needed.height <= plane.y + plane.height);
    // Planes with the same weights along x start at the same column, if they can: they share a table.
    const auto twin = static_cast<std::size_t>(taps.x_twin(i));
    origin[i] = aligned_begin(plane, needed.x, needed.y);
    const bool shared = twin < at && planes.plane[at].x <= origin[twin];
    if (shared) origin[i] = origin[twin];
    Source& source = sources_[at];
    source.rows = {plane.at(origin[i], needed.y), plane.row_stride, needed.y};
    source.columns = static_cast<std::size_t>(needed.x + needed.width - origin[i]);
    const auto twin_y = static_cast<std::size_t>(taps.y_twin(i));
    source.row_table = twin_y < at ? sources_[twin_y].row_table : row_tables_[at].build(taps.y(i));
    source.column_table =
        shared ? sources_[twin].column_table : column_tables_[at].build(taps.x(i), origin[i], *kernels_);
    // The horizontal pass reads a window from each output's first sample on, and moves it on by 4 bytes a step.
    const std::size_t row = (source.columns + kVector) * (cubic_ ? 2 : 1);
    row_stride_ = std::max(row_stride_, row + kVector + 4 * static_cast<std::size_t>(source.column_table.steps));
  }
  row_stride_ = spread_stride(row_stride_);
  rows_.bytes(row_stride_ * kPlanarBlockRows * 3);
}

PlanarResampler::Block PlanarResampler::vertical_pass(int plane, int begin, int end) {
  const Source& source = sources_[static_cast<std::size_t>(plane)];
  const std::size_t of_plane = static_cast<std::size_t>(plane) * kPlanarBlockRows * row_stride_;
  const Block block{rows_.bytes(0) + of_plane, row_stride_};
  const auto pass = cubic_ ? kernels_->rows16 : kernels_->rows8;
  pass(source.row_table, source.rows, source.columns, begin, end, block.rows, block.stride);
  return block;
}

void PlanarResampler::horizontal_pass(int plane, const Block& block, int row, std::uint8_t* out) const {
  const auto pass = cubic_ ? kernels_->columns16 : kernels_->columns8;
  pass(sources_[static_cast<std::size_t>(plane)].column_table,
       block.rows + static_cast<std::size_t>(row) * block.stride, out);
}

bool PlanarResampler::chroma_shares_a_table() const {
  return planes_ == 3 && sources_[1].column_table.weights == sources_[2].column_table.weights;
}

void PlanarResampler::resample(const Planes& planes, const PlanarTaps& taps, MutableImageView out) {
  assert(out.width == taps.width() && out.height == taps.height() && out.column_stride == 1);
  assert(out.channels == 3 || out.channels == taps.channels());
  start(planes, taps);
  const auto set = [&](int channel, int row, int from, int to, std::uint8_t value) {
    if (from < to) std::memset(out.at(from, row, channel), value, static_cast<std::size_t>(to - from));
  };
  const int width = out.width, x_begin = taps.x(0).begin, x_end = x_begin + taps.x(0).outputs;
  const int y_begin = planes_ == 0 ? 0 : taps.y(0).begin, y_end = planes_ == 0 ? 0 : y_begin + taps.y(0).outputs;
  for (int c = 0; c < out.channels; ++c) {
    const std::uint8_t fill = taps.fill()[static_cast<std::size_t>(c)];
    for (int row = 0; row < y_begin; ++row) set(c, row, 0, width, fill);
    for (int row = y_begin; row < y_end; row += kPlanarBlockRows) {
      const int end = std::min(row + kPlanarBlockRows, y_end);
      const Block block = c < planes_ ? vertical_pass(c, row - y_begin, end - y_begin) : Block{};
      for (int r = row; r < end; ++r) {
        set(c, r, 0, x_begin, fill);
        set(c, r, x_end, width, fill);
        if (c < planes_) {
          horizontal_pass(c, block, r - row, out.at(x_begin, r, c));
        } else {
          set(c, r, x_begin, x_end, kNeutral);
        }
      }
    }
    for (int row = y_end; row < out.height; ++row) set(c, row, 0, width, fill);
  }
}

void PlanarResampler::resample_converted(const Planes& planes, const PlanarTaps& taps, const ColorMap& color,
                                         TensorFormat format, std::uint8_t* out) {
  PlanarWriter writer(color, format, taps.width(), taps.height(), out, &apart_);
  start(planes, taps);
  const int width = taps.width(), height = taps.height();
  const int columns = planes_ == 0 ? 0 : taps.x(0).outputs, rows = planes_ == 0 ? 0 : taps.y(0).outputs;
  const int x_begin = taps.x(0).begin, y_begin = planes_ == 0 ? 0 : taps.y(0).begin, y_end = y_begin + rows;

  const auto line = static_cast<std::size_t>(width);
  const std::uint8_t* padding[3] = {};
  if (columns < width || rows < height) {
    std::uint8_t* values = padding_.bytes(3 * line);
    for (std::size_t i = 0; i < 3; ++i) padding[i] = values + i * line;
    for (std::size_t i = 0; i < 3; ++i) std::memset(values + i * line, taps.fill()[i], line);
  }
  const auto pad = [&](int row, int from, int to) {
    if (from < to) writer.write(padding, from, row, to - from);
  };
  std::uint8_t* values = line_.bytes(3 * line);
  const std::uint8_t* finished[3] = {values, nullptr, nullptr};
  for (int i = 1; i < planes_; ++i) finished[i] = values + static_cast<std::size_t>(i) * line;
  const bool fused = !cubic_ && chroma_shares_a_table() && kernels_->finish != nullptr && writer.takes_slots();
  PlanarFinish job = fused ? writer.finish_job() : PlanarFinish{};
  job.row_stride = row_stride_;
  job.table_y = sources_[0].column_table;
  job.table_chroma = sources_[1].column_table;

  for (int row = 0; row < y_begin; ++row) pad(row, 0, width);
  for (int row = y_begin; row < y_end; row += kPlanarBlockRows) {
    const int end = std::min(row + kPlanarBlockRows, y_end);
    Block blocks[3] = {};
    for (int i = 0; i < planes_; ++i) {
      blocks[i] = vertical_pass(i, row - y_begin, end - y_begin);
      job.rows[i] = blocks[i].rows;
    }
    job.row_count = end - row;
    if (fused) writer.finish(job, x_begin, row);
    for (int r = row; r < end; ++r) {
      pad(r, 0, x_begin);
      pad(r, x_begin + columns, width);
      if (fused) continue;
      for (int i = 0; i < planes_; ++i)
        horizontal_pass(i, blocks[i], r - row, values + static_cast<std::size_t>(i) * line);
      writer.write(finished, x_begin, r, columns);
    }
  }
  for (int row = y_end; row < height; ++row) pad(row, 0, width);
  hwy::FlushStream();
}

void convert_planes(ImageView planes, const ColorMap& color, TensorFormat format, std::uint8_t* out) {
  assert(planes.channels == 1 || planes.channels == 3);
  PlanarWriter writer(color, format, planes.width, planes.height, out);
  constexpr int kChunk = 256;
  std::uint8_t gathered[3][kChunk];
  for (int y = 0; y < planes.height; ++y) {
    const std::uint8_t* from[3] = {};
    if (planes.column_stride == 1) {
      for (int i = 0; i < planes.channels; ++i) from[i] = planes.at(0, y, i);
      writer.write(from, 0, y, planes.width);
      continue;
    }
    for (int x = 0; x < planes.width; x += kChunk) {
      const int count = std::min(kChunk, planes.width - x);
      for (int i = 0; i < planes.channels; ++i) {
        const std::uint8_t* sample = planes.at(x, y, i);
        for (int k = 0; k < count; ++k, sample += planes.column_stride) gathered[i][k] = *sample;
        from[i] = gathered[i];
      }
      writer.write(from, x, y, count);
    }
  }
}

}  // namespace stoker
