// The engine behind the public API: evaluate and read. The pipeline itself is evaluate.cpp, one page.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tarry/plan.h>

#include "graph/node.h"

namespace tarry::runtime {

/// Evaluates the roots and everything they need. What fails before the first kernel runs leaves every array as it was;
/// what fails later leaves the roots failed: they throw the same error at every use.
Report evaluate(std::span<const graph::Edge> roots, Where where);
/// The same, in one piece: out of memory is an error.
Report evaluate_whole(std::span<const graph::Edge> roots, Where where);
/// Where a lazy array does not fit in memory, computes it in chunks and hands its elements to `sink`; it stays lazy.
/// False where it fits: nothing was done.
bool stream(const graph::Edge& root, class Sink& sink, Where where);
/// Predicts evaluate, for the default device or another target.
Plan plan(std::span<const graph::Edge> roots, std::string_view target, Where where);  // target "": the default device
/// Evaluates if lazy; where the values are, perhaps not there yet. Waits where an index may have been out of range, and
/// throws where it was.
std::shared_ptr<graph::Storage> ready_storage(const graph::Edge& edge, Where where);
/// The same for code of others: bools are bytes of 0 and 1.
std::shared_ptr<graph::Storage> shared_storage(const graph::Edge& edge, Where where);
/// Evaluates if lazy, waits, and copies the elements row-major to host memory.
void read(const graph::Edge& edge, void* destination, Where where);
/// Evaluates if lazy, waits, and returns a contiguous host copy or the host buffer itself; stays valid while held.
std::shared_ptr<const void> host_data(const graph::Edge& edge, Where where);
/// A host buffer from the CPU pool.
std::shared_ptr<graph::Buffer> host_buffer(std::size_t bytes);
/// The same for a call of the user's, never within an evaluate. Where there is no room, pending work of this thread is
/// evaluated first.
std::shared_ptr<graph::Buffer> host_buffer(std::size_t bytes, Where where);
/// The last work on the device that e is about, for messages: "" unless e is a DeviceError or DeviceLost of a GPU.
std::string describe_recent_work(const Error& e, Device device);

}  // namespace tarry::runtime
