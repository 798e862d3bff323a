// SPDX-License-Identifier: BSD-3-Clause
/* Module of a slot's record, and whether it is recorded. */
#include "runtime/daemon/state/record_policy.h"

#include "logfmt/rules/lib_rules.h"

int scribe_library_module(uint32_t kind)
{
	static const int modules[] = {
		[SCRIBE_KIND_STDIO] = SCRIBE_MOD_STDIO,
		[SCRIBE_KIND_MPIIO] = SCRIBE_MOD_MPIIO,
		[SCRIBE_KIND_H5F] = SCRIBE_MOD_H5F,
		[SCRIBE_KIND_H5D] = SCRIBE_MOD_H5D,
		[SCRIBE_KIND_NC_FILE] = SCRIBE_MOD_PNETCDF_FILE,
		[SCRIBE_KIND_NC_VAR] = SCRIBE_MOD_PNETCDF_VAR,
		[SCRIBE_KIND_CUFILE] = SCRIBE_MOD_CUFILE,
	};

	return kind < sizeof(modules) / sizeof(modules[0]) ? modules[kind] : 0;
}

int scribe_drain_module(uint32_t kind)
{
	int module = scribe_library_module(kind);

	return module ? module : SCRIBE_MOD_POSIX;
}

int scribe_trace_module(uint32_t kind)
{
	return kind == SCRIBE_KIND_MPIIO ? SCRIBE_MOD_DXT_MPIIO : SCRIBE_MOD_DXT_POSIX;
}

bool scribe_drain_is_excluded(const struct scribe_process *p, uint32_t kind)
{
	const struct scribe_exclusion_rules *r = &p->job->config.exclusion_rules;

	/* exclusion by name is not checked here: it is a flag of the slot or its name entry */
	if (p->disabled || p->is_excluded || r->modules_off & 1ull << scribe_drain_module(kind))
		return true;
	/* a process outside of MPI worlds is rank 0, as in Darshan */
	return r->n && p->rank && scribe_exclusion_rules_rank_out(r, p->unit->id ? p->rank->rank : 0);
}

bool scribe_slot_is_untraced(const struct scribe_daemon *d, uint32_t index, const struct scribe_slot *slot)
{
	return index < d->slots && d->slot[index].generation == slot->generation && d->slot[index].untraced;
}

struct scribe_records *scribe_drain_records(struct scribe_process *p)
{
	if (p->rank && !p->rank->records)
		p->rank->records = scribe_records_new();
	return p->rank ? p->rank->records : NULL;
}
