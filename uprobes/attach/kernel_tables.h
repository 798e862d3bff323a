/* SPDX-License-Identifier: BSD-3-Clause */
/* Descriptors are borrowed. Without memory nothing is removed. */
#ifndef UPROBES_ATTACH_KERNEL_TABLES_H
#define UPROBES_ATTACH_KERNEL_TABLES_H

#include <stdbool.h>
#include <stdint.h>

struct scribe_access_pattern;

/* Handles (struct scribe_handle_key) of ended processes. `alive` is called after all were read. */
void scribe_tables_sweep(int table_fd, bool (*alive)(void *ctx, uint32_t proc_id), void *ctx);
/* If half full: passes all shapes to `take` and removes them; new uses store them again. */
void scribe_tables_move_shapes(int shapes_fd,
			       void (*take)(void *ctx, int64_t key, const struct scribe_access_pattern *pattern),
			       void *ctx);

#endif
