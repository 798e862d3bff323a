// SPDX-License-Identifier: BSD-3-Clause
/*
 * What is said of refusals: every cause has its own line, from errno, step, log and
 * facts alone. Bad ones first: those whose errno lies about the cause.
 */
#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "bpf/user/refusal.h"
#include "bpf/user/verifier_log.h"

#define ALL_CAPS       ((1ull << 41) - 1)
#define WITHOUT(cap)   (ALL_CAPS & ~(1ull << (cap)))
#define WITHOUT2(a, b) (WITHOUT(a) & ~(1ull << (b)))

/* What libbpf prints around the words of the verifier. */
#define SPOKE(prog, words) \
	"libbpf: prog '" prog "': BPF program load failed: Permission denied\n" \
	"libbpf: prog '" prog "': -- BEGIN PROG LOAD LOG --\n" \
	"0: R1=ctx() R10=fp0\n" words "\n" \
	"verification time 8123 usec\nstack depth 32+144\n" \
	"processed 1234 insns (limit 1000000) max_states_per_insn 4 total_states 90 peak_states 9 " \
	"mark_read 3\n" \
	"-- END PROG LOAD LOG --\n" \
	"libbpf: prog '" prog "': failed to load: -13\nlibbpf: failed to load object 'scribe_posix'\n"
#define NO_MAP(map, why) \
	"libbpf: Error in bpf_create_map_xattr(" map "):" why ". Retrying without BTF.\n" \
	"libbpf: map '" map "': failed to create: " why "\nlibbpf: failed to load object 'scribe_posix'\n"
#define NO_PROG(prog) \
	"libbpf: prog '" prog "': BPF program load failed: Operation not permitted\n" \
	"libbpf: prog '" prog "': failed to load: -1\nlibbpf: failed to load object 'scribe_posix'\n"

/* a case's own fact stands behind those of MACHINE */
#pragma GCC diagnostic ignored "-Woverride-init"

/* A machine on which nothing stands in the way; a case says what is otherwise. */
#define MACHINE \
	.release = "6.12.9", .major = 6, .minor = 12, .caps = ALL_CAPS, .bpf_errno = EINVAL, .perf_errno = ENOENT, \
	.nofile = 1024, .tracefs = true, .paranoid = 2, .memory_limit = UINT64_MAX, .space = UINT64_MAX
#define OLD(name, a, b) .release = name, .major = a, .minor = b

