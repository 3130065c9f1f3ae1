// Choices: one formula of two places of an array, chosen by a box, as one formula of a choice of places.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "codegen/lower/instructions.h"

namespace tarry::codegen {

class Choices : protected Instructions {
 protected:
  using Instructions::Instructions;

  /// The value that is `x` in `inner` and `y` in the rest of `outer`, as what both have in common, of choices between
  /// loads; kNone where that has more statements. `x` is wanted in `inner` only, `y` in the rest. Pieces of an array
  /// that is rolled, or whose ends are wrapped, become so.
  Value choice(const Bounds& outer, const Bounds& inner, Value x, Value y);
  /// True if choice() has left instructions that may be of no use.
  [[nodiscard]] bool has_choices() const { return chose_; }

 private:
  /// A load, and where it is wanted.
  struct Piece {
    Bounds box;
    Value load;
    bool tested = true;  ///< it may be read in the box alone
  };
  /// The boxes of a choice(), and how many formulas lie above those at hand.
  struct Between {
    const Bounds& outer;
    const Bounds& inner;
    Bounds rest;
    std::uint32_t outer_number, inner_number;  ///< as box_number() says
    int depth = 0;
  };

  [[nodiscard]] bool are_equal(Value x, Value y) const;
  [[nodiscard]] bool add_pieces(Value v, const Bounds& domain, std::vector<Piece>& pieces) const;
  Value between(Between& b, Value x, Value y);
  Value between_loads(const Between& b, Value x, Value y);
  Value between_formulas(Between& b, Value x, Value y);
  Value one_of(const Bounds& box, std::span<const Piece> pieces);
  Value load_of(const Piece& piece);
  Value where(const Bounds& box, Value x, Value y);

  bool chose_ = false;
  std::map<Value, std::vector<Piece>> pieces_;            // of choices between loads
  std::map<std::array<std::uint32_t, 4>, Value> chosen_;  // by both boxes, x and y; kNone where nothing is gained
};

/// The rest of `outer` without `inner`, which it contains, where that is a box.
std::optional<Bounds> rest_of(const Bounds& outer, const Bounds& inner);

}  // namespace tarry::codegen
