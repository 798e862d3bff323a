/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Joining a job at exec: searches the watch table by user and cgroups upwards; only after a match the new
 * environment is read.
 */
#ifndef BPF_KERN_ENROLL_BPF_H
#define BPF_KERN_ENROLL_BPF_H

#include "bpf/kern/io_uring.bpf.h"

#define SCRIBE_ENV_PIECE    4096u /* bytes */
#define SCRIBE_ENV_STRINGS  8     /* per call */
#define SCRIBE_ENV_ROUNDS   256   /* calls */
#define SCRIBE_ENV_TURNS    512   /* rounds: a million strings, more than fit in 2 MiB */
#define SCRIBE_CGROUP_DEPTH 32
#define SCRIBE_PARENTS      64
#define SCRIBE_TICK_NS      10000000ull /* of /proc/PID/stat */

enum scribe_env_seen {
	SCRIBE_SEEN_ALL = 1u << 0,
	SCRIBE_SEEN_ENABLE = 1u << 1,
	SCRIBE_SEEN_DISABLE = 1u << 2,
	SCRIBE_SEEN_VARIABLE = 1u << 3,
	SCRIBE_SEEN_BROKEN = 1u << 4, /* it could not be read */
};

#define SCRIBE_8(a, b, c, d, e, f, g, h) \
	((__u64)(a) | (__u64)(b) << 8 | (__u64)(c) << 16 | (__u64)(d) << 24 | (__u64)(e) << 32 | (__u64)(f) << 40 | \
	 (__u64)(g) << 48 | (__u64)(h) << 56)

/* `n` includes the NUL. */
static __always_inline bool scribe_env_is_variable(struct scribe_scratch *s, const struct scribe_job_entry *job,
						   __u32 n)
{
	const __u64 *want = (const __u64 *)job->variable, *have = (const __u64 *)s->text;

	if (n != job->variable_bytes + 1)
		return false;
	for (__u32 i = 0; i < SCRIBE_VARIABLE_MAX / 8; i++) {
		__u64 differ = want[i] ^ have[i];

		if ((i + 1) * 8 > n)
			return i * 8 >= n || (differ << (8 - n % 8) * 8) == 0;
		if (differ)
			return false;
	}
	return true;
}

static __always_inline void scribe_env_look(struct scribe_scratch *s, const struct scribe_job_entry *job, __u32 n)
{
	const __u64 *word = (const __u64 *)s->text;

	if (word[0] == SCRIBE_8('I', 'O', 'S', 'C', 'R', 'I', 'B', 'E')) {
		if (n == sizeof("IOSCRIBE_ENABLE=1") && word[1] == SCRIBE_8('_', 'E', 'N', 'A', 'B', 'L', 'E', '=') &&
		    s->text[16] == '1')
			s->env_seen |= SCRIBE_SEEN_ENABLE;
		if (n == sizeof("IOSCRIBE_DISABLE=1") && word[1] == SCRIBE_8('_', 'D', 'I', 'S', 'A', 'B', 'L', 'E') &&
		    s->text[16] == '=' && s->text[17] == '1')
			s->env_seen |= SCRIBE_SEEN_DISABLE;
	}
	if (job->match == SCRIBE_MATCH_ENV && scribe_env_is_variable(s, job, n))
		s->env_seen |= SCRIBE_SEEN_VARIABLE;
}

SCRIBE_GLOBAL int scribe_env_strings(struct scribe_scratch *s)
{
	struct scribe_job_entry *job;

	if (!s)
		return 1;
	job = scribe_job_at(s->env_job);
	if (!job)
		return 1;
	for (int i = 0; i < SCRIBE_ENV_STRINGS; i++) {
		__u64 at = *(volatile __u64 *)&s->env_at;
		long n;

		if (at >= *(volatile __u64 *)&s->env_end)
			return 1;
		n = bpf_probe_read_user_str(s->text, SCRIBE_ENV_PIECE, (void *)at);
		if (n <= 0) {
			s->env_seen |= SCRIBE_SEEN_BROKEN;
			return 1;
		}
		if (!*(volatile __u32 *)&s->env_middle)
			scribe_env_look(s, job, n);
		*(volatile __u32 *)&s->env_middle = n == SCRIBE_ENV_PIECE;
		*(volatile __u64 *)&s->env_at = at + n - (n == SCRIBE_ENV_PIECE);
	}
	return 0;
}