static const struct row {
	struct scribe_refusal r;
	struct scribe_machine m;
	const char *cause, *line;
} rows[] = {
	/* EACCES and EPERM that are no matter of privileges */
	{{-EACCES, SCRIBE_STEP_LOAD, NULL,
	  SPOKE("scribe_sys_exit", "combined stack size of 6 calls is 544. Too large")},
	 {MACHINE, OLD("6.1.0-50-amd64", 6, 1)},
	 "verifier",
	 "program scribe_sys_exit: the verifier of Linux 6.1.0-50-amd64 refuses it: combined stack size of 6 "
	 "calls is 544. Too large (not a matter of privileges; ioscribe doctor --features shows which ways "
	 "are left)"},
	{{-EACCES, SCRIBE_STEP_PROBE_MULTI, NULL,
	  SPOKE("scribe_lib", "R2 unbounded memory access, use 'var &= const' or 'if (var < const)'")},
	 {MACHINE, OLD("6.1.0", 6, 1)},
	 "verifier",
	 "program scribe_lib: the verifier of Linux 6.1.0 refuses it: R2 unbounded memory access, use 'var "
	 "&= "
	 "const' or 'if (var < const)' (not a matter of privileges; ioscribe doctor --features shows which "
	 "ways are left)"},
	{{-EPERM, SCRIBE_STEP_LOAD, NULL, NO_PROG("scribe_sys_exit")},
	 {MACHINE, .filtered = true, .bpf_errno = EPERM},
	 "seccomp",
	 "program scribe_sys_exit: a seccomp filter forbids the system call bpf here: allow it (container: "
	 "--security-opt seccomp=FILE)"},
	{{-ENOSYS, SCRIBE_STEP_LOAD, NULL, ""},
	 {MACHINE, .filtered = true, .bpf_errno = ENOSYS},
	 "seccomp",
	 "loading the programs: a seccomp filter forbids the system call bpf here: allow it (container: "
	 "--security-opt seccomp=FILE)"},
	{{-EACCES, SCRIBE_STEP_PROBE_PERF, "libmpi.so.12", ""},
	 {MACHINE, .filtered = true, .perf_errno = EACCES},
	 "seccomp",
	 "libmpi.so.12: a seccomp filter forbids the system call perf_event_open here: allow it (container: "
	 "--security-opt seccomp=FILE)"},
	{{-EPERM, SCRIBE_STEP_LOAD, NULL, NO_MAP("scribe_excl", "Operation not permitted(-1)")},
	 {MACHINE, .user_ns = true, .filtered = true},
	 "capability",
	 "map scribe_excl: not possible in a user namespace (a rootless container, unshare -U), whatever "
	 "capabilities it shows: trace from outside, as the machine's root"},
	{{-EPERM, SCRIBE_STEP_LOAD, NULL, NO_PROG("scribe_sys_exit")},
	 {MACHINE, .confidential = true},
	 "lockdown",
	 "program scribe_sys_exit: lockdown of the kernel is at confidentiality, which forbids reading its "
	 "memory: boot with lockdown=integrity or none"},
	{{-EINVAL, SCRIBE_STEP_LOAD, NULL, SPOKE("scribe_sys_exit", "unknown func bpf_probe_read_kernel#113")},
	 {MACHINE, .confidential = true},
	 "lockdown",
	 "program scribe_sys_exit: lockdown of the kernel is at confidentiality, which forbids reading its "
	 "memory: boot with lockdown=integrity or none"},
	{{-EPERM, SCRIBE_STEP_LOAD, NULL, NO_PROG("scribe_sys_exit")},
	 {MACHINE},
	 "unknown",
	 "program scribe_sys_exit: Operation not permitted: Linux 6.12.9 does not take it: libbpf: prog "
	 "'scribe_sys_exit': BPF program load failed: Operation not permitted"},
	{{-EPERM, SCRIBE_STEP_LOAD, NULL, NO_PROG("scribe_sys_exit")},
	 {MACHINE},
	 "unknown",
	 "program scribe_sys_exit: Operation not permitted: Linux 6.12.9 does not take it: libbpf: prog "
	 "'scribe_sys_exit': BPF program load failed: Operation not permitted"},
	/* EINVAL and ESRCH that mean something else */
	{{-EINVAL, SCRIBE_STEP_LOAD, NULL,
	  SPOKE("scribe_sys_enter", "BPF map 'scribe_p.rodata' is referenced but wasn't created")},
	 {MACHINE, .nofile = 30},
	 "open files",
	 "program scribe_sys_enter: the limit of open files is 30 here (ulimit -n): raise it to 256 or more"},
	{{-EINVAL, SCRIBE_STEP_LOAD, NULL, SPOKE("scribe_sys_exit", "unknown func bpf_loop#181")},
	 {MACHINE, OLD("5.15.0", 5, 15)},
	 "verifier",
	 "program scribe_sys_exit: the verifier of Linux 5.15.0 refuses it: unknown func bpf_loop#181: 6.1 "
	 "or "
	 "newer is needed (not a matter of privileges; ioscribe doctor --features shows which ways are "
	 "left)"},
	{{-EINVAL, SCRIBE_STEP_LOAD, NULL, SPOKE("scribe_sys_exit", "invalid func unknown#195896080")},
	 {MACHINE},
	 "verifier",
	 "program scribe_sys_exit: the verifier of Linux 6.12.9 refuses it: invalid func unknown#195896080 "
	 "(not a matter of privileges; ioscribe doctor --features shows which ways are left)"},
	{{-ESRCH, SCRIBE_STEP_LOAD, NULL,
	  "libbpf: extern (func ksym) 'bpf_rdonly_cast': not found in kernel or module BTFs\n"
	  "libbpf: failed to load object 'scribe_posix'\n"},
	 {MACHINE, OLD("6.1.0", 6, 1)},
	 "unknown",
	 "loading the programs: No such process: Linux 6.1.0 does not take it: libbpf: extern (func ksym) "
	 "'bpf_rdonly_cast': not found in kernel or module BTFs"},
	{{-ESRCH, SCRIBE_STEP_LOAD, NULL,
	  "libbpf: prog 'scribe_uring_sub': failed to find kernel BTF type ID of 'io_uring_submit_req': "
	  "-3\n"},
	 {MACHINE},
	 "unknown",
	 "program scribe_uring_sub: No such process: Linux 6.12.9 does not take it: libbpf: prog "
	 "'scribe_uring_sub': failed to find kernel BTF type ID of 'io_uring_submit_req': -3"},
	{{-ESRCH, SCRIBE_STEP_LOAD, NULL,
	  "libbpf: failed to find valid kernel BTF\nlibbpf: Error loading vmlinux BTF: -3\n"},
	 {MACHINE, .types_errno = ENOENT},
	 "types",
	 "/sys/kernel/btf/vmlinux: Linux 6.12.9 offers no types (BTF) here: use a kernel built with "
	 "CONFIG_DEBUG_INFO_BTF, and give a container the machine's /sys (read-only is enough)"},
	{{-ENOENT, SCRIBE_STEP_TYPES, NULL, ""},
	 {MACHINE, .types_errno = ENOENT},
	 "types",
	 "/sys/kernel/btf/vmlinux: Linux 6.12.9 offers no types (BTF) here: use a kernel built with "
	 "CONFIG_DEBUG_INFO_BTF, and give a container the machine's /sys (read-only is enough)"},
	{{-EACCES, SCRIBE_STEP_TYPES, NULL, ""},
	 {MACHINE, .types_errno = EACCES},
	 "types",
	 "/sys/kernel/btf/vmlinux: the kernel's types (BTF) may not be read: a rule of this system or "
	 "container forbids it: allow reading that file"},
	{{-EINVAL, SCRIBE_STEP_LOAD, NULL,
	  "libbpf: prog 'scribe_sys_exit': BPF program load failed: Invalid argument\n"},
	 {MACHINE, OLD("4.18.0-553.el8", 4, 18)},
	 "unknown",
	 "program scribe_sys_exit: Invalid argument: Linux 4.18.0-553.el8 does not take it: libbpf: prog "
	 "'scribe_sys_exit': BPF program load failed: Invalid argument: 6.1 or newer is needed"},
	{{-EACCES, SCRIBE_STEP_LOAD, NULL, SPOKE("scribe_sys_exit", "R0 invalid mem access 'inv'")},
	 {MACHINE, OLD("5.10.0", 5, 10)},
	 "verifier",
	 "program scribe_sys_exit: the verifier of Linux 5.10.0 refuses it: R0 invalid mem access 'inv': 6.1 "
	 "or newer is needed (not a matter of privileges; ioscribe doctor --features shows which ways are "
	 "left)"},
	{{-EINVAL, SCRIBE_STEP_PROBE_MULTI, "libmpi.so.12", ""},
	 {MACHINE, OLD("6.1.0", 6, 1)},
	 "unknown",
	 "libmpi.so.12: Invalid argument: Linux 6.1.0 does not take it"},
	{{-ENOSYS, SCRIBE_STEP_LOAD, NULL, ""},
	 {MACHINE},
	 "unknown",
	 "loading the programs: Function not implemented: Linux 6.12.9 does not take it"},
	{{-ETIMEDOUT, SCRIBE_STEP_PROBE_MULTI, "libhdf5.so.103", ""},
	 {MACHINE},
	 "time",
	 "libhdf5.so.103: the kernel has not done it in time: the machine is busy, or memory of a process "
	 "that maps "
	 "the file is locked"},
	/* limits */
	{{-EMFILE, SCRIBE_STEP_LOAD, NULL, NO_MAP("scribe_descs", "Too many open files(-24)")},
	 {MACHINE, .nofile = 12},
	 "open files",
	 "map scribe_descs: the limit of open files is 12 here (ulimit -n): raise it to 256 or more"},
	{{-ENFILE, SCRIBE_STEP_LOAD, NULL, ""},
	 {MACHINE},
	 "open files",
	 "loading the programs: the machine's limit of open files is reached: raise the sysctl fs.file-max"},
	{{-ENOMEM, SCRIBE_STEP_LOAD, NULL, NO_MAP("scribe_slots", "Cannot allocate memory(-12)")},
	 {MACHINE, .memory_limit = 64u << 20, .memory_group = "/job"},
	 "memory",
	 "map scribe_slots: no memory: the control group /job may have 64 MiB, and the records count there: "
	 "raise that, or ask for fewer (--records, or records= of the service)"},
	{{-ENOMEM, SCRIBE_STEP_MEMORY, NULL, ""},
	 {MACHINE, .space = 60u << 20},
	 "memory",
	 "mapping the records: no memory: the limit of address space is 60 MiB here (ulimit -v), and the "
	 "records are mapped: raise it"},
	{{-ENOMEM, SCRIBE_STEP_MEMORY, NULL, ""},
	 {MACHINE},
	 "memory",
	 "mapping the records: no memory in the kernel: ask for fewer records (--records, or records= of the "
	 "service)"},
	/* privileges that are missing */
	{{-EPERM, SCRIBE_STEP_LOAD, NULL, NO_MAP("scribe_excl", "Operation not permitted(-1)")},
	 {MACHINE, .uid = 1000, .caps = 0},
	 "capability",
	 "map scribe_excl: not permitted for user 1000 without CAP_BPF and CAP_PERFMON: run as root (sudo), "
	 "or add both (container: --cap-add)"},
	{{-EPERM, SCRIBE_STEP_LOAD, NULL, NO_MAP("scribe_excl", "Operation not permitted(-1)")},
	 {MACHINE, .caps = WITHOUT2(SCRIBE_CAP_BPF, SCRIBE_CAP_SYS_ADMIN)},
	 "capability",
	 "map scribe_excl: not permitted for user 0 without CAP_BPF: run as root (sudo), or add it "
	 "(container: --cap-add)"},
	{{-EPERM, SCRIBE_STEP_LOAD, NULL, NO_PROG("scribe_sys_exit")},
	 {MACHINE, .caps = WITHOUT2(SCRIBE_CAP_PERFMON, SCRIBE_CAP_SYS_ADMIN)},
	 "capability",
	 "program scribe_sys_exit: not permitted for user 0 without CAP_PERFMON: run as root (sudo), or add "
	 "it (container: --cap-add)"},
	{{-EPERM, SCRIBE_STEP_LOAD, NULL, NO_PROG("scribe_sys_exit")},
	 {MACHINE, .caps = WITHOUT2(SCRIBE_CAP_PERFMON, SCRIBE_CAP_SYS_ADMIN) & ~(1ull << SCRIBE_CAP_BPF)},
	 "capability",
	 "program scribe_sys_exit: not permitted for user 0 without CAP_BPF and CAP_PERFMON: run as root "
	 "(sudo), or add both (container: --cap-add)"},
	{{-EPERM, SCRIBE_STEP_LOAD, NULL, NO_PROG("scribe_sys_exit")},
	 {MACHINE, .caps = 0, .filtered = true, .bpf_errno = EPERM},
	 "capability",
	 "program scribe_sys_exit: not permitted for user 0 without CAP_BPF and CAP_PERFMON: run as root "
	 "(sudo), or add both (container: --cap-add)"},
	{{-EPERM, SCRIBE_STEP_ATTACH, "scribe_sys_exit", ""},
	 {MACHINE, .caps = WITHOUT2(SCRIBE_CAP_PERFMON, SCRIBE_CAP_SYS_ADMIN)},
	 "capability",
	 "attaching scribe_sys_exit: not permitted for user 0 without CAP_PERFMON: run as root (sudo), or "
	 "add "
	 "it (container: --cap-add)"},
	{{-EACCES, SCRIBE_STEP_PROBE_PERF, "libmpi.so.12", ""},
	 {MACHINE, .caps = WITHOUT(SCRIBE_CAP_SYS_ADMIN), .paranoid = 3},
	 "perf events",
	 "libmpi.so.12: perf_event_open is refused: kernel.perf_event_paranoid is 3 and CAP_SYS_ADMIN is "
	 "missing: sysctl kernel.perf_event_paranoid=2"},
	{{-EACCES, SCRIBE_STEP_PROBE_PERF, "libmpi.so.12", ""},
	 {MACHINE, .caps = WITHOUT(SCRIBE_CAP_SYS_ADMIN), .paranoid = 3, .filtered = true, .perf_errno = EACCES},
	 "perf events",
	 "libmpi.so.12: perf_event_open is refused: kernel.perf_event_paranoid is 3 and CAP_SYS_ADMIN is "
	 "missing: sysctl kernel.perf_event_paranoid=2"},
	{{-EACCES, SCRIBE_STEP_PROBE_PERF, "libmpi.so.12", ""},
	 {MACHINE, .caps = WITHOUT(SCRIBE_CAP_SYS_ADMIN)},
	 "perf events",
	 "libmpi.so.12: perf_event_open is refused: kernel.perf_event_paranoid is 2 and CAP_SYS_ADMIN is "
	 "missing: sysctl kernel.perf_event_paranoid=2"},
	{{-ENOENT, SCRIBE_STEP_EVENT, "bpf_attach_mode = tracepoint", ""},
	 {MACHINE, .tracefs = false},
	 "perf events",
	 "bpf_attach_mode = tracepoint: there are no trace events here: mount -t tracefs tracefs "
	 "/sys/kernel/tracing"},
	{{-EPERM, SCRIBE_STEP_EVENT, "bpf_attach_mode = tracepoint", ""},
	 {MACHINE, .filtered = true, .perf_errno = EPERM},
	 "seccomp",
	 "bpf_attach_mode = tracepoint: a seccomp filter forbids the system call perf_event_open here: allow "
	 "it (container: --security-opt seccomp=FILE)"},
};

