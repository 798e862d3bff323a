# SPDX-License-Identifier: BSD-3-Clause
# sbom.spdx.json (SPDX 2.3): what the programs of this build are linked to, or load, by name, version and licence.
find_package(ZLIB QUIET)
find_package(BZip2 QUIET)
find_package(Zydis QUIET)
set(ZYDIS_VERSION ${Zydis_VERSION})
set(ZLIB_VERSION ${ZLIB_VERSION_STRING})
set(BZIP2_VERSION ${BZIP2_VERSION_STRING})

# Prefix of the version's variable, name of the library's file, name, licence.
set(libraries
    "ZLIB libz zlib Zlib" "BZIP2 libbz2 bzip2 bzip2-1.0.6" "LIBDEFLATE libdeflate libdeflate MIT"
    "ZSTD libzstd zstd BSD-3-Clause" "LIBBPF libbpf libbpf LGPL-2.1-only" "LIBELF libelf elfutils LGPL-3.0-or-later"
    "CAPNG libcap-ng libcap-ng LGPL-2.1-or-later" "SECCOMP libseccomp libseccomp LGPL-2.1-only"
    "ZYDIS libZydis zydis MIT" "SQLITE3 libsqlite3 sqlite blessing" "YAJL libyajl yajl ISC" "LIBPQ libpq postgresql PostgreSQL"
    "MICROHTTPD libmicrohttpd libmicrohttpd LGPL-2.1-or-later" "RDKAFKA librdkafka librdkafka BSD-2-Clause"
    "NCURSES libncursesw ncurses X11-distribute-modifications-variant")
set(packages)
set(relations)
foreach(library ${libraries})
  separate_arguments(library)
  list(GET library 0 prefix)
  if(NOT ${prefix}_VERSION)
    continue()
  endif()
  list(GET library 1 file)
  list(GET library 2 name)
  list(GET library 3 licence)
  string(APPEND packages ",
    {\"SPDXID\": \"SPDXRef-${name}\", \"name\": \"${name}\", \"versionInfo\": \"${${prefix}_VERSION}\",
     \"packageFileName\": \"${file}.so\", \"downloadLocation\": \"NOASSERTION\", \"filesAnalyzed\": false,
     \"licenseDeclared\": \"${licence}\", \"licenseConcluded\": \"NOASSERTION\", \"copyrightText\": \"NOASSERTION\"}")
  string(APPEND relations ",
    {\"spdxElementId\": \"SPDXRef-ioscribe\", \"relationshipType\": \"DEPENDS_ON\", \"relatedSpdxElement\": \"SPDXRef-${name}\"}")
endforeach()
file(TIMESTAMP ${PROJECT_SOURCE_DIR}/CHANGELOG.md created "%Y-%m-%dT%H:%M:%SZ" UTC)
file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/sbom.spdx.json @ONLY CONTENT
"{
  \"spdxVersion\": \"SPDX-2.3\", \"dataLicense\": \"CC0-1.0\", \"SPDXID\": \"SPDXRef-DOCUMENT\", \"name\": \"ioscribe-@PROJECT_VERSION@\",
  \"documentNamespace\": \"urn:ioscribe:sbom:@PROJECT_VERSION@:@created@\",
  \"creationInfo\": {\"created\": \"@created@\", \"creators\": [\"Tool: cmake-@CMAKE_VERSION@\"]},
  \"packages\": [
    {\"SPDXID\": \"SPDXRef-ioscribe\", \"name\": \"ioscribe\", \"versionInfo\": \"@PROJECT_VERSION@\", \"downloadLocation\": \"NOASSERTION\",
     \"filesAnalyzed\": false, \"licenseDeclared\": \"BSD-3-Clause AND (BSD-3-Clause OR GPL-2.0-only)\",
     \"licenseConcluded\": \"NOASSERTION\", \"copyrightText\": \"NOASSERTION\"}@packages@
  ],
  \"relationships\": [
    {\"spdxElementId\": \"SPDXRef-DOCUMENT\", \"relationshipType\": \"DESCRIBES\", \"relatedSpdxElement\": \"SPDXRef-ioscribe\"}@relations@
  ]
}
")
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/sbom.spdx.json DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/ioscribe-tools COMPONENT tools)
