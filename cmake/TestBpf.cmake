# SPDX-License-Identifier: BSD-3-Clause
# BPF objects of tests and benchmarks. scribe_test_bpf(NAME) compiles NAME.bpf.c
# of this folder and sets NAME_skeleton to the generated header, which is
# included as "tests/FOLDER/NAME.skel.h" (struct scribe_NAME).
function(scribe_test_bpf name)
  get_filename_component(folder ${CMAKE_CURRENT_SOURCE_DIR} NAME)
  set(gen ${CMAKE_CURRENT_BINARY_DIR}/generated/tests/${folder})
  set(object ${CMAKE_CURRENT_BINARY_DIR}/${name}.bpf.o)
  file(MAKE_DIRECTORY ${gen})
  add_custom_command(
    OUTPUT ${object}
    COMMAND ${IOSCRIBE_CLANG} -g -O2 -target bpf -mcpu=v3 -D__TARGET_ARCH_${IOSCRIBE_BPF_ARCH}
            -Wall -Wextra -Werror -Wno-unused-parameter
            -I${PROJECT_SOURCE_DIR} -isystem ${PROJECT_BINARY_DIR}/bpf/types
            -MMD -MF ${object}.d -MT ${object} -c ${CMAKE_CURRENT_SOURCE_DIR}/${name}.bpf.c -o ${object}
    DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}.bpf.c
    DEPFILE ${object}.d VERBATIM)
  add_custom_command(
    OUTPUT ${gen}/${name}.skel.h
    COMMAND sh -c "${IOSCRIBE_BPFTOOL} gen skeleton ${object} name scribe_${name} > ${gen}/${name}.skel.h.tmp && mv ${gen}/${name}.skel.h.tmp ${gen}/${name}.skel.h"
    DEPENDS ${object} VERBATIM)
  set(${name}_skeleton ${gen}/${name}.skel.h PARENT_SCOPE)
endfunction()
