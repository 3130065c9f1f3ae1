// Tree R and the moments of docs/reference/numerics.md as the document defines them: scalar, recursive, without any
// schedule. Every backend is compared with this.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

namespace tarry::test {

/// R over n leaves. leaf(k) is element k as a state; append(state, k, step) adds element k as the lane's step-th
/// element (from 2); combine(a, b) merges neighbours, a left. Not for n = 0.
template <class State, class Leaf, class Append, class Combine>
State reduce_tree(std::int64_t n, Leaf leaf, Append append, Combine combine) {
  const auto lane = [&](std::int64_t first, std::int64_t end, std::int64_t stride) {
    State s = leaf(first);
    std::int64_t step = 1;
    for (std::int64_t k = first + stride; k < end; k += stride) s = append(s, k, ++step);
    return s;
  };
  if (n <= 32) return lane(0, n, 1);
  // Nodes i and i + d of a level merge into node i where the right one exists.
  const auto levels = [&](std::vector<State> nodes, std::int64_t first_d, bool down) {
    const auto count = static_cast<std::int64_t>(nodes.size());
    for (std::int64_t d = first_d; down ? d >= 1 : d < count; d = down ? d / 2 : d * 2)
      for (std::int64_t i = 0; i + d < count && (!down || i < d); i += down ? 1 : 2 * d)
        nodes[static_cast<std::size_t>(i)] =
            combine(nodes[static_cast<std::size_t>(i)], nodes[static_cast<std::size_t>(i + d)]);
    return nodes[0];
  };
  std::vector<State> blocks;
  for (std::int64_t b = 0; b < n; b += 128) {
    const std::int64_t end = std::min(n, b + 128);
    std::vector<State> lanes;
    for (std::int64_t l = 0; l < 32 && b + l < end; ++l) lanes.push_back(lane(b + l, end, 32));
    blocks.push_back(levels(std::move(lanes), 16, true));
  }
  return levels(std::move(blocks), 1, false);
}

/// Sum, minimum, maximum: element(k) is the k-th value, op combines.
template <class T, class Element, class Combine>
T reduce_values(std::int64_t n, Element element, Combine op) {
  return reduce_tree<T>(n, element, [&](T s, std::int64_t k, std::int64_t) { return op(s, element(k)); }, op);
}

template <class T>
struct Moments {
  std::int64_t count = 0;
  T mean = 0, m2 = 0;
};

/// Chan, Golub, LeVeque 1979.
template <class T>
Moments<T> merge_moments(Moments<T> a, Moments<T> b) {
  const T w = static_cast<T>(b.count) / static_cast<T>(a.count + b.count);
  const T d = b.mean - a.mean;
  return {a.count + b.count, a.mean + d * w, (a.m2 + b.m2) + (d * d) * (static_cast<T>(a.count) * w)};
}

template <class T, class Element>
Moments<T> reduce_moments(std::int64_t n, Element element) {
  return reduce_tree<Moments<T>>(
      n, [&](std::int64_t k) { return Moments<T>{1, element(k), 0}; },
      [&](Moments<T> s, std::int64_t k, std::int64_t step) {
        const T y = element(k), d = y - s.mean;
        s.mean = s.mean + d * static_cast<T>(1.0 / static_cast<double>(step));
        s.m2 = s.m2 + d * (y - s.mean);
        s.count += 1;
        return s;
      },
      merge_moments<T>);
}

/// States of `weight` elements each: element(k) is the k-th (mean, m2).
template <class T, class Element>
Moments<T> reduce_moments_merge(std::int64_t n, std::int64_t weight, Element element) {
  const auto state = [&](std::int64_t k) {
    Moments<T> s = element(k);
    s.count = weight;
    return s;
  };
  return reduce_tree<Moments<T>>(
      n, state, [&](Moments<T> s, std::int64_t k, std::int64_t) { return merge_moments<T>(s, state(k)); },
      merge_moments<T>);
}

}  // namespace tarry::test
