// Stand-ins, and the one trace of a thread.
#include "graph/record/trace.h"

#include <algorithm>

#include "graph/record/record.h"
#include "support/check.h"

namespace tarry::graph {
namespace {

thread_local constinit Tracing* tracing = nullptr;

}  // namespace

Edge number_stand_in(Dtype dtype, Where where) {
  Edge e = record_opaque(0, dtype, where);
  e.node()->traced = 1;
  return e;
}

Edge stand_in_for(const Node& like, Where where) {
  if (like.op == Op::Scalar) {
    Edge e = number_stand_in(like.dtype, where);
    e.node()->device = like.device;
    return e;
  }
  Edge e = make_node({.op = Op::Input,
                      .dtype = like.dtype,
                      .device = like.device,
                      .shape = like.shape(),
                      .attributes = nullptr,
                      .cell = {},
                      .where = where},
                     {});
  e.node()->need_extra().results.reserve(1);  // a call binds it where nothing may fail
  e.node()->traced = 1;
  return e;
}

Tracing::Tracing() noexcept { tracing = this; }
Tracing::~Tracing() { tracing = nullptr; }
Tracing* Tracing::here() noexcept { return tracing; }

bool Tracing::has_made(const Node* key) const {
  return std::ranges::any_of(made_, [key](const Edge& e) { return e.node() == key; });
}

Edge Tracing::draw(const Node* key, std::uint64_t offset, Where where) {
  const auto of = std::ranges::find_if(keys, [key](const Edge& e) { return e.node() == key; });
  TARRY_ASSERT(of != keys.end());
  draws.push_back({number_stand_in(uint32, where), static_cast<std::uint32_t>(of - keys.begin()), offset});
  return draws.back().number;
}

}  // namespace tarry::graph
