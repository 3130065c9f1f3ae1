// The bounded equation  sum_k coefficient_k * x_k = target,  0 <= x_k <= limit_k,  searched from the largest
// coefficient down: what is left must stay within reach of the smaller ones and be divisible by their greatest common
// divisor.
#include "graph/passes/overlap.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "support/check.h"

namespace tarry::graph {
namespace {

__extension__ typedef __int128 Wide;

struct Term {
  Wide coefficient, limit;  // both positive
};

Wide gcd(Wide a, Wide b) {
  while (b != 0) {
    const Wide rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

Wide modulo(Wide a, Wide m) { return (a % m + m) % m; }

/// x with a * x = 1 (mod m), for coprime a and m.
Wide inverse(Wide a, Wide m) {
  Wide r0 = m, r1 = modulo(a, m), t0 = 0, t1 = 1;
  while (r1 != 0) {
    const Wide q = r0 / r1;
    r0 = std::exchange(r1, r0 - q * r1);
    t0 = std::exchange(t1, t0 - q * t1);
  }
  return modulo(t0, m);
}

class Equation {
 public:
  explicit Equation(int steps) : steps_(steps) {}

  /// One box's index along one axis: i * stride, 0 <= i < extent, on the left (sign 1) or right side.
  void add(std::int64_t stride, std::int64_t extent, int sign) {
    if (stride == 0 || extent <= 1) return;
    Wide coefficient = static_cast<Wide>(stride) * sign;
    if (coefficient < 0) {  // x becomes limit - x
      coefficient = -coefficient;
      target_ += coefficient * (extent - 1);
    }
    terms_.push_back({coefficient, extent - 1});
  }
  void shift(Wide by) { target_ += by; }

  bool solvable() {
    prepare();
    return search(0, target_);
  }

 private:
  void prepare() {
    std::sort(terms_.begin(), terms_.end(), [](const Term& a, const Term& b) { return a.coefficient > b.coefficient; });
    std::vector<Term> merged;  // equal coefficients count together
    for (const Term& t : terms_) {
      if (!merged.empty() && merged.back().coefficient == t.coefficient) {
        merged.back().limit += t.limit;
      } else {
        merged.push_back(t);
      }
    }
    terms_ = std::move(merged);
    reach_.assign(terms_.size() + 1, 0);
    divisor_.assign(terms_.size() + 1, 0);
    for (std::size_t k = terms_.size(); k-- > 0;) {
      reach_[k] = reach_[k + 1] + terms_[k].coefficient * terms_[k].limit;
      divisor_[k] = gcd(terms_[k].coefficient, divisor_[k + 1]);
    }
  }

  /// Depth is the number of terms: at most one per axis and box.
  bool search(std::size_t k, Wide target) {
    if (target < 0 || target > reach_[k]) return false;
    if (target == 0) return true;
    if (target % divisor_[k] != 0) return false;
    if (k + 1 == terms_.size()) return true;
    const auto [coefficient, limit] = terms_[k];
    const Wide rest = divisor_[k + 1], common = gcd(coefficient, rest), period = rest / common;
    const Wide lowest = std::max<Wide>(0, (target - reach_[k + 1] + coefficient - 1) / coefficient);
    const Wide highest = std::min<Wide>(limit, target / coefficient);
    // coefficient * x = target (mod rest), so x is first + i * period.
    const Wide first = period == 1 ? 0 : modulo(target / common * inverse(coefficient / common, period), period);
    for (Wide x = lowest + modulo(first - lowest, period); x <= highest; x += period) {
      if (--steps_ < 0 || search(k + 1, target - coefficient * x)) return true;
    }
    return false;
  }

  int steps_;
  Wide target_ = 0;
  std::vector<Term> terms_;
  std::vector<Wide> reach_, divisor_;  // of the terms from k on
};

bool is_empty(const StridedBox& b) {
  return std::any_of(b.extents.begin(), b.extents.end(), [](std::int64_t e) { return e == 0; });
}

}  // namespace

bool overlap(const StridedBox& a, const StridedBox& b, int steps) {
  TARRY_ASSERT(a.extents.size() == a.strides.size() && b.extents.size() == b.strides.size());
  if (is_empty(a) || is_empty(b)) return false;
  Equation equation(steps);
  equation.shift(static_cast<Wide>(b.offset) - a.offset);
  for (int d = 0; d < a.extents.size(); ++d) equation.add(a.strides[d], a.extents[d], 1);
  for (int d = 0; d < b.extents.size(); ++d) equation.add(b.strides[d], b.extents[d], -1);
  return equation.solvable();
}

bool overlap(const Progression& a, const Progression& b) {
  return overlap(StridedBox{a.start, {a.count}, {a.step}}, StridedBox{b.start, {b.count}, {b.step}});
}

Progression intersection(const Progression& a, const Progression& b) {
  TARRY_ASSERT(a.step > 0 && b.step > 0);
  const Progression none{0, 1, 0};
  if (a.count == 0 || b.count == 0) return none;
  const auto last = [](const Progression& p) {
    return static_cast<Wide>(p.start) + static_cast<Wide>(p.count - 1) * p.step;
  };
  const Wide divisor = gcd(a.step, b.step), apart = static_cast<Wide>(b.start) - a.start, period = b.step / divisor;
  if (apart % divisor != 0) return none;
  const Wide step = a.step * period, low = std::max(a.start, b.start), high = std::min(last(a), last(b));
  // a.start + a.step * i is one of b's numbers, going on both ways, where i = first (mod period).
  const Wide first = period == 1 ? 0 : modulo(apart / divisor * inverse(a.step / divisor, period), period);
  const Wide start = low + modulo(a.start + a.step * first - low, step);
  if (start > high) return none;
  const auto count = static_cast<std::int64_t>((high - start) / step + 1);
  return {static_cast<std::int64_t>(start), count == 1 ? 1 : static_cast<std::int64_t>(step), count};
}

bool contains(const Progression& outer, const Progression& inner) {
  const auto has = [&](Wide x) {
    const Wide away = x - outer.start;
    if (outer.step == 0 || outer.count <= 1) return outer.count > 0 && away == 0;
    return away % outer.step == 0 && away / outer.step >= 0 && away / outer.step < outer.count;
  };
  if (inner.count == 0) return true;
  // Both ends in `outer`, and a step between them that `outer` can make: then so are all in between.
  const Wide last = static_cast<Wide>(inner.start) + static_cast<Wide>(inner.count - 1) * inner.step;
  const bool steps_fit = inner.count == 1 || inner.step == 0 || (outer.step != 0 && inner.step % outer.step == 0);
  return steps_fit && has(inner.start) && has(last);
}

}  // namespace tarry::graph
