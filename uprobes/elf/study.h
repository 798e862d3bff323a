/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is to be known of a file to probe it, in a fixed size: read by a process that may
 * die of it (study), taken by the one that attaches (check, plan). An answer is believed
 * for that file alone, and only as far as it can do no more than waste probes there.
 */
#ifndef UPROBES_ELF_STUDY_H
#define UPROBES_ELF_STUDY_H

#include <stdbool.h>
#include <stdint.h>

#include "uprobes/elf/library_offsets.h"
#include "uprobes/elf/sites.h"

#define SCRIBE_LIBRARIES_A_FILE 4
#define SCRIBE_STUDY_PLACES     1536u
#define SCRIBE_STUDY_CODE       16u

struct scribe_studied_place {
	uint64_t vaddr, offset, semaphore; /* as struct scribe_planned */
	uint16_t row;                      /* of the library's table */
	uint8_t library;                   /* of those in the file */
	uint8_t emulated;
	uint8_t reg[SCRIBE_SITE_ARGS];
};

struct scribe_study {
	uint64_t bias; /* as scribe_elf_code_bias */
	uint32_t nlibraries, ncode, nplaces;
	uint32_t program; /* 1: it is executed, not loaded by others: what it holds are its own functions */
	struct {
		uint32_t which; /* of scribe_libraries */
		uint32_t whole; /* all of its places are here */
		struct scribe_library_offsets image;
		struct scribe_init_state init_state;
	} library[SCRIBE_LIBRARIES_A_FILE];
	struct {
		uint64_t offset, bytes;
	} code[SCRIBE_STUDY_CODE]; /* executable pieces of the file */
	struct scribe_studied_place site[SCRIBE_STUDY_PLACES];
};

/*
 * Read an open file. Has the places in the page cache, too.
 * -ENOEXEC: no ELF file of this machine. May be slow, and may die of SIGBUS, where
 * somebody changes the file meanwhile.
 */
int scribe_study_file(int fd, struct scribe_study *ret_study);
/* Is the answer about a file of so many bytes one that can be? */
bool scribe_study_check(const struct scribe_study *s, uint64_t file_bytes);
/* The places of one of its libraries. 0 or -ENOMEM. The answer has been checked. */
int scribe_study_plan(const struct scribe_study *s, unsigned library, struct scribe_plan *ret_plan);

#endif
