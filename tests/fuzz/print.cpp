// to_cpp(): a program as C++ that anybody can compile against the public API.
#include <cmath>
#include <cstdio>
#include <limits>

#include "tests/fuzz/program.h"

namespace tarry::test::fuzz {
namespace {

std::string text(std::int64_t v) {
  if (v == std::numeric_limits<std::int64_t>::min()) return "INT64_MIN";
  return std::to_string(v);
}

std::string text(double v, const char* suffix, const char* type) {
  const std::string limits = std::string("std::numeric_limits<") + type + ">::";
  if (std::isnan(v)) return limits + "quiet_NaN()";
  if (std::isinf(v)) return (v < 0 ? "-" : "") + limits + "infinity()";
  char digits[48];
  if (v == std::floor(v) && std::fabs(v) < 1e6)
    std::snprintf(digits, sizeof digits, "%.1f%s", v, suffix);
  else
    std::snprintf(digits, sizeof digits, "%a%s", v, suffix);
  return digits;
}

template <class T>
std::string element_text(T v) {
  if constexpr (std::is_same_v<T, bool>)
    return v ? "true" : "false";
  else if constexpr (std::is_same_v<T, float>)
    return text(static_cast<double>(v), "f", "float");
  else if constexpr (std::is_same_v<T, double>)
    return text(v, "", "double");
  else if constexpr (kHalf<T>)
    return (std::is_same_v<T, Half> ? "ta::Half" : "ta::BFloat16") + ("::from_bits(" + std::to_string(v.bits) + ")");
  else if constexpr (std::is_same_v<T, std::uint64_t>)
    return std::to_string(v) + "u";
  else if constexpr (std::is_same_v<T, std::int32_t>)
    return v == INT32_MIN ? "INT32_MIN" : text(std::int64_t{v});
  else
    return text(static_cast<std::int64_t>(v));
}

std::string text(Scalar s) {
  switch (s.kind()) {
    case Scalar::Kind::Bool: return element_text(s.as_int() != 0);
    case Scalar::Kind::Int:
      return s.as_int() == static_cast<int>(s.as_int()) && s.as_int() != INT32_MIN
                 ? std::to_string(s.as_int())
                 : "std::int64_t{" + text(s.as_int()) + "}";
    case Scalar::Kind::UInt: return std::to_string(s.as_uint()) + "u";
    default:
      return s.default_dtype() == float32 ? element_text(static_cast<float>(s.as_float())) : element_text(s.as_float());
  }
}

std::string cpp_type(Dtype d) {
  switch (d) {
    case Dtype::Bool: return "bool";
    case Dtype::Float16: return "ta::Half";
    case Dtype::BFloat16: return "ta::BFloat16";
    case Dtype::Float32: return "float";
    case Dtype::Float64: return "double";
    default: return "std::" + std::string(tarry::name(d)) + "_t";
  }
}

std::string dtype_text(Dtype d) { return "ta::" + std::string(tarry::name(d)) + (d == bool_ ? "_" : ""); }

std::string list(const Extents& values) {
  std::string s = "{";
  for (std::size_t i = 0; i < values.size(); ++i) s += (i > 0 ? ", " : "") + std::to_string(values[i]);
  return s + "}";
}
std::string shape_text(const Extents& shape) { return "ta::Shape" + list(shape); }
std::string axes_text(const Extents& axes) { return "ta::Axes" + list(axes); }

std::string argument_text(const Argument& a) { return a.value >= 0 ? "v" + std::to_string(a.value) : text(a.scalar); }

std::string joined(const std::vector<Argument>& arguments) {
  std::string s;
  for (std::size_t i = 0; i < arguments.size(); ++i) s += (i > 0 ? ", " : "") + argument_text(arguments[i]);
  return s;
}

std::string reduce_options(const Statement& s) {
  std::string fields;
  const auto add = [&](const std::string& field) { fields += (fields.empty() ? "" : ", ") + field; };
  if (s.flag) add(".keepdims = true");
  if (s.dtype) add(".dtype = " + dtype_text(*s.dtype));
  if (s.number != 0) add(".correction = " + element_text(s.number));
  return fields.empty() ? "" : ", {" + fields + "}";
}

std::string cut_text(const Cut& cut) {
  if (cut.at) return std::to_string(*cut.start);
  const auto bound = [](const std::optional<std::int64_t>& b) {
    return b ? std::to_string(*b) : std::string("ta::none");
  };
  return "ta::slice(" + bound(cut.start) + ", " + bound(cut.stop) + ", " + bound(cut.step) + ")";
}
std::string cuts_text(const Statement& s) {
  std::string all;
  for (const Cut& cut : s.cuts) all += (all.empty() ? "" : ", ") + cut_text(cut);
  return all;
}

/// Readers of signs are given 0 in place of a NaN.
std::string number_text(const Argument& a) {
  const std::string x = argument_text(a);
  return a.value < 0 ? x : "ta::where(ta::not_equal(" + x + ", " + x + "), ta::zeros_like(" + x + "), " + x + ")";
}

/// A number of the dtype that full() would give it.
std::string number_value(Scalar s) {
  if (s.kind() == Scalar::Kind::Bool) return text(s);
  return s.is_integer() ? "std::int64_t{" + text(s.as_int()) + "}" : text(s);
}

/// Widths of every axis and the mode of a pad along one.
std::string widths_text(const Statement& s) {
  static constexpr const char* kModes[] = {"Constant", "Edge", "Reflect", "Symmetric", "Wrap"};
  const std::string x = argument_text(s.arguments[0]);
  return "[&] { std::vector<std::pair<std::int64_t, std::int64_t>> w(" + x + ".shape().size()); w[" +
         (s.axes[0] < 0 ? "w.size() - " + std::to_string(-s.axes[0]) : std::to_string(s.axes[0])) + "] = {" +
         std::to_string(s.shape[0]) + ", " + std::to_string(s.shape[1]) +
         "}; return w; }(), ta::Pad::" + kModes[static_cast<int>(s.number)];
}

/// The call of a statement.
std::string arguments_text(const Statement& s) {
  const std::string dtype = s.dtype ? ", " + dtype_text(*s.dtype) : "";
  switch (s.function) {
    case Function::Signbit: return number_text(s.arguments[0]);
    case Function::Copysign: return argument_text(s.arguments[0]) + ", " + number_text(s.arguments[1]);
    case Function::Astype: return joined(s.arguments) + dtype;
    case Function::BroadcastTo: return joined(s.arguments) + ", " + shape_text(s.shape);
    case Function::PermuteDims:
    case Function::Squeeze:
    case Function::Flip: return joined(s.arguments) + ", " + axes_text(s.axes);
    case Function::ExpandDims: return joined(s.arguments) + ", " + std::to_string(s.axes[0]);
    case Function::Reshape: return joined(s.arguments) + ", " + shape_text(s.shape);
    case Function::Roll:
      return joined(s.arguments) + ", " + std::to_string(static_cast<std::int64_t>(s.number)) + ", " +
             axes_text(s.axes);
    case Function::Pad: return joined(s.arguments) + ", " + widths_text(s);
    case Function::Windows: return joined(s.arguments) + ", " + shape_text(s.shape) + ", " + axes_text(s.axes);
    case Function::Diagonal: return joined(s.arguments) + ", " + std::to_string(static_cast<std::int64_t>(s.number));
    case Function::Concat:
    case Function::Stack: return "{" + joined(s.arguments) + "}, " + std::to_string(s.axes[0]);
    case Function::Take:
    case Function::TakeAlongAxis:
      return joined(s.arguments) + ", " + (s.axes.empty() ? "{}" : std::to_string(s.axes[0])) +
             (s.flag ? ", ta::Bounds::Clip" : ", ta::Bounds::Wrap");
    case Function::Sort:
    case Function::Argsort:
      return joined(s.arguments) + ", {.axis = " + std::to_string(s.axes[0]) + (s.flag ? ", .descending = true}" : "}");
    case Function::PutSet:
    case Function::PutAdd:
    case Function::PutMultiply:
    case Function::PutMinimum:
    case Function::PutMaximum: {
      constexpr const char* kWays[] = {"Set", "Add", "Multiply", "Minimum", "Maximum"};
      return joined(s.arguments) + ", {ta::Put::" + kWays[static_cast<int>(way_of(s.function))] +
             (s.flag ? ", ta::Bounds::Clip}" : ", ta::Bounds::Wrap}");
    }
    case Function::Set:
    case Function::AddTo:
      return argument_text(s.arguments[0]) + ", {" + cuts_text(s) + "}, " + argument_text(s.arguments[1]);
    case Function::Softmax: return joined(s.arguments) + ", " + std::to_string(s.axes[0]);
    case Function::Argmin:
    case Function::Argmax:
      return joined(s.arguments) + ", " + (s.axes.empty() ? "{}" : std::to_string(s.axes[0])) +
             (s.flag ? ", {.keepdims = true}" : "");
    case Function::Full:
      if (is_number(s)) return number_value(s.arguments[0].scalar);
      return shape_text(s.shape) + ", " + joined(s.arguments) + dtype;
    case Function::Zeros:
    case Function::Ones: return shape_text(s.shape) + dtype;
    case Function::FullLike:
    case Function::ZerosLike:
    case Function::OnesLike:
    case Function::Arange: return joined(s.arguments) + dtype;
    case Function::Linspace:
      return joined(s.arguments) + ", " + std::to_string(s.shape[0]) + ", {.endpoint = " + (s.flag ? "true" : "false") +
             ", .dtype = " + dtype_text(s.dtype.value_or(float32)) + "}";
    case Function::Eye:
      return std::to_string(s.shape[0]) + ", {.columns = " + std::to_string(s.shape[1]) +
             ", .k = " + std::to_string(static_cast<std::int64_t>(s.number)) +
             ", .dtype = " + dtype_text(s.dtype.value_or(float32)) + "}";
    default: break;
  }
  if (family(s.function) == Family::Reduce) return joined(s.arguments) + ", " + axes_text(s.axes) + reduce_options(s);
  return joined(s.arguments);
}

/// A draw of a generator that lives as long as the call.
std::string random_text(const Statement& s) {
  const Dtype dtype = s.dtype.value_or(float32);
  const std::string head =
      "[] { ta::random::Generator g(" + std::to_string(static_cast<std::int64_t>(s.number)) + "); return ta::random::";
  const std::string shape = "(g, " + shape_text(s.shape), tail = "); }();\n";
  if (is_floating(dtype)) return head + "uniform" + shape + ", {.dtype = " + dtype_text(dtype) + "}" + tail;
  return head +
         (dtype == bool_ ? "bernoulli" + shape + ", 0.5" : "integers" + shape + ", 0, 100, " + dtype_text(dtype)) +
         tail;
}

/// The memory of an input as a C array, and the call that makes it an array.
std::string input_text(const Input& input, const std::vector<std::byte>& memory, std::size_t number) {
  const std::string m = "m" + std::to_string(number), v = "v" + std::to_string(number);
  const Placement at = place(input);
  std::string s = std::string("  static const ") + cpp_type(input.type.dtype) +
                  (at.size == 0 ? "* const " + m : " " + m + "[] = {");
  visit(input.type.dtype, [&](auto zero) {
    using T = decltype(zero);
    const auto* elements = reinterpret_cast<const T*>(memory.data());
    for (std::int64_t i = 0; i < at.size; ++i)
      s += (i == 0 ? "" : i % 12 == 0 ? ",\n    " : ", ") + element_text(elements[i]);
  });
  s += (at.size == 0 ? " = nullptr;\n  ta::Array " : "};\n  ta::Array ") + v + " = ";
  const std::string shape = shape_text(input.type.shape);
  if (input.layout == Layout::Copied) {
    return s + "ta::asarray(std::span<const " + cpp_type(input.type.dtype) + ">(" + m + ", " +
           std::to_string(count_of(input.type.shape)) + "), " + shape + ");\n";
  }
  if (input.layout == Layout::Contiguous) return s + "ta::borrow(" + m + ", " + shape + ");\n";
  return s + "ta::borrow(" + m + " + " + std::to_string(at.offset) + ", " + shape + ", std::vector<std::int64_t>" +
         list(at.strides) + ");\n";
}

}  // namespace

std::string to_cpp(const Program& p) {
  std::string s =
      "// Seed " + std::to_string(p.seed) +
      ".\n#include <cstdint>\n#include <iostream>\n#include <limits>\n#include <span>\n#include <vector>\n\n"
      "#include <tarry/tarry.h>\n\nnamespace ta = tarry;\n\nint main() {\n";
  const Arrays arrays = make_inputs(p);
  for (std::size_t i = 0; i < p.inputs.size(); ++i) s += input_text(p.inputs[i], arrays.memory[i], i);
  for (std::size_t i = 0; i < p.statements.size(); ++i) {
    const Statement& statement = p.statements[i];
    s += "  ta::Array v" + std::to_string(p.inputs.size() + i) + " = ";
    if (statement.function == Function::Random)
      s += random_text(statement);
    else if (is_line(statement.function))
      s += line_text(statement) + ";\n";
    else if (statement.function == Function::Slice)
      s += argument_text(statement.arguments[0]) + "(" + cuts_text(statement) + ");\n";
    else
      s += std::string("ta::") + (is_number(statement) ? "Array" : name(statement.function)) + "(" +
           arguments_text(statement) + ");\n";
  }
  std::string outputs;
  for (const int v : p.outputs) outputs += (outputs.empty() ? "v" : ", v") + std::to_string(v);
  s += "  ta::evaluate(" + outputs + ");\n";
  for (const int v : p.outputs) s += "  std::cout << v" + std::to_string(v) + " << '\\n';\n";
  return s + "}\n";
}

}  // namespace tarry::test::fuzz
