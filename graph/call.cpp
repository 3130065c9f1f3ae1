// Call: run once, by whoever needs a value first.
#include "graph/call.h"

#include <iterator>
#include <utility>

#include <tarry/error.h>

#include "graph/pending.h"
#include "support/check.h"

namespace tarry::graph {
namespace {

/// Edges that die with calls of this thread, while the first of them drops all; a pointer, as threads end.
thread_local constinit std::list<Edge>* dropping = nullptr;

}  // namespace

Call::Call(std::string called, std::vector<Edge> inputs, std::vector<Result> results)
    : called_(std::move(called)),
      results_(std::move(results)),
      inputs_(std::make_move_iterator(inputs.begin()), std::make_move_iterator(inputs.end())) {}

Call::~Call() {
  if (dropping != nullptr) {
    dropping->splice(dropping->end(), inputs_);
    return;
  }
  dropping = &inputs_;
  while (!inputs_.empty()) {
    const Edge last = std::move(inputs_.back());
    inputs_.pop_back();
  }
  dropping = nullptr;
}

std::shared_ptr<Storage> Call::value(std::uint32_t result, Where where) {
  {
    const std::lock_guard lock(engine_mutex());
    if (runs_ == std::this_thread::get_id())
      TARRY_THROW(InvalidArgument, called_, where, "the code of the call needs its own result");
  }
  const std::lock_guard lock(mutex_);
  if (values_.empty()) {
    const auto mark = [this](std::thread::id by) {
      const std::lock_guard marked(engine_mutex());
      runs_ = by;
    };
    mark(std::this_thread::get_id());
    try {
      values_ = run(std::vector<Edge>(inputs_.begin(), inputs_.end()), where);
    } catch (...) {
      mark({});
      throw;
    }
    mark({});
    inputs_.clear();
  }
  return values_[result];
}

std::shared_ptr<Storage> Call::expected(std::uint32_t result) const {
  const Result& r = results_[result];
  const auto bytes = static_cast<std::size_t>(element_count(r.shape.span())) * itemsize(r.dtype);
  auto s = std::make_shared<Storage>();
  s->buffer = std::make_shared<Buffer>(device(), Owner::Pool, nullptr, bytes);
  s->strides = row_major_strides(r.shape.span());
  return s;
}

std::vector<Edge> record_call(const std::shared_ptr<Call>& call, Device device, Where where) {
  std::vector<Edge> all;
  const auto called = std::make_shared<const std::string>(call->called());
  for (std::uint32_t i = 0; i < call->results().size(); ++i) {
    const Call::Result& r = call->results()[i];
    Node* const n = new_node({.op = Op::Input,
                              .dtype = r.dtype,
                              .device = device,
                              .shape = r.shape.span(),
                              .attributes = nullptr,
                              .cell = {},
                              .where = where});
    n->need_extra().call = call;
    n->need_extra().call_result = i;
    n->need_extra().own_code = called;
    all.push_back(pending::recorded(n));
  }
  return all;
}

}  // namespace tarry::graph