SCRIBE_GLOBAL int scribe_env_rounds(struct scribe_scratch *s)
{
	for (int i = 0; i < SCRIBE_ENV_ROUNDS; i++) {
		if (scribe_env_strings(s))
			return 1;
	}
	return 0;
}

SCRIBE_GLOBAL int scribe_env_search(struct scribe_scratch *s, __u32 job)
{
	struct task_struct *task = bpf_get_current_task_btf();

	if (!s)
		return 0;
	s->env_at = BPF_CORE_READ(task, mm, env_start);
	s->env_end = BPF_CORE_READ(task, mm, env_end);
	s->env_job = job;
	s->env_seen = 0;
	s->env_middle = 0;
	for (int i = 0; i < SCRIBE_ENV_TURNS; i++) {
		if (scribe_env_rounds(s))
			break;
	}
	s->env_seen |= SCRIBE_SEEN_ALL;
	return 0;
}

/* Below process `tgid` that started at `ticks`. */
SCRIBE_GLOBAL int scribe_is_below(__u32 tgid, __u64 ticks)
{
	struct task_struct *task = bpf_get_current_task_btf();

	for (int i = 0; i < SCRIBE_PARENTS; i++) {
		struct task_struct *parent = BPF_CORE_READ(task, group_leader, real_parent);

		if (BPF_CORE_READ(parent, tgid) == (__s32)tgid) {
			__u64 start = BPF_CORE_READ(parent, group_leader, start_boottime);

			return !ticks || start / SCRIBE_TICK_NS == ticks;
		}
		if (BPF_CORE_READ(parent, tgid) <= 1)
			return 0;
		task = parent;
	}
	return 0;
}

/* User ids are mapped in a user namespace: there only the cgroup decides. */
static __always_inline bool scribe_user_suits(struct task_struct *task, const struct scribe_job_entry *job)
{
	if (BPF_CORE_READ(task, cred, uid.val) == job->uid)
		return true;
	if (job->match != SCRIBE_MATCH_CGROUP)
		return false;
	return job->uid == 0 || BPF_CORE_READ(task, cred, user_ns, level) > 0;
}

SCRIBE_GLOBAL int scribe_job_suits(struct scribe_scratch *s, __u32 index, __u32 privileged)
{
	struct scribe_job_entry *job = scribe_job_at(index);

	if (!s || !job || !job->active || job->match == SCRIBE_MATCH_NONE)
		return 0;
	if (privileged && !(job->flags & SCRIBE_JF_SHOW_PRIVILEGED))
		return 0;
	if (!scribe_user_suits(bpf_get_current_task_btf(), job))
		return 0;
	if (job->match == SCRIBE_MATCH_ENV && job->ancestor_pid &&
	    !scribe_is_below(job->ancestor_pid, job->ancestor_ticks))
		return 0;
	if (!s->env_seen || (job->match == SCRIBE_MATCH_ENV && s->env_job != index &&
			     (job->flags & SCRIBE_JF_OPT_OUT || s->env_seen & SCRIBE_SEEN_ENABLE)))
		scribe_env_search(s, index);
	if (s->env_seen & SCRIBE_SEEN_BROKEN)
		scribe_count_job(index, SCRIBE_L_ENV_LOST);
	if (s->env_seen & SCRIBE_SEEN_DISABLE)
		return 0;
	if (!(s->env_seen & SCRIBE_SEEN_ENABLE) && !(job->flags & SCRIBE_JF_OPT_OUT))
		return 0;
	return job->match == SCRIBE_MATCH_CGROUP || (s->env_job == index && s->env_seen & SCRIBE_SEEN_VARIABLE);
}