static void every_cause_has_its_line(void **state)
{
	unsigned wrong = 0;
	char line[512];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *cause = scribe_refusal_line(&rows[i].r, &rows[i].m, line, sizeof(line));

		if (strcmp(cause, rows[i].cause) || strcmp(line, rows[i].line) || strchr(line, '\n')) {
			print_error("row %zu: %s: %s\nexpected: %s: %s\n", i, cause, line, rows[i].cause, rows[i].line);
			wrong++;
		}
	}
	assert_int_equal(wrong, 0);
}

/* No line but that of privileges asks for privileges, and no cause is out of the table's reach. */
static void only_privileges_ask_for_root(void **state)
{
	char line[512];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *cause = scribe_refusal_line(&rows[i].r, &rows[i].m, line, sizeof(line));

		if (strcmp(cause, "capability"))
			assert_null(strstr(line, "root"));
	}
}

/* Whatever errno, step and machine: there is a line, it ends, it names the place. */
static void any_code_has_a_line(void **state)
{
	const struct scribe_machine m = {MACHINE};
	char line[64];

	(void)state;
	for (int code = -4100; code < 0; code++)
		for (int step = SCRIBE_STEP_TYPES; step <= SCRIBE_STEP_PROBE_PERF; step++) {
			const struct scribe_refusal r = {code, (enum scribe_load_step)step, "it", NULL};

			memset(line, 'x', sizeof(line));
			assert_non_null(scribe_refusal_line(&r, &m, line, sizeof(line)));
			assert_non_null(memchr(line, 0, sizeof(line)));
			assert_true(strlen(line) > 8);
		}
}

