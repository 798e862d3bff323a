/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The same at the functions of the system calls themselves: one program before all
 * of them and one behind, each by one link (bpf/fentry.c). The verifier does not know
 * the functions' arguments then, so they are asked for.
 */
#ifndef BPF_FENTRY_BPF_H
#define BPF_FENTRY_BPF_H

#ifndef SCRIBE_PROBE_READ
/* The registers that the task entered the kernel with: the only argument of these functions. */
static __always_inline struct scribe_regs_at scribe_fn_regs(void *ctx)
{
	__u64 at = 0;

	bpf_get_func_arg(ctx, 0, &at);
	return (struct scribe_regs_at){.at = SCRIBE_CAST(pt_regs, at)};
}

/* An older libbpf does not know such sections: the loader says what they are (bpf/fentry.c). */
SEC("?fentry.multi")
int scribe_fn_enter(void *ctx)
{
	struct scribe_regs_at regs;

	if (scribe_is_nobodys(bpf_get_current_task_btf()))
		return 0;
	regs = scribe_fn_regs(ctx);
	return scribe_enter(regs, SCRIBE_SYSCALL_NR(regs.at));
}

SEC("?fexit.multi")
int scribe_fn_leave(void *ctx)
{
	struct scribe_regs_at regs;
	__u64 ret = 0;

	if (scribe_is_nobodys(bpf_get_current_task_btf()))
		return 0;
	regs = scribe_fn_regs(ctx);
	bpf_get_func_ret(ctx, &ret);
	return scribe_leave(regs, SCRIBE_SYSCALL_NR(regs.at), ret);
}
#endif

#endif