SCRIBE_GLOBAL __u32 scribe_match_some(const struct scribe_match_entry *w, struct scribe_scratch *s, __u32 first,
				      __u32 privileged)
{
	if (!w || !s)
		return 0;
	for (__u32 i = 0; i < SCRIBE_ROUND; i++) {
		__u32 at = (first + i) & (SCRIBE_JOBS_MAX - 1);

		if (first + i >= w->n)
			break;
		if (scribe_job_suits(s, w->job[at], privileged))
			return w->job[at] + 1;
	}
	return 0;
}

/* Index + 1 of the first job that matches; 0 none. */
SCRIBE_GLOBAL __u32 scribe_match_pick(const struct scribe_match_entry *w, struct scribe_scratch *s, __u32 privileged)
{
	if (!w || !s)
		return 0;
	for (__u32 i = 0; i < SCRIBE_JOBS_MAX / SCRIBE_ROUND; i++) {
		__u32 found = scribe_match_some(w, s, i * SCRIBE_ROUND, privileged);

		if (found || (i + 1) * SCRIBE_ROUND >= w->n)
			return found;
	}
	return 0;
}

/* Own cgroup first; *at is 0 at start and end. */
static __always_inline __u64 scribe_cgroup_up(struct task_struct *task, __u64 *at)
{
	struct cgroup *c;
	__u64 css;

	if (*at) {
		css = (__u64)BPF_CORE_READ((struct cgroup *)*at, self.parent);
		*at = css ? css - bpf_core_field_offset(struct cgroup, self) : 0;
	} else {
		*at = (__u64)BPF_CORE_READ(task, cgroups, dfl_cgrp);
	}
	c = (struct cgroup *)*at;
	return c ? BPF_CORE_READ(c, kn, id) | SCRIBE_WATCH_CGROUP : 0;
}

/* Index + 1; 0 none. */
SCRIBE_GLOBAL __u32 scribe_join_job(__u32 privileged)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct scribe_ctl *ctl = scribe_ctl_get();
	struct scribe_scratch *s;
	__u64 key, cgroup = 0;
	__u32 found = 0;

	if (!ctl || !ctl->watching)
		return 0;
	s = scribe_scratch_take_job(SCRIBE_JOB_ORPHANED);
	if (!s)
		return 0;
	s->env_seen = 0;
	key = BPF_CORE_READ(task, cred, uid.val);
	for (int i = 0; i <= SCRIBE_CGROUP_DEPTH; i++) {
		struct scribe_match_entry *w = bpf_map_lookup_elem(&scribe_match_index, &key);

		if (w)
			found = scribe_match_pick(w, s, privileged);
		if (found || !ctl->watching_cgroups)
			break;
		key = scribe_cgroup_up(task, &cgroup);
		if (!key)
			break;
	}
	scribe_scratch_put(s);
	return found;
}

/*
 * A hidden process is shown again when all its ids are the job user's and it lacks capabilities: its user could then
 * inspect it.
 */
static __always_inline bool scribe_is_plain(struct task_struct *task, __u32 uid)
{
	const struct cred *c = BPF_CORE_READ(task, cred);
	__u64 caps = ~0ull;

	bpf_probe_read_kernel(&caps, sizeof(caps), __builtin_preserve_access_index(&c->cap_permitted));
	return BPF_CORE_READ(c, uid.val) == uid && BPF_CORE_READ(c, euid.val) == uid &&
	       BPF_CORE_READ(c, suid.val) == uid && BPF_CORE_READ(c, egid.val) == BPF_CORE_READ(c, gid.val) &&
	       BPF_CORE_READ(c, sgid.val) == BPF_CORE_READ(c, gid.val) && (caps == 0 || uid == 0);
}

#endif
