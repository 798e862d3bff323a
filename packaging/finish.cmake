# SPDX-License-Identifier: BSD-3-Clause
# Run by cpack when all files stand in their folders: manual pages and the changelog are
# compressed, as distributions have them, without names and times.
file(GLOB pages LIST_DIRECTORIES false
     "${CPACK_TEMPORARY_DIRECTORY}/*/usr/share/man/man*/*.[1-8]" "${CPACK_TEMPORARY_DIRECTORY}/usr/share/man/man*/*.[1-8]")
file(GLOB changelogs "${CPACK_TEMPORARY_DIRECTORY}/*/usr/share/doc/ioscribe-*/changelog")
foreach(page ${pages} ${changelogs})
  if(IS_SYMLINK "${page}")
    file(READ_SYMLINK "${page}" to)
    file(REMOVE "${page}")
    file(CREATE_LINK "${to}.gz" "${page}.gz" SYMBOLIC)
  else()
    execute_process(COMMAND gzip -9nf "${page}" COMMAND_ERROR_IS_FATAL ANY)
  endif()
endforeach()
