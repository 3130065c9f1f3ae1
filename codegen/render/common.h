// Shared by both dialects: names of values and parameters, the parameter struct, offset expressions, the entry's name.
//
// Text is a pure function of KernelIr and Target. It is written with the placeholder kEntryName for the entry symbol;
// finish_kernel hashes the text and puts the real name in. The parameter struct is `struct <entry>_params`. Text that
// no kernel owns is written with kSharedName in the same way, so that what is equal in kernels of a unit stands there
// once.
#pragma once

#include <functional>
#include <initializer_list>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/ir/kernel_ir.h"
#include "codegen/prelude/text.h"
#include "codegen/render/types.h"

namespace tarry::codegen {

inline constexpr std::string_view kEntryName = "TARRY_ENTRY";
inline constexpr std::string_view kSharedName = "TARRY_SHARED";

/// Every `what` in `text` becomes `by`.
void replace_all(std::string& text, std::string_view what, std::string_view by);

/// Indented lines of code.
class CodeWriter {
 public:
  void line(std::string_view text);
  void open(std::string_view head);        ///< "head {" and one level deeper
  void close(std::string_view tail = "");  ///< one level up and "}tail"
  void label(std::string_view text);       ///< at the margin: preprocessor lines
  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] std::string take() { return std::move(text_); }
  /// The text that `write` writes, from the margin on, instead of into the text.
  [[nodiscard]] std::string aside(const std::function<void()>& write);

 private:
  std::string text_;
  int depth_ = 0;
};

std::string value_name(Value v);  ///< "v12"
/// Member of the parameter struct: a0 (Pointer), o0 (IotaOffset), s0 (Scalar), h0 (Reciprocal), e1 (Extent), m1
/// (Magic), n1 (Tiles), w1 (TileMagic), t0_1 (Stride), r0 (ReducedStride), count, n, chunks, chunk_blocks, scratch,
/// tickets.
std::string slot_name(const Slot& slot);

struct Parameters {
  std::vector<Slot> slots;
  std::string fields;  ///< members of the struct, one per line, each slot exactly 8 bytes
};
/// Pointers and iota offsets, scalars, and the strides of class Any are always there; `more` names the other kinds
/// wanted. Extent, Magic, Tiles and TileMagic stand for dimensions 1 to rank - 1: the first one needs no division.
/// Where there are tiles Extent stands for rows and columns. Reciprocal stands for every scalar that is a divisor.
Parameters make_parameters(const KernelIr& ir, std::initializer_list<SlotKind> more);
/// "struct TARRY_ENTRY_params {...};"
std::string parameter_struct(const Parameters& parameters);

/// sum_d index_d * stride_d of an access as text; `indices` has one text per outer dimension ("0" is left out), `p` is
/// how a parameter is reached ("p->", "p."). "0" where nothing is left. Strides are 64-bit, so the products are.
std::string outer_offset(const KernelIr& ir, std::uint32_t access, std::span<const std::string> indices,
                         std::string_view p);
/// k * reduced_stride as text: "0", k or "k * p->r0".
std::string reduced_offset(const KernelIr& ir, std::uint32_t access, std::string_view k, std::string_view p);
/// A Number at level k.
std::string number(const KernelIr& ir, const Instr& in, std::string_view k, std::string_view p);
/// The part that the step u0, u1, ... of its loop adds to the offset of an access: "0", u1 or "u1 * p->l7".
std::string loop_offset(const KernelIr& ir, std::uint32_t access, std::string_view p);
/// The parts of an Index that both dialects share: statements of a function of `i` and `n` that return the place where
/// there is one; the head of a loop in which `word` takes the place of words[k] where it is less; where the words of a
/// check are.
std::string_view index_body();
std::string fault_words();
std::string check_words(const KernelIr& ir, const Instr& index, std::string_view p);

/// "a + b" without zeros.
std::string sum_text(std::string_view a, std::string_view b);

/// Expressions of Compute instructions and combine steps; remembers which prelude functions they call.
class Expressions {
 public:
  explicit Expressions(const KernelIr& ir) : ir_(ir) {}
  /// The instruction `v` on operand texts (one per argument). Divisors that are parameters of a GPU's kernel have a
  /// Reciprocal beside them.
  std::string compute(Value v, std::span<const std::string> operands);
  /// Sum, Prod, Min or Max of two accumulator texts, left operand first; of ArgMin and ArgMax the value.
  std::string combine(const Reduction& r, const std::string& left, const std::string& right) {
    return combine(r.op, r.dtype, left, right);
  }
  std::string combine(Op reduction, Dtype dtype, const std::string& left, const std::string& right);
  std::string apply(graph::Op op, Dtype input, Dtype output, std::span<const std::string> operands);
  /// The Combine instructions as constants with the names of values. `earlier` and `later` format a reduction's number
  /// as the state of a neighbour; `p` is how a parameter is reached.
  std::vector<std::string> combination(std::string_view earlier, std::string_view later, std::string_view p);
  /// A call of a prelude function that is no op's.
  std::string call(const std::string& function, const std::string& arguments);
  [[nodiscard]] std::vector<std::string> functions() const { return {functions_.begin(), functions_.end()}; }

 private:
  const KernelIr& ir_;
  std::set<std::string> functions_;
};

/// Where a fold starts: what leaves the first value as it is, -0 for a sum of floats. Min and max have no such value.
std::string fold_start(const Fold& fold);
/// The fold after a step: of `value`, what it was, and `taken`.
std::string fold_step(Expressions& expressions, const Fold& fold, const std::string& step, const std::string& value,
                      const std::string& taken);

/// e of a scan such that e combined with x is x, bit for bit.
std::string neutral_literal(const Reduction& r);
/// The constant `value` rounded to `dtype` (float32, float64) as a hexadecimal literal: exact, free of locale.
std::string float_literal(Dtype dtype, double value);

/// Readable head of the entry's name, operations, dtype and schedule: "max_subtract_exp_sum_divide_f32_rows". At most
/// 51 characters, plain operations left out first.
std::string readable_name(const KernelIr& ir);
/// `text` with kSharedName replaced by "tarry_", `name`, "_" and 8 hex digits of the text's hash, and that name.
SharedText shared_text(std::string_view name, std::string text);
/// Adds a text to those of a kernel or unit unless it is there. Where another has its name, the text gets a new one:
/// true then.
bool add_shared(std::vector<SharedText>& all, SharedText& text);
/// Assembles the source: prelude sections of `functions`, `shared` texts, `kernel` with kEntryName replaced by readable
/// name,
/// "_" and 8 hex digits of the text's hash.
KernelSource finish_kernel(const KernelIr& ir, Dialect dialect, std::string kernel, const Parameters& parameters,
                           std::span<const std::string> functions, std::vector<SharedText> shared = {});

/// Magic slot: q = (umulhi(multiplier, x) + x) >> shift is x / extent for 0 <= x < 2^31 (Granlund, Montgomery, PLDI
/// 1994); multiplier in the low 32 bits, shift above.
std::uint64_t division_magic(std::int64_t extent);

}  // namespace tarry::codegen
