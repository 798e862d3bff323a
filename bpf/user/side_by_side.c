// SPDX-License-Identifier: BSD-3-Clause
/*
 * Programs are verified in threads: libbpf relocates each and passes it to a handler of its section, which starts a
 * thread, and then loads two instructions in its place. Main thread. Must not know what programs do.
 */
#include "bpf/user/side_by_side.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/user/load_private.h"

struct scribe_verification {
	struct bpf_program *program;
	struct bpf_insn *insns;
	size_t ninsns;
	void *func_info, *line_info;
	struct bpf_prog_load_opts opts;
	pthread_t thread;
	bool has_thread;
	int fd; /* or a negative errno */
};

static void *verify(void *arg)
{
	struct scribe_verification *v = arg;

	v->fd = bpf_prog_load(bpf_program__type(v->program), bpf_program__name(v->program), "Dual BSD/GPL", v->insns,
			      v->ninsns, &v->opts);
	return NULL;
}

static void *copy(const void *from, size_t bytes)
{
	void *to = malloc(bytes + 1);

	if (to && bytes)
		memcpy(to, from, bytes);
	return to;
}

/* libbpf's handlers are of the process, and 1.1 frees their table twice when the last has been removed. */
static struct scribe_side_by_side *current;

/* Copies, because libbpf frees its own. */
static int pass(struct bpf_program *program, struct bpf_prog_load_opts *opts, long cookie)
{
	static struct bpf_insn nothing[] = {{.code = BPF_ALU64 | BPF_MOV | BPF_K}, {.code = BPF_JMP | BPF_EXIT}};
	struct scribe_verification *v = current ? &current->program[current->n] : NULL;

	(void)cookie;
	if (!v)
		return 0;
	if (current->n == SCRIBE_PROGS_MAX)
		return -E2BIG;
	current->n++;
	*v = (struct scribe_verification){.program = program, .opts = *opts, .ninsns = bpf_program__insn_cnt(program)};
	v->insns = copy(bpf_program__insns(program), v->ninsns * sizeof(*v->insns));
	v->func_info = copy(opts->func_info, (size_t)opts->func_info_cnt * opts->func_info_rec_size);
	v->line_info = copy(opts->line_info, (size_t)opts->line_info_cnt * opts->line_info_rec_size);
	v->fd = -ENOMEM;
	if (!v->insns || !v->func_info || !v->line_info)
		return -ENOMEM;
	v->opts.sz = sizeof(v->opts);
	v->opts.fd_array = NULL; /* of functions in modules: none here */
	v->opts.func_info = v->func_info;
	v->opts.line_info = v->line_info;
	v->has_thread = scribe_thread_start(&v->thread, verify, v) == 0;
	if (!v->has_thread)
		verify(v);
	opts->func_info_cnt = opts->line_info_cnt = 0;
	return bpf_program__set_insns(program, nothing, sizeof(nothing) / sizeof(nothing[0]));
}

int scribe_side_by_side_begin(struct scribe_side_by_side *s)
{
	LIBBPF_OPTS(libbpf_prog_handler_opts, opts, .prog_prepare_load_fn = pass);
	static int handler[2];

	if (handler[0] <= 0)
		handler[0] = libbpf_register_prog_handler("tp_btf+", BPF_PROG_TYPE_TRACING, BPF_TRACE_RAW_TP, &opts);
	if (handler[0] > 0 && handler[1] <= 0)
		handler[1] = libbpf_register_prog_handler("tracepoint+", BPF_PROG_TYPE_TRACEPOINT, 0, &opts);
	if (handler[0] < 0 || handler[1] < 0)
		return handler[0] < 0 ? handler[0] : handler[1];
	s->program = calloc(SCRIBE_PROGS_MAX, sizeof(*s->program));
	current = s->program ? s : NULL;
	return current ? 0 : -ENOMEM;
}

int scribe_side_by_side_targets(struct bpf_object *object)
{
	struct bpf_program *program;
	int rc = 0;

	bpf_object__for_each_program(program, object)
	{
		const char *name = strchr(bpf_program__section_name(program), '/');

		if (rc == 0 && name && bpf_program__autoload(program) &&
		    bpf_program__type(program) == BPF_PROG_TYPE_TRACING)
			rc = bpf_program__set_attach_target(program, 0, name + 1);
	}
	return rc;
}

int scribe_side_by_side_end(struct scribe_side_by_side *s, int rc)
{
	for (unsigned i = 0; i < s->n; i++) {
		struct scribe_verification *v = &s->program[i];

		if (v->has_thread)
			pthread_join(v->thread, NULL);
		if (rc == 0 && v->fd < 0)
			rc = v->fd;
		if (rc == 0 && dup3(v->fd, bpf_program__fd(v->program), O_CLOEXEC) < 0)
			rc = -errno;
		if (v->fd >= 0)
			close(v->fd);
		free(v->insns);
		free(v->func_info);
		free(v->line_info);
	}
	current = NULL;
	free(s->program);
	*s = (struct scribe_side_by_side){0};
	return rc;
}
