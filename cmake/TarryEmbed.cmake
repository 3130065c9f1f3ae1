# tarry_embed(OUTPUT INPUT NAME): a C++ file that defines `extern const char NAME[]` with the text of INPUT.
function(tarry_embed output input name)
  set(script ${PROJECT_SOURCE_DIR}/cmake/embed.cmake)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DINPUT=${PROJECT_SOURCE_DIR}/${input} -DOUTPUT=${output} -DNAME=${name} -P ${script}
    DEPENDS ${PROJECT_SOURCE_DIR}/${input} ${script} VERBATIM)
endfunction()
