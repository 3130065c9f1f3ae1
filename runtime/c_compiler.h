// The system's C compiler: which one, with what flags, and from text to a shared object.
#pragma once

#include <string>
#include <string_view>

#include "graph/target.h"

namespace tarry::runtime {

struct CCompiler {
  std::string program;  ///< "" where no compiler works
  std::string version;  ///< first line of --version: "cc (Debian 12.2.0-14) 12.2.0"
  std::string missing;  ///< where none works: what to do about it
};
/// TARRY_CC, else the first of cc, gcc, clang that answers. Looked for once per value of the switch.
CCompiler c_compiler();
/// That, or the cross compiler where `target` is no level of this machine's kind of processor: aarch64-linux-gnu-gcc.
CCompiler c_compiler(const graph::Target& target);

/// Flags for `target`, separated by spaces; they do not depend on which compiler is present.
std::string c_flags(const graph::Target& target);

struct CompiledC {
  std::string image;  ///< the shared object
  std::string log;    ///< warnings
};
/// Throws CompileError with the compiler's messages and the path of the source, which is kept.
CompiledC compile_c(const std::string& text, const std::string& flags, const CCompiler& compiler = c_compiler());

/// A text that is linked with machine code whose functions it declares.
struct LinkedText {
  std::string text;
  std::string_view object;  ///< relocatable; empty: none
};
/// The same of `linked`, or of the whole `text` where there is no object or it cannot be written.
CompiledC compile_c(const std::string& text, const LinkedText& linked, const std::string& flags, const CCompiler& compiler);

}  // namespace tarry::runtime
