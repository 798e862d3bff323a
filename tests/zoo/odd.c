/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs that take something from themselves, and then go on with their streams: what is
 * made inside them must not need it. The first argument says what; each writes 10,000
 * characters, and prints the sum of what it read back. Exit code 3.
 */
#include <err.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHARS 10000
#define CODE  3

/* What is left of the calls: those of read, write and the end. All others end the program. */
static void filter(int late)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_read, 10, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 9, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 8, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 7, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigreturn, 6, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_close, 5, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_newfstatat, 4, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_brk, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		err(1, "no_new_privs");
	if (late ? syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program)
		 : prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0))
		err(1, "filter");
}

/* A filter that the next program finds: it kills at what an in-process library might want. */
static void filter_exec(char **argv)
{
	static const unsigned killed[] = {SYS_memfd_create, SYS_socket,  SYS_prctl,       SYS_fcntl,
					  SYS_ftruncate,    SYS_madvise, SYS_sched_yield, SYS_clock_gettime};
	struct sock_filter code[2 * sizeof(killed) / sizeof(killed[0]) + 2];
	struct sock_fprog program = {0, code};

	code[program.len++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < sizeof(killed) / sizeof(killed[0]); i++) {
		code[program.len++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, killed[i], 0, 1);
		code[program.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	}
	code[program.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) < 0)
		err(1, "filter");
	execv("/proc/self/exe", argv);
	_exit(1);
}

/* Streams, written and read. `half`: some of it before something is taken away. */
static int some(FILE *out, FILE *in, int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++)
		putc('a' + i % 26, out);
	for (int i = 0; i < n / 2; i++)
		sum += getc(in);
	return sum;
}

static void all_closed(void)
{
	for (int fd = 0; fd < 1024; fd++)
		close(fd);
	FILE *f = fopen("odd.closed", "w"); /* descriptor 0 */

	if (!f || fileno(f) != 0)
		_exit(9);
	some(f, f, 0);
	for (int i = 0; i < CHARS; i++)
		fputc('c', f);
	if (fclose(f) || open("odd.closed", O_RDONLY) != 0)
		_exit(8);
	_exit(CODE);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	static char buffer[3][4096];
	char *volatile first = malloc(1);
	FILE *in, *out;
	int sum = 0;

	free(first); /* the first memory asks for random numbers */
	setvbuf(stdout, buffer[0], _IOFBF, sizeof(buffer[0]));
	if (!strcmp(what, "closed"))
		all_closed();
	if (!strcmp(what, "tsc") && prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0) < 0)
		err(1, "PR_SET_TSC");
	/* of the parent's streams a child has none in its own memory */
	if (!strcmp(what, "tsc-fork")) {
		int status = 0;

		if (prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0) < 0)
			err(1, "PR_SET_TSC");
		if (fork() > 0) {
			wait(&status);
			return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
		}
	}
	if (!strcmp(what, "filter-exec")) {
		argv[1] = "plain";
		filter_exec(argv);
	}
	if (!strcmp(what, "filter-first"))
		filter(0);
	in = fopen("/proc/self/exe", "r");
	out = fopen("odd.out", "w");
	if (!in || !out)
		err(1, "odd.out");
	/* with buffers of their own they ask nothing of the kernel but to read and write */
	setvbuf(in, buffer[1], _IOFBF, sizeof(buffer[1]));
	setvbuf(out, buffer[2], _IOFBF, sizeof(buffer[2]));
	/* a program is sealed with its streams in use, or just opened */
	if (strcmp(what, "strict-unused") != 0)
		sum = some(out, in, CHARS / 2);
	if (!strcmp(what, "strict") || !strcmp(what, "strict-unused"))
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0);
	if (!strncmp(what, "filter", 6) && strcmp(what, "filter-first") != 0)
		filter(1);
	/* what these move is told by the position, for which nobody may ask any more */
	if (!strcmp(what, "filter-format")) {
		int wide = fscanf(in, "%*5c");

		fprintf(out, "%s %d\n", "formatted", wide);
		sum += wide;
	}
	sum += some(out, in, strcmp(what, "strict-unused") ? CHARS / 2 : CHARS);
	printf("%s %d\n", what, sum);
	fflush(out);
	fflush(stdout);
	/* exit_group, and what exit does before, is more than these allow */
	if (!strncmp(what, "strict", 6) || !strncmp(what, "filter", 6))
		syscall(SYS_exit, CODE);
	return CODE;
}
