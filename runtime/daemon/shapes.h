/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shapes of accesses by their keys, for as long as a job has records with such
 * keys (logfmt/rules/lib_rules.h).
 */
#ifndef RUNTIME_DAEMON_SHAPES_H
#define RUNTIME_DAEMON_SHAPES_H

#include <stdbool.h>
#include <stdint.h>

#include "logfmt/map.h"

struct scribe_shape;
struct scribe_shapes {
	struct scribe_map by_key;
};

/* 0 or -ENOMEM. */
int scribe_shapes_keep(struct scribe_shapes *shapes, int64_t key, const struct scribe_shape *shape);
bool scribe_shapes_find(const struct scribe_shapes *shapes, int64_t key, struct scribe_shape *ret_shape);
void scribe_shapes_clear(struct scribe_shapes *shapes);

#endif
