# SPDX-License-Identifier: BSD-3-Clause
# Functions that register tests. See tests/CMakeLists.txt.

set(scribe_tests_dir ${PROJECT_SOURCE_DIR}/tests)

# Libraries of a unit test, by the first word of its name.
set(scribe_unit_libs_logfmt scribe_logfmt)
set(scribe_unit_libs_util scribe_util scribe_logfmt)
set(scribe_unit_libs_top scribe_top scribe_util scribe_logfmt)
set(scribe_unit_libs_store scribe_store scribe_util scribe_logfmt)
set(scribe_unit_libs_publish scribe_util scribe_logfmt)
set(scribe_unit_libs_bpf scribe_bpf scribe_logfmt)
set(scribe_unit_libs_uprobes scribe_uprobes scribe_logfmt)
set(scribe_unit_libs_core scribe_core scribe_logfmt)
set(scribe_unit_libs_daemon scribe_daemon scribe_core scribe_bpf scribe_logfmt)
set(scribe_unit_libs_stage scribe_stage) # the daemon on a kernel side of the test's own: tests/fuzz/stage.h
set(scribe_unit_libs_client scribe_client scribe_core scribe_logfmt)

# What needs no root and is done in a few seconds is `fast`, too: all of that in less than a minute on two
# processors. These take longer.
set(scribe_slow_tests cli.analyses cli.big cli.commands cli.convert cli.damage cli.export cli.library cli.merge cli.modules cli.parts
    cli.store cli.unified kafka.store objects.checker postgres.store project.rules serve.analyses serve.serve sim.finalize style.tidy)

# Tests that trace run beside others; what they leave is looked for when all have ended. Not these: they measure time
# or processor time, or look at everybody's processes, pins, kernel objects or breakpoints.
set(scribe_tests_alone service.attempts service.bystanders service.confine service.cycles service.daemon
    service.doctor service.hostile service.hung service.libraries service.limits service.memory service.never_costs service.patterns
    service.pester service.quotas service.red_team service.sleeps service.top service.trace service.turns trace.leak trace.odd trace.run
    uprobes.sweep)

function(scribe_beside_others test)
  if(test IN_LIST scribe_tests_alone)
    set_tests_properties(${test} PROPERTIES RUN_SERIAL ON)
    return()
  endif()
  set_property(TEST ${test} APPEND PROPERTY ENVIRONMENT IOSCRIBE_TESTS_TOGETHER=1)
  if(test MATCHES "^(slurm|package|zoo)\\.") # cluster, systemd and node namespaces, each of which takes the machine
    set_tests_properties(${test} PROPERTIES RESOURCE_LOCK machine)
  endif()
endfunction()

function(scribe_label_tools test)
  set(labels tools)
  if(NOT test IN_LIST scribe_slow_tests)
    list(APPEND labels fast)
  endif()
  set_property(TEST ${test} PROPERTY LABELS ${labels})
endfunction()

