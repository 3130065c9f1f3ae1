// Shared by the C kernels that reduce one axis: the walk over work items, (tile of outer elements, chunk of the reduced
// axis). It knows what is reduced, but not of what, so that the kernels of a unit share its text: it calls a kernel's
// own functions of points, and of a tile whose reductions are done.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "codegen/c/states.h"

namespace tarry::codegen {

Parameters walk_parameters(const KernelIr& ir);
/// The last members of a walk's struct, and NAME_place(walk, tile, at): the outer indices of the first element of a
/// tile of at most `tile` elements of the last dimension; returns how many it has.
void walk_extents(CWriter& w);
void walk_place(CWriter& w, int tile);
/// In an entry: hands a walk with those members, `first` being those between parameters and them, to its `function`.
void walk_entry(CWriter& w, int tile, const std::string& name, const std::string& first, std::string_view function);

/// p, its members and outer indices as locals, of a kernel's own function.
template <class Writer>
void own_parameters(Writer& w) {
  w.line(fmt::format("const struct {}_params* const p = parameters;", kEntryName));
  w.locals();
  const std::vector<std::string> names = outer_indices(w.ir, "j0");
  for (std::size_t d = 0; d < names.size(); ++d) w.line(fmt::format("const tarry_i64 {} = at[{}];", names[d], d));
}

/// Names in the text of the walk: `walk` the kernel's functions and numbers, `at` and m the tile, n elements of the
/// reduced axis, of which blocks `first` to `last` - 1 are the item's, `inputs` for addresses, `stack` of states.
class Walk {
 public:
  explicit Walk(StateWriter& w) : w_(w) {}

  /// First parameters of a kernel's own functions.
  static constexpr std::string_view kPlace = "const void* parameters, const tarry_i64* at, tarry_i64 m";
  [[nodiscard]] int inputs() const;  ///< of all reductions

  /// The text: `points` are the parameters of the kernel's points after kPlace; `rows` writes what open_items() and
  /// close_items() enclose.
  void write(std::string_view name, std::string_view points, const std::function<void()>& rows);
  /// A plain function has its vectors written out, and the compiler looks for none.
  enum class Code : std::uint8_t { Any, Plain };
  /// Opens the loop over items. `declare` writes what stands before it.
  void open_items(Code code, const std::function<void()>& declare);
  void close_items();

  // The kernel's own.
  void own_parameters() { codegen::own_parameters(w_); }
  void open_finish(Code code);
  void entries(std::string_view begin);  ///< both; `begin`: the function that sees a tile before its points, or 0

 private:
  void chunks();
  void entry(std::string_view suffix, std::string_view part, std::string_view begin);

  StateWriter& w_;
  std::string name_;
};

}  // namespace tarry::codegen
