/* SPDX-License-Identifier: BSD-3-Clause */
/* In fixed size. Trusted for that file only: a wrong result can only waste probes there. */
#ifndef UPROBES_ELF_ANALYSIS_H
#define UPROBES_ELF_ANALYSIS_H

#include <stdbool.h>
#include <stdint.h>

#include "uprobes/elf/library_offsets.h"
#include "uprobes/elf/sites.h"

#define SCRIBE_LIBRARIES_A_FILE 4
#define SCRIBE_STUDY_ADDRESSES  1536u
#define SCRIBE_STUDY_CODE       16u

struct scribe_elf_analysis_probe {
	uint64_t vaddr, offset, semaphore; /* as struct scribe_planned */
	uint16_t row;
	uint8_t library; /* index within the file */
	uint8_t emulated;
	uint8_t reg[SCRIBE_POINT_ARGS];
};

struct scribe_elf_analysis {
	uint64_t bias; /* as scribe_elf_code_bias */
	uint32_t nlibraries, ncode, nplaces;
	uint32_t program; /* 1: a program, so the functions are its own */
	struct {
		uint32_t which; /* of scribe_libraries */
		uint32_t whole; /* all points are listed */
		struct scribe_library_offsets image;
		struct scribe_init_state init_state;
	} library[SCRIBE_LIBRARIES_A_FILE];
	struct {
		uint64_t offset, bytes;
	} code[SCRIBE_STUDY_CODE];
	struct scribe_elf_analysis_probe point[SCRIBE_STUDY_ADDRESSES];
};

/*
 * Also brings the points into the page cache. -ENOEXEC: not an ELF file of this machine. May be slow, or die of
 * SIGBUS if the file shrinks.
 */
int scribe_elf_analyse(int fd, struct scribe_elf_analysis *ret_analysis);
/* Whether the result is possible for a file of this size. */
bool scribe_elf_analysis_check(const struct scribe_elf_analysis *s, uint64_t file_bytes);
/* Of one library, after the check. 0 or -ENOMEM. */
int scribe_elf_analysis_plan(const struct scribe_elf_analysis *s, unsigned library, struct scribe_plan *ret_plan);

#endif
