# Builds and runs one consumer project: -DKIND=installed|subdirectory -DLIBRARY=STATIC|SHARED.
# An installed library of the kind that BUILD already holds is installed from there; the other kind is built in WORK.
function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(result)
    message(FATAL_ERROR "failed (${result}): ${ARGV}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

set(common -G Ninja -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_BUILD_TYPE=${BUILD_TYPE})
string(COMPARE EQUAL ${LIBRARY} SHARED want_shared)
if(KIND STREQUAL installed)
  set(prefix ${WORK}/prefix)
  file(REMOVE_RECURSE ${prefix})
  if((want_shared AND BUILT_SHARED) OR (NOT want_shared AND NOT BUILT_SHARED))
    run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})
  else()
    # What is asked is whether it links and runs: nothing is optimised. The preset `shared` tests the optimised library.
    run(${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK}/library ${common} -DBUILD_SHARED_LIBS=${want_shared}
      -DCMAKE_BUILD_TYPE=None -DTARRY_BUILD_TESTS=OFF -DTARRY_BUILD_EXAMPLES=OFF -DTARRY_BUILD_TOOLS=OFF)
    run(${CMAKE_COMMAND} --build ${WORK}/library)
    run(${CMAKE_COMMAND} --install ${WORK}/library --prefix ${prefix})
  endif()
  set(where -DCMAKE_PREFIX_PATH=${prefix})
else()
  # Same flags as the project's own build, so that a compiler cache can answer.
  set(where -DTARRY_SOURCE=${SOURCE} -DTARRY_WERROR=ON)
endif()

file(REMOVE_RECURSE ${WORK}/consumer/CMakeCache.txt)
run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/${KIND} -B ${WORK}/consumer ${common} ${where})
run(${CMAKE_COMMAND} --build ${WORK}/consumer)
run(${WORK}/consumer/consumer)
if(NOT output MATCHES "12 kernels 1")
  message(FATAL_ERROR "the consumer printed: ${output}")
endif()
message(STATUS "${KIND} ${LIBRARY}: ${output}")
