// Transposes by their accesses and their layout: threads, registers, edges of tiles.
#include "codegen/ir/transpose.h"

#include <algorithm>
#include <bit>

#include "codegen/ir/verify.h"

namespace tarry::codegen {

bool is_transposed(const KernelIr& ir, std::uint32_t access) {
  const auto* layout = std::get_if<TransposeLayout>(&ir.layout);
  if (!layout) return false;
  const Access& a = ir.accesses[access];
  const int across = layout->across;
  return a.interleaved_along >= 0 ? !a.store && a.interleaved_along == across : is_transposed(a, across);
}

bool stores_interleaved(const KernelIr& ir) {
  return std::ranges::any_of(ir.accesses, [](const Access& a) { return a.store && a.interleaved_along >= 0; });
}

int row_channels(const KernelIr& ir) { return stores_interleaved(ir) ? ir.as<TransposeLayout>().channels : 1; }

std::uint32_t narrowest_store(const KernelIr& ir) {
  std::uint32_t found = kNone;
  for (std::uint32_t a = 0; a < ir.accesses.size(); ++a)
    if (ir.accesses[a].store && (found == kNone || itemsize(ir.buffers[ir.accesses[a].buffer]) <
                                                       itemsize(ir.buffers[ir.accesses[found].buffer])))
      found = a;
  return found;
}

int columns_before(const KernelIr& ir) {
  const int channels = row_channels(ir);
  return (ir.as<TransposeLayout>().sector + channels - 1) / channels;
}

int transpose_threads(const KernelIr& ir) {
  constexpr int kMany = 4096;
  const auto& layout = ir.as<TransposeLayout>();
  std::size_t narrowest = 4;
  for (std::uint32_t a = 0; a < ir.accesses.size(); ++a)
    if (is_transposed(ir, a)) narrowest = std::min(narrowest, itemsize(ir.buffers[ir.accesses[a].buffer]));
  const bool interleaves = stores_interleaved(ir);
  const bool one_by_one = layout.channel_dimension < 0 || (layout.vector == 1 && narrowest >= 4 && !interleaves);
  const bool begin_anywhere =
      layout.sector > 0 && interleaves && layout.channels == 3 && narrowest == 1;  // many columns before a tile's
  return (one_by_one || begin_anywhere) && layout.rows * layout.columns * layout.channels >= kMany ? 512 : 256;
}

int transpose_rows_less(const KernelIr& ir) {
  int less = 0;
  for (std::uint32_t a = 0; a < ir.accesses.size(); ++a) {
    const Access& access = ir.accesses[a];
    const int word = access.buffer != kNone && !access.store && is_transposed(ir, a) && !access.aligned
                         ? 4 / static_cast<int>(itemsize(ir.buffers[access.buffer]))
                         : 0;
    const int values = access.interleaved_along >= 0 ? ir.as<TransposeLayout>().channels : 1;
    if (word > 1) less = std::max(less, (word + values - 1) / values);
  }
  return less;
}

int transpose_registers(const KernelIr& ir) {
  const auto& layout = ir.as<TransposeLayout>();
  const int elements = layout.rows * layout.columns * layout.channels / transpose_threads(ir);
  int sum = 0;
  for (std::uint32_t i = 0; i < ir.accesses.size(); ++i) {
    const Access& a = ir.accesses[i];
    if (a.buffer != kNone && !a.store)
      sum += elements *
             std::max(static_cast<int>(itemsize(ir.buffers[a.buffer])), a.aligned || is_transposed(ir, i) ? 1 : 4) / 4;
  }
  return sum;
}

int TransposeLayout::tile(const KernelIr& ir, int dimension) const {
  if (dimension == ir.rank - 1) return columns;
  if (dimension >= 0 && dimension == channel_dimension) return channels;
  return dimension >= 0 && dimension == across ? rows : 1;
}

std::int64_t TransposeLayout::tiles(const KernelIr& ir, int dimension, std::int64_t extent) const {
  if (sector > 0 && dimension == ir.rank - 1) extent += columns_before(ir);
  return (extent + tile(ir, dimension) - 1) / tile(ir, dimension);
}

namespace {

void verify_edges(const KernelIr& ir) {
  const auto& layout = ir.as<TransposeLayout>();
  const auto whole = [](int rows) { return rows % 8 == 0; };
  const bool rows = layout.across < 0
                        ? layout.rows == 1
                        : layout.rows > 0 && (whole(layout.rows) || whole(layout.rows + transpose_rows_less(ir)));
  if (!rows || layout.columns % 8 != 0 || layout.vector > 4) broken(ir, "edges of a tile");
  if (layout.sector == 0) return;
  if (layout.sector < layout.vector || !std::has_single_bit(static_cast<unsigned>(layout.sector)) ||
      columns_before(ir) > layout.columns || layout.columns * row_channels(ir) % layout.sector != 0)
    broken(ir, "elements of a sector");
}

void verify_channels(const KernelIr& ir) {
  const auto& layout = ir.as<TransposeLayout>();
  const int channel = layout.channel_dimension, columns = ir.rank - 1;
  if ((channel >= 0) != (layout.channels > 1) || channel >= columns || (channel >= 0 && channel == layout.across) ||
      layout.channels > kMostChannels)
    broken(ir, "there are few channels");
  for (const Access& a : ir.accesses) {
    const int along = a.interleaved_along;
    if (along >= 0 && (channel < 0 || (along != layout.across && along != columns)))
      broken(ir, "interleaved channels lie along rows or along columns");
    if (a.store && a.strides.back() != StrideClass::One && along != columns)
      broken(ir, "stores go along the last dimension");
  }
}

}  // namespace

void verify_transpose(const KernelIr& ir) {
  const auto& layout = ir.as<TransposeLayout>();
  if ((layout.across < 0 && layout.channel_dimension < 0) || layout.across + 1 >= ir.rank)
    broken(ir, "a transpose is across a dimension before the last one");
  verify_edges(ir);
  verify_channels(ir);
  verify_row_column_guards(ir);
}

}  // namespace tarry::codegen
