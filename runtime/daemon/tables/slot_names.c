// SPDX-License-Identifier: BSD-3-Clause
/* Names by slot index. The job's name table owns the entries. A name is valid for one generation. */
#include "runtime/daemon/tables/slot_names.h"
#include "runtime/daemon/lookup/exclusion_check.h"
#include "runtime/daemon/model/standard_streams.h"
#include "runtime/daemon/state/record_policy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool scribe_slot_room(struct scribe_daemon *d, uint32_t index)
{
	struct scribe_slot_name *more;

	if (index < d->slots)
		return true;
	/* the kernel may add slots at run time */
	if (!scribe_bpf_slot(d->bpf, index))
		return false;
	more = realloc(d->slot, ((size_t)index + 1) * sizeof(*more));
	if (!more)
		return false;
	memset(more + d->slots, 0, ((size_t)index + 1 - d->slots) * sizeof(*more));
	d->slot = more;
	d->slots = index + 1;
	return true;
}

struct scribe_name_entry *scribe_slot_name_entry(const struct scribe_daemon *d, uint32_t slot, uint32_t generation)
{
	return slot < d->slots && d->slot[slot].generation == generation ? d->slot[slot].name : NULL;
}

void scribe_slot_name_set(struct scribe_daemon *d, struct scribe_job *job, uint32_t index, uint32_t generation,
			  struct scribe_name_entry *name)
{
	if (!scribe_slot_room(d, index))
		return;
	name->excluded = !strcmp(name->text, SCRIBE_FURTHER_EXCLUDED) ||
			 scribe_exclusions_match(&job->config.paths, name->text, name->bytes);
	d->slot[index] = (struct scribe_slot_name){
		.generation = generation,
		.job = job->index,
		.name = name,
		/* a name that is sent again */
		.calls_seen = d->slot[index].generation == generation ? d->slot[index].calls_seen : 0};
	if (!name->excluded)
		scribe_exclusion_check_name(job, index, generation, name);
}

struct scribe_name_entry *scribe_slot_overflow_name(struct scribe_job *job, const struct scribe_process *p)
{
	char text[64];

	snprintf(text, sizeof(text), SCRIBE_OVERFLOWED "%d>", p->tgid);
	return scribe_name_table_intern(&job->names, text, strlen(text));
}

struct scribe_name_entry *scribe_slot_synthetic_name(struct scribe_job *job, const struct scribe_process *p,
						     const struct scribe_slot *slot)
{
	char text[96];

	if (slot->kind == SCRIBE_KIND_CATCHALL)
		return scribe_slot_overflow_name(job, p);
	snprintf(text, sizeof(text), "<unnamed:%u:%u:%llu>", slot->dev >> 20, slot->dev & 0xfffff,
		 (unsigned long long)slot->ino);
	return scribe_name_table_intern(&job->names, text, strlen(text));
}

struct scribe_name_entry *scribe_slot_traced_name(struct scribe_daemon *d, const struct scribe_process *p,
						  uint32_t index, const struct scribe_slot *slot)
{
	struct scribe_name_entry *name = scribe_slot_name_entry(d, index, slot->generation);

	if (slot->flags & SCRIBE_SF_EXCLUDED || (name && name->excluded) || scribe_drain_is_excluded(p, slot->kind))
		return NULL;
	return name && slot->kind != SCRIBE_KIND_CATCHALL ? name : scribe_slot_synthetic_name(p->job, p, slot);
}

struct scribe_name_entry *scribe_counter_name_entry(struct scribe_daemon *d, const struct scribe_process *p,
						    uint32_t slot, uint32_t generation)
{
	const char *name =
		slot || generation - 1 >= SCRIBE_STANDARD_STREAMS ? NULL : scribe_standard_stream[generation - 1];

	return name ? scribe_name_table_intern(&p->job->names, name, strlen(name))
		    : scribe_slot_name_entry(d, slot, generation);
}
