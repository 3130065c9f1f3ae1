# Builds and runs one consumer project: -DKIND=installed|subdirectory -DLIBRARY=STATIC|SHARED -DWERROR=ON|OFF -DUNITY=N.
# An installed library of the kind that BUILD already holds is installed from there; the other kind is built beside it.
function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(result)
    message(FATAL_ERROR "failed (${result}): ${ARGV}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

set(common -G Ninja -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_BUILD_TYPE=${BUILD_TYPE} -DTARRY_UNITY=${UNITY})
string(COMPARE EQUAL ${LIBRARY} SHARED want_shared)
if(KIND STREQUAL installed)
  set(prefix ${WORK}/prefix)
  file(REMOVE_RECURSE ${prefix})
  if((want_shared AND BUILT_SHARED) OR (NOT want_shared AND NOT BUILT_SHARED))
    run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})
  else()
    # Same flags as the project's own build, and a folder as deep, so that a compiler cache can answer: some make paths
    # relative.
    set(library ${BUILD}.${LIBRARY})
    run(${CMAKE_COMMAND} -S ${SOURCE} -B ${library} ${common} -DBUILD_SHARED_LIBS=${want_shared}
      -DTARRY_BUILD_TESTS=OFF -DTARRY_BUILD_EXAMPLES=OFF -DTARRY_BUILD_TOOLS=OFF -DTARRY_WERROR=${WERROR})
    run(${CMAKE_COMMAND} --build ${library})
    run(${CMAKE_COMMAND} --install ${library} --prefix ${prefix})
  endif()
  set(where -DCMAKE_PREFIX_PATH=${prefix})
else()
  set(where -DTARRY_SOURCE=${SOURCE} -DTARRY_WERROR=${WERROR})
endif()

set(consumer ${BUILD}.${KIND}.${LIBRARY})  # as deep, too: where it has the sources, it compiles all of them
file(REMOVE_RECURSE ${consumer}/CMakeCache.txt)
run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/${KIND} -B ${consumer} ${common} ${where})
run(${CMAKE_COMMAND} --build ${consumer})
run(${consumer}/consumer)
if(NOT output MATCHES "12 kernels 1")
  message(FATAL_ERROR "the consumer printed: ${output}")
endif()
message(STATUS "${KIND} ${LIBRARY}: ${output}")
