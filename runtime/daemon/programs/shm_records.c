// SPDX-License-Identifier: BSD-3-Clause
/*
 * Counts from a program's shared memory, as records of its rank and for live views. The shadow shard is a copy
 * and does not count.
 */
#include "runtime/daemon/programs/shm_records.h"

#include <errno.h>

#include "logfmt/records/posix_finish.h"
#include "runtime/daemon/model/standard_streams.h"
#include "runtime/daemon/tables/heatmaps.h"

int scribe_shm_counters_add(struct scribe_process *p, bool file, uint64_t id, const struct scribe_stream_copy *c,
			    struct scribe_records *records)
{
	const int module = file ? SCRIBE_MOD_MPIIO : SCRIBE_MOD_STDIO;
	struct scribe_file_record *f = scribe_records_at_module(records, module, id);

	for (int i = SCRIBE_SHARD_OWNER; i <= SCRIBE_SHARD_SHARED; i++) {
		const struct scribe_posix_shard *shard = &c->s.shard[i];

		if (!shard->events)
			continue;
		if (!f || scribe_posix_acc_add(&f->acc, shard, file ? &c->more.access[i] : NULL, NULL) < 0 ||
		    (file && scribe_posix_acc_add_ext(&f->acc, &c->more.ext[i]) < 0))
			return -ENOMEM;
		p->totals.operations += shard->events;
		scribe_heatmaps_add(p, module, &c->s.heat[i], scribe_stream_copy_heat(c, i), shard);
		/* standard streams and files end in system calls that count the same bytes */
		if (file || scribe_is_standard_stream(id))
			continue;
		p->totals.bytes_read += shard->bytes[0];
		p->totals.bytes_written += shard->bytes[1];
	}
	return 0;
}

void scribe_shm_counters_sum(const struct scribe_process *p, bool file, uint64_t id, const struct scribe_stream_copy *c,
			     struct scribe_live_record *ret_sum)
{
	struct scribe_live_record sum = {.proc_id = p->proc_id,
					 .module = file ? SCRIBE_MOD_MPIIO : SCRIBE_MOD_STDIO,
					 .name = id,
					 .own = !file && !scribe_is_standard_stream(id)};

	for (int i = SCRIBE_SHARD_OWNER; i <= SCRIBE_SHARD_SHARED; i++) {
		const struct scribe_posix_shard *shard = &c->s.shard[i];

		sum.operations += shard->events;
		for (int op = 0; op < 2; op++) {
			sum.ops[op] += shard->ops[op];
			sum.bytes[op] += shard->bytes[op];
			if (shard->max_ns[op] > sum.longest_ns[op])
				sum.longest_ns[op] = shard->max_ns[op];
		}
		for (int class = 0; class < 3; class ++)
			sum.busy_ns[class] += shard->busy_ns[class];
	}
	*ret_sum = sum;
}
