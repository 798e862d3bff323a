/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The log of the parts of very many nodes: read twice, in batches, by several threads; memory is that of a
 * batch for each thread, of an entry for each id, and of the records that all ranks have. Private to logfmt/.
 */
#ifndef LOGFMT_NODES_MANY_H
#define LOGFMT_NODES_MANY_H

#include "logfmt/nodes/world.h"

/*
 * After scribe_join_look, where no log of the ranks counts. Finished batches stand in WORLD.N.batch: who
 * calls it again with the same parts goes on behind them. scribe_many_clean takes them away.
 */
int scribe_many_join(struct scribe_join *j, const char *to);
void scribe_many_clean(const struct scribe_parts_world *world);

#endif
