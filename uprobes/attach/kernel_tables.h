/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernel's tables of open handles and of shapes, which would fill in a service
 * that is never idle. Descriptors are borrowed. Out of memory: nothing is taken out.
 */
#ifndef UPROBES_ATTACH_KERNEL_TABLES_H
#define UPROBES_ATTACH_KERNEL_TABLES_H

#include <stdbool.h>
#include <stdint.h>

struct scribe_access_pattern;

/*
 * Forget the open handles (a table by struct scribe_handle_key) of processes that are
 * no longer `alive`, which is first asked when all have been read.
 */
void scribe_tables_sweep(int table_fd, bool (*alive)(void *ctx, uint32_t proc_id), void *ctx);
/*
 * When the table of shapes is half full: hand all of them to `take`, then empty it.
 * A shape that is met again is put into it again.
 */
void scribe_tables_move_shapes(int shapes_fd,
			       void (*take)(void *ctx, int64_t key, const struct scribe_access_pattern *pattern),
			       void *ctx);

#endif
