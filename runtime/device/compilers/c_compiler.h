// The system's C compiler: which one, with what flags, and from text to a shared object.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <tarry/error.h>

#include "graph/target.h"

namespace tarry::runtime {

struct CCompiler {
  std::string program;  ///< its path, "" where no compiler works
  std::string version;  ///< first line of --version, with gcc for any name of GCC: "gcc (Debian 12.2.0-14) 12.2.0"
  std::string missing;  ///< where none works: why not and what to do about it
};
/// TARRY_CC, else the first of cc, gcc, clang that works. A compiler answers --version, and compiles a line of C where
/// it has failed at something else; one that does not is left out for a while.
CCompiler c_compiler();
/// That, or the cross compiler where `target` is no level of this machine's kind of processor: aarch64-linux-gnu-gcc.
CCompiler c_compiler(const graph::Target& target);
/// Grows whenever a compiler is found, or found not to work.
std::uint64_t compiler_changes() noexcept;

/// Flags for `target`, separated by spaces; they do not depend on which compiler is present.
std::string c_flags(const graph::Target& target);

/// A text is not compiled here and now, and it is not the text's fault.
class CompilerUnavailable : public CompileError {
 public:
  explicit CompilerUnavailable(const std::string& why) : CompileError("", Where{}, why) {}
};

struct CompiledC {
  std::string image;  ///< the shared object
  std::string log;    ///< warnings
};
/// Throws CompileError with the compiler's messages and the path of the source, which is kept, where the compiler
/// refuses the text, and CompilerUnavailable where it does not work, or could not for a reason of the system.
CompiledC compile_c(const std::string& text, const std::string& flags, const CCompiler& compiler = c_compiler());

/// A text that is linked with machine code whose functions it declares.
struct LinkedText {
  std::string text;
  std::string_view object;  ///< relocatable; empty: none
};
/// The same of `linked`, or of the whole `text` where there is no object or it cannot be written.
CompiledC compile_c(const std::string& text, const LinkedText& linked, const std::string& flags,
                    const CCompiler& compiler);

}  // namespace tarry::runtime
