// Orthogonal factors, for what is made of them.
#pragma once

#include <tarry/linalg.h>

#include <string_view>

namespace tarry::graph {

/// qr() for the op that a user called. x has two axes at least.
linalg::Qr record_qr(std::string_view called, const Array& x, linalg::QrMode mode, Where where);

}  // namespace tarry::graph
