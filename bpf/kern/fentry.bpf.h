/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The same at the functions of the system calls themselves: one program before all
 * of them and one behind, each by one link (bpf/user/fentry.c).
 */
#ifndef BPF_KERN_FENTRY_BPF_H
#define BPF_KERN_FENTRY_BPF_H

#ifndef SCRIBE_PROBE_READ
/* An older libbpf does not know such sections: the loader says what they are (bpf/user/fentry.c). */
SEC("?fentry.multi")
int scribe_fn_enter(void *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct pt_regs *regs;

	if (scribe_is_nobodys(task))
		return 0;
	regs = scribe_task_regs(task);
	return scribe_enter(task, regs, SCRIBE_SYSCALL_NR(regs));
}

SEC("?fexit.multi")
int scribe_fn_leave(void *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct pt_regs *regs;
	__u64 ret = 0;

	if (scribe_is_nobodys(task))
		return 0;
	regs = scribe_task_regs(task);
	bpf_get_func_ret(ctx, &ret);
	return scribe_leave(task, regs, SCRIBE_SYSCALL_NR(regs), ret);
}
#endif

#endif
