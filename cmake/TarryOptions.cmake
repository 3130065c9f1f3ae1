# Warnings, sanitizers and output folders shared by every target.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
if(PROJECT_IS_TOP_LEVEL)
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
  set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
  set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, RelWithDebInfo or Debug" FORCE)
  endif()
endif()
find_program(TARRY_CCACHE ccache)
if(TARRY_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # What it has to be told so that it takes sources with precompiled headers.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${TARRY_CCACHE})
endif()

# Headers of others, and public ones, that most sources of a target include: parsed once. The library has some only where a
# preset says so: objects with precompiled headers serve no other build folder, and the package's tests build it again.
option(TARRY_PRECOMPILE_LIBRARY "Precompile headers for the library's sources" OFF)
# tarry_precompile(TARGET HEADERS...) or tarry_precompile(TARGET FROM OTHER), which is compiled alike.
function(tarry_precompile target)
  if(ARGV1 STREQUAL FROM)
    target_precompile_headers(${target} REUSE_FROM ${ARGV2})
  else()
    target_precompile_headers(${target} PRIVATE ${ARGN})
  endif()
  # g++ 12 forgets there that a header is a system's, and warns of the code of std::string that it inlined (GCC bug 105651).
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>
    $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds> $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow>)
endfunction()

# All sources take a fraction of the seconds together, but one that changed takes those of its neighbours too.
set(TARRY_UNITY 0 CACHE STRING "Sources of the library that are compiled as one; 0: each alone")
# tarry_unity(TARGET), after tarry_target_options. There one source may hide another's names, and none is a main file;
# builds of each source alone look for both.
function(tarry_unity target)
  if(TARRY_UNITY GREATER 0)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${TARRY_UNITY})
    # What g++ inlines across sources it takes for uninitialised, arrays of shapes among it; sources alone are checked.
    target_compile_options(${target} PRIVATE -Wno-shadow $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>
      $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  endif()
endfunction()

# Programs around the library, the tests among them: libraries of templates that run once, quick to compile at -O1, and
# with a sanitizer, which lengthens all that is inlined, at -O0.
function(tarry_program_options target)
  tarry_target_options(${target})
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  if(TARRY_SANITIZE)
    target_compile_options(${target} PRIVATE -O0)
  endif()
  # clang counts names of a namespace that a local variable hides, such as tarry::nan; g++ counts locals and members.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:Clang>:-Wno-shadow>)
endfunction()

function(tarry_target_options target)
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -ffp-contract=off)
  # g++ 12 reports overlapping copies inside std::string's operator+ at -O2 and above (GCC bug 105651).
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
  if(TARRY_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(TARRY_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${TARRY_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
    if(TARRY_SANITIZE_SKIP)
      target_compile_options(${target} PRIVATE -fno-sanitize=${TARRY_SANITIZE_SKIP})
    endif()
    # g++ 12 takes what a sanitizer instruments for uninitialised, std::optional and std::regex among it (GCC bug 105562).
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
    target_link_options(${target} PUBLIC -fsanitize=${TARRY_SANITIZE})
    target_compile_definitions(${target} PRIVATE TARRY_SANITIZE_NAME="${TARRY_SANITIZE}")
  endif()
endfunction()
