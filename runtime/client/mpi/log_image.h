/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank's records from the daemon: an uncompressed log. The logfmt reader would bring decompressors into every
 * preloaded program.
 */
#ifndef RUNTIME_CLIENT_MPI_LOG_IMAGE_H
#define RUNTIME_CLIENT_MPI_LOG_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "logfmt/counters/module.h"
#include "logfmt/counters/records.h"

struct scribe_log_image {
	char *map; /* NULL: none */
	size_t bytes;
	const struct scribe_log_header *header;
	struct scribe_log_job job;
	const char *exe; /* command line and mounts, NUL-terminated */
	size_t exe_bytes;
};

struct scribe_log_image_module {
	const struct scribe_module *module; /* NULL: unknown module */
	char *records;                      /* writable, in a private mapping */
	size_t bytes;
	size_t n; /* 0 for modules of variable or unknown layout */
};

/* Always closes `fd`. 0 or -errno. */
int scribe_log_image_open(struct scribe_log_image *ret_image, int fd, uint64_t bytes);
void scribe_log_image_close(struct scribe_log_image *image);

/* False: not in the image. */
bool scribe_log_image_module(const struct scribe_log_image *image, int id, struct scribe_log_image_module *ret_m);

/* *at is 0 at first. False: end. */
bool scribe_log_image_name(const struct scribe_log_image *image, size_t *at, uint64_t *ret_id, const char **ret_name,
			   size_t *ret_len);

/* CLOCK_REALTIME. */
int64_t scribe_log_image_start_ns(const struct scribe_log_image *image);
int64_t scribe_log_image_end_ns(const struct scribe_log_image *image);

/* To a base `later_ns` earlier; times of 0 (never) stay 0. */
void scribe_log_image_rebase(const struct scribe_log_image_module *m, int64_t later_ns);

#endif
