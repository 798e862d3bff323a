// SPDX-License-Identifier: BSD-3-Clause
/* Excluded top directories, ledgers and the end of jobs. Main thread. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/user/load_private.h"
#include "bpf/user/map_calls.h"

struct scribe_job_entry *scribe_bpf_job(struct scribe_bpf *b, uint32_t index)
{
	return b && index < SCRIBE_JOBS_MAX ? (struct scribe_job_entry *)b->jobs.mem + index : NULL;
}

int scribe_bpf_exclude_top(struct scribe_bpf *b, const char *name, struct scribe_err *err)
{
	char key[32] = "";
	uint32_t one = 1;

	if (strlen(name) >= sizeof(key))
		return scribe_err_set(err, -ENAMETOOLONG, "excluded name \"%s\": longer than 31 bytes", name);
	memcpy(key, name, strlen(name));
	if (scribe_map_update(b->excl_fd, key, &one, BPF_ANY))
		return scribe_err_set(err, -errno, "excluded name \"%s\": %s", name, strerror(errno));
	return 0;
}

void scribe_bpf_include_top(struct scribe_bpf *b, const char *name)
{
	char key[32] = "", next[32];

	if (name) {
		snprintf(key, sizeof(key), "%s", name);
		scribe_map_delete(b->excl_fd, key);
		return;
	}
	while (bpf_map_get_next_key(b->excl_fd, NULL, next) == 0 && scribe_map_delete(b->excl_fd, next) == 0)
		;
}

void scribe_bpf_forget_job(struct scribe_bpf *b, uint32_t index)
{
	struct scribe_ledger *none = calloc(b->possible_cpus, sizeof(*none));

	if (index >= SCRIBE_JOB_ORPHANED) {
		free(none);
		return;
	}
	scribe_bpf_drop_job(b, index);
	if (none)
		scribe_map_update(b->ledger_fd, &index, none, BPF_ANY);
	free(none);
	scribe_job_of(b, index)->recorded = 0;
	scribe_job_of(b, index)->overflowed = 0;
}

int scribe_bpf_ledger(struct scribe_bpf *b, uint32_t job, struct scribe_ledger *ret_ledger)
{
	struct scribe_ledger *percpu = calloc(b->possible_cpus, sizeof(*percpu));
	int ret = 0;

	if (!percpu)
		return -ENOMEM;
	memset(ret_ledger, 0, sizeof(*ret_ledger));
	if (scribe_map_lookup(b->ledger_fd, &job, percpu))
		ret = -errno;
	for (uint32_t cpu = 0; !ret && cpu < b->possible_cpus; cpu++) {
		for (unsigned i = 0; i < SCRIBE_L_COUNT; i++)
			ret_ledger->v[i] += percpu[cpu].v[i];
	}
	free(percpu);
	ret_ledger->v[SCRIBE_L_RECORDED] += scribe_job_of(b, job)->recorded;
	ret_ledger->v[SCRIBE_L_OVERFLOWED] += scribe_job_of(b, job)->overflowed;
	return ret;
}