/* The end of a log whose beginning was dropped, and one that holds no words. */
static void verdicts(void **state)
{
	static const struct {
		const char *log, *words;
	} table[] = {
		{"", ""},
		{"libbpf: prog 'x': failed to load: -1\n", ""},
		{"-- BEGIN PROG LOAD LOG --\n-- END PROG LOAD LOG --\n", ""},
		{"-- BEGIN PROG LOAD LOG --\nprocessed 0 insns (limit 1000000)\n-- END PROG LOAD LOG --\n", ""},
		{"-- END PROG LOAD LOG --\n", ""},
		{"f=scalar()\nback-edge from insn 4 to 2\nprocessed 5 insns\n-- END PROG LOAD LOG --\n",
		 "back-edge from insn 4 to 2"},
		{SPOKE("a", "first") SPOKE("b", "second"), "second"},
	};
	char words[256];

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		scribe_verdict(table[i].log, words, sizeof(words));
		assert_string_equal(words, table[i].words);
	}
}

/* This machine's own facts are read, whoever we are. */
static void facts(void **state)
{
	struct scribe_machine m;

	(void)state;
	scribe_machine_read(&m);
	assert_true(m.major >= 4);
	assert_false(m.no_proc);
	assert_true(m.nofile > 0);
	assert_true(m.memory_limit > 0);
	assert_int_equal(m.bpf_errno == 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_cause_has_its_line),
		cmocka_unit_test(only_privileges_ask_for_root),
		cmocka_unit_test(any_code_has_a_line),
		cmocka_unit_test(verdicts),
		cmocka_unit_test(facts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
