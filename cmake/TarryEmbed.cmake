# tarry_embed(OUTPUT NAME INPUTS...): a C++ file that defines `extern const char NAME[]` with the text of all inputs.
function(tarry_embed output name)
  set(script ${PROJECT_SOURCE_DIR}/cmake/embed.cmake)
  list(TRANSFORM ARGN PREPEND ${PROJECT_SOURCE_DIR}/ OUTPUT_VARIABLE inputs)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} "-DINPUTS=${inputs}" -DOUTPUT=${output} -DNAME=${name} -P ${script}
    DEPENDS ${inputs} ${script} VERBATIM)
endfunction()
