/* SPDX-License-Identifier: BSD-3-Clause */
/* Shapes by key. Must not know of slots or logs. */
#include "runtime/daemon/shapes.h"

#include <errno.h>
#include <stdlib.h>

#include "logfmt/rules/lib_rules.h"

int scribe_shapes_keep(struct scribe_shapes *shapes, int64_t key, const struct scribe_shape *shape)
{
	struct scribe_shape *copy = malloc(sizeof(*copy));

	if (!copy)
		return -ENOMEM;
	*copy = *shape;
	free(scribe_map_take(&shapes->by_key, (uint64_t)key));
	if (scribe_map_put(&shapes->by_key, (uint64_t)key, copy) < 0) {
		free(copy);
		return -ENOMEM;
	}
	return 0;
}

bool scribe_shapes_find(const struct scribe_shapes *shapes, int64_t key, struct scribe_shape *ret_shape)
{
	const struct scribe_shape *s = scribe_map_get(&shapes->by_key, (uint64_t)key);

	if (s)
		*ret_shape = *s;
	return s != NULL;
}

void scribe_shapes_clear(struct scribe_shapes *shapes)
{
	for (size_t i = 0; i < shapes->by_key.places; i++)
		free(shapes->by_key.place[i].value);
	scribe_map_clear(&shapes->by_key);
}
