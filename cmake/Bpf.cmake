# SPDX-License-Identifier: BSD-3-Clause
# Kernel programs: scribe_bpf_object(NAME FOLDER RET) compiles NAME.bpf.c of this
# folder, or of kern/ in it, and sets RET to the generated skeleton, which is included as
# "FOLDER/NAME.skel.h" (struct scribe_NAME). Needs no file of a running kernel.
find_program(IOSCRIBE_CLANG NAMES clang clang-19 clang-18 clang-17 clang-16 clang-15 clang-14 REQUIRED)
find_program(IOSCRIBE_BPFTOOL NAMES bpftool PATHS /usr/sbin /sbin REQUIRED)
string(REPLACE "x86_64" "x86" IOSCRIBE_BPF_ARCH "${CMAKE_SYSTEM_PROCESSOR}")
string(REPLACE "aarch64" "arm64" IOSCRIBE_BPF_ARCH "${IOSCRIBE_BPF_ARCH}")
set(IOSCRIBE_BPF_ARCH ${IOSCRIBE_BPF_ARCH} CACHE INTERNAL "architecture as BPF sources name it")

# linux/types.h includes asm/types.h, which stands in the architecture's own folder.
set(bpf_flags -g -O2 -target bpf -mcpu=v3 -D__TARGET_ARCH_${IOSCRIBE_BPF_ARCH} -Wall -Wextra -Werror
    -Wno-unused-parameter -I${PROJECT_SOURCE_DIR})
foreach(folder ${CMAKE_C_IMPLICIT_INCLUDE_DIRECTORIES} /usr/include/${CMAKE_LIBRARY_ARCHITECTURE})
  if(EXISTS ${folder}/asm/types.h)
    list(APPEND bpf_flags -idirafter ${folder})
  endif()
endforeach()
set(IOSCRIBE_BPF_FLAGS ${bpf_flags} CACHE INTERNAL "how kernel programs are compiled")

function(scribe_bpf_object name folder ret)
  set(gen ${CMAKE_CURRENT_BINARY_DIR}/generated/${folder})
  set(object ${CMAKE_CURRENT_BINARY_DIR}/${name}.bpf.o)
  set(source ${CMAKE_CURRENT_SOURCE_DIR}/${name}.bpf.c)
  if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/kern/${name}.bpf.c)
    set(source ${CMAKE_CURRENT_SOURCE_DIR}/kern/${name}.bpf.c)
  endif()
  file(MAKE_DIRECTORY ${gen})
  add_custom_command(
    OUTPUT ${object}
    COMMAND ${IOSCRIBE_CLANG} ${IOSCRIBE_BPF_FLAGS} ${IOSCRIBE_MODULE_FLAGS} -MMD -MF ${object}.d -MT ${object}
            -c ${source} -o ${object}
    DEPENDS ${source}
    DEPFILE ${object}.d
    VERBATIM)
  add_custom_command(
    OUTPUT ${gen}/${name}.skel.h
    COMMAND sh -c "${IOSCRIBE_BPFTOOL} gen skeleton ${object} name scribe_${name} > ${gen}/${name}.skel.h.tmp && mv ${gen}/${name}.skel.h.tmp ${gen}/${name}.skel.h"
    DEPENDS ${object}
    VERBATIM)
  set(${ret} ${gen}/${name}.skel.h PARENT_SCOPE)
endfunction()
