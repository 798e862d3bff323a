// SPDX-License-Identifier: BSD-3-Clause
/*
 * Whether the kernel preempts programs on tracepoints, and so skips them for other threads on that processor.
 * Since Linux 6.13 this has changed repeatedly, separately for system calls and others (7.1: only others).
 * Tested with a small program. Main thread, at loading. Must not know what our programs do.
 */
#include "bpf/user/levels.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#define PREEMPT_MASK 0xff
#define LEAST_MAJOR  6
#define LEAST_MINOR  13
#define MULTI_MAJOR  6 /* before 6.6 library probes are trace events */
#define MULTI_MINOR  6
#define TAKEN_FOR    7 /* assumed when the test fails: 7.2 preempts, 6.13 to 6.18 do not */

enum { NOT_SEEN, HELD, FREE };

#define INSN(c, d, s, o, i) ((struct bpf_insn){.code = (c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i)})
#define MOV_REG(d, s)       INSN(BPF_ALU64 | BPF_MOV | BPF_X, d, s, 0, 0)
#define MOV_IMM(d, i)       INSN(BPF_ALU64 | BPF_MOV | BPF_K, d, 0, 0, i)
#define CALL(helper)        INSN(BPF_JMP | BPF_CALL, 0, 0, 0, helper)
#define LOAD_64(d, kind, i) INSN(BPF_LD | BPF_DW | BPF_IMM, d, kind, 0, i), INSN(0, 0, 0, 0, 0)

/* Stores HELD or FREE by the processor's preemption count, for this process only. */
static int load(int map, int count_var)
{
	const struct bpf_insn code[] = {
		CALL(BPF_FUNC_get_current_pid_tgid),
		INSN(BPF_ALU64 | BPF_RSH | BPF_K, BPF_REG_0, 0, 0, 32),
		INSN(BPF_JMP | BPF_JNE | BPF_K, BPF_REG_0, 0, 16, (int)getpid()), /* to the end */
		LOAD_64(BPF_REG_1, BPF_PSEUDO_BTF_ID, count_var),
		CALL(BPF_FUNC_this_cpu_ptr),
		INSN(BPF_LDX | BPF_MEM | BPF_W, BPF_REG_6, BPF_REG_0, 0, 0),
		INSN(BPF_ALU64 | BPF_AND | BPF_K, BPF_REG_6, 0, 0, PREEMPT_MASK),
		LOAD_64(BPF_REG_1, BPF_PSEUDO_MAP_FD, map),
		MOV_REG(BPF_REG_2, BPF_REG_10),
		INSN(BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_2, 0, 0, -4),
		INSN(BPF_ST | BPF_MEM | BPF_W, BPF_REG_10, 0, -4, 0),
		CALL(BPF_FUNC_map_lookup_elem),
		INSN(BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_0, 0, 4, 0), /* to the end */
		MOV_IMM(BPF_REG_1, HELD),
		INSN(BPF_JMP | BPF_JNE | BPF_K, BPF_REG_6, 0, 1, 0),
		MOV_IMM(BPF_REG_1, FREE),
		INSN(BPF_STX | BPF_MEM | BPF_W, BPF_REG_0, BPF_REG_1, 0, 0),
		MOV_IMM(BPF_REG_0, 0),
		INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};

	return bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "scribe_preempt", "GPL", code,
			     sizeof(code) / sizeof(code[0]), NULL);
}

static int version(int *ret_minor)
{
	struct utsname u;
	int major = TAKEN_FOR;

	*ret_minor = 0;
	uname(&u);
	(void)sscanf(u.release, "%d.%d", &major, ret_minor);
	return major;
}

/* By version, build and boot parameters; not exact. */
bool scribe_bpf_may_preempt(void)
{
	struct utsname u;
	char text[128] = "";
	int minor, major = version(&minor);
	FILE *f;

	if (major < LEAST_MAJOR || (major == LEAST_MAJOR && minor < LEAST_MINOR))
		return false;
	uname(&u);
	if (!strstr(u.version, "PREEMPT"))
		return false;
	/* Older kernels run tracepoint programs with preemption off. */
	f = fopen("/sys/kernel/debug/sched/preempt", "re");
	if (f && !fgets(text, sizeof(text), f))
		text[0] = 0;
	if (f)
		fclose(f);
	return !strstr(text, "(none)") && !strstr(text, "(voluntary)") && !strstr(u.version, "(none)") &&
	       !strstr(u.version, "(voluntary)");
}

bool scribe_bpf_uses_events(void)
{
	int minor, major = version(&minor);

	return scribe_bpf_may_preempt() || major < MULTI_MAJOR || (major == MULTI_MAJOR && minor < MULTI_MINOR);
}

/* What the program finds at a tracepoint that `cause` triggers. */
static uint32_t seen_at(const char *tracepoint, void (*cause)(void), int prog, int map)
{
	uint32_t zero = 0, seen = NOT_SEEN;
	int link = prog >= 0 ? bpf_raw_tracepoint_open(tracepoint, prog) : -1;

	if (link < 0)
		return NOT_SEEN;
	bpf_map_update_elem(map, &zero, &seen, BPF_ANY);
	cause();
	bpf_map_lookup_elem(map, &zero, &seen);
	close(link);
	return seen;
}

static void call(void)
{
	syscall(SYS_getppid);
}

static void rename_task(void)
{
	char name[16] = "";

	/* only the tracepoint is hit */
	prctl(PR_GET_NAME, name);
	prctl(PR_SET_NAME, name);
}

static bool preempts(uint32_t seen)
{
	int minor;

	/* Not seen, because it could not be loaded or attached: the version decides. */
	return seen == NOT_SEEN ? version(&minor) >= TAKEN_FOR : seen == FREE;
}

struct scribe_preempted scribe_bpf_preempts(const struct btf *btf)
{
	int count_var = btf__find_by_name_kind(btf, "__preempt_count", BTF_KIND_VAR);
	struct scribe_preempted ret = {0};
	int map = -1, prog = -1;

	if (!scribe_bpf_may_preempt())
		return ret;
	/* its address is only known with CONFIG_KALLSYMS_ALL */
	if (count_var > 0)
		map = bpf_map_create(BPF_MAP_TYPE_ARRAY, "scribe_preempt", sizeof(uint32_t), sizeof(uint32_t), 1, NULL);
	if (map >= 0)
		prog = load(map, count_var);
	ret.calls = preempts(seen_at("sys_enter", call, prog, map));
	ret.process_events = preempts(seen_at("task_rename", rename_task, prog, map));
	/* only if needed: closing a trace event waits 20 to 50 ms for all its readers */
	ret.events = ret.process_events && scribe_bpf_level_event(scribe_bpf_level_row(SCRIBE_BPF_TRACEPOINT)) == 0;
	if (prog >= 0)
		close(prog);
	if (map >= 0)
		close(map);
	return ret;
}