function(scribe_add_unit source)
  get_filename_component(name ${source} NAME_WE)
  string(REGEX REPLACE "_.*$" "" room ${name})
  if(IOSCRIBE_TOOLS_ONLY AND NOT room MATCHES "^(logfmt|util)$")
    return()
  endif()
  add_executable(unit_${name} ${source})
  target_link_libraries(unit_${name} PRIVATE ioscribe_options)
  foreach(lib ${scribe_unit_libs_${room}})
    if(TARGET ${lib})
      target_link_libraries(unit_${name} PRIVATE ${lib})
    endif()
  endforeach()
  target_link_libraries(unit_${name} PRIVATE PkgConfig::CMOCKA m)
  target_compile_definitions(unit_${name} PRIVATE
    SCRIBE_TEST_DATA="${scribe_tests_dir}/data" SCRIBE_TEST_DIR="${scribe_tests_dir}")
  add_test(NAME unit.${name} COMMAND unit_${name} WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
  set_tests_properties(unit.${name} PROPERTIES TIMEOUT 300)
  scribe_label_tools(unit.${name})
endfunction()

# One ctest entry a .bats file; the adapter turns "all skipped" into 77 and
# refuses skips that tests/skips.txt does not list.
function(scribe_add_bats folder)
  cmake_parse_arguments(arg "" "LABEL" "" ${ARGN})
  find_program(SCRIBE_BATS bats)
  file(GLOB files CONFIGURE_DEPENDS ${scribe_tests_dir}/${folder}/*.bats)
  foreach(file ${files})
    get_filename_component(name ${file} NAME_WE)
    set(test ${folder}.${name})
    add_test(NAME ${test} COMMAND ${scribe_tests_dir}/run-bats ${PROJECT_BINARY_DIR} ${file})
    set_tests_properties(${test} PROPERTIES LABELS ${arg_LABEL} SKIP_RETURN_CODE 77 TIMEOUT 1200)
    if(arg_LABEL STREQUAL tools)
      scribe_label_tools(${test})
    elseif(arg_LABEL STREQUAL root)
      scribe_beside_others(${test})
    endif()
  endforeach()
endfunction()

# tests/prog/*.c except mpi_*, mpiio_*, hdf5_*, pnetcdf_* (built by their own
# folders): small programs that the trace tests run, in
# BUILD/tests/prog. A first line with "link: a b" names libraries; "static" is
# one of them.
function(scribe_add_programs)
  file(GLOB sources CONFIGURE_DEPENDS ${scribe_tests_dir}/prog/*.c)
  find_package(Threads REQUIRED)
  foreach(source ${sources})
    get_filename_component(name ${source} NAME_WE)
    if(name MATCHES "^(mpi|mpiio|hdf5|pnetcdf)_")
      continue()
    endif()
    add_executable(prog_${name} ${source})
    set_target_properties(prog_${name} PROPERTIES OUTPUT_NAME ${name}
      RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/prog POSITION_INDEPENDENT_CODE OFF)
    target_compile_definitions(prog_${name} PRIVATE _GNU_SOURCE)
    target_compile_options(prog_${name} PRIVATE -Wall -Wextra -Wno-unused-parameter)
    target_include_directories(prog_${name} PRIVATE ${scribe_tests_dir}/prog ${PROJECT_SOURCE_DIR})
    file(STRINGS ${source} link REGEX "link: " LIMIT_COUNT 1)
    if(link)
      string(REGEX REPLACE ".*link: ([a-z0-9_ ]*).*" "\\1" libs "${link}")
      separate_arguments(libs)
      foreach(lib ${libs})
        if(lib STREQUAL static)
          target_link_options(prog_${name} PRIVATE -static)
        else()
          target_link_libraries(prog_${name} PRIVATE ${lib})
        endif()
      endforeach()
    endif()
    target_link_libraries(prog_${name} PRIVATE Threads::Threads)
  endforeach()
  find_program(SCRIBE_GO go)
  file(GLOB go_sources CONFIGURE_DEPENDS ${scribe_tests_dir}/prog/*.go)
  if(NOT SCRIBE_GO)
    message(WARNING "tests: no go: the Go workload will fail (scripts/install-deps)")
    return()
  endif()
  set(go_arch)
  if(CMAKE_CROSSCOMPILING AND CMAKE_SYSTEM_PROCESSOR STREQUAL aarch64)
    set(go_arch GOARCH=arm64)
  endif()
  foreach(source ${go_sources})
    get_filename_component(name ${source} NAME_WE)
    set(out ${PROJECT_BINARY_DIR}/tests/prog/${name})
    add_custom_command(OUTPUT ${out} DEPENDS ${source} VERBATIM
      COMMAND ${CMAKE_COMMAND} -E env GOCACHE=${PROJECT_BINARY_DIR}/go-cache CGO_ENABLED=0 GO111MODULE=off
              ${go_arch} ${SCRIBE_GO} build -o ${out} ${source})
    add_custom_target(prog_${name} ALL DEPENDS ${out})
  endforeach()
endfunction()
