/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kernel differences, each a whole function, and two ways to read kernel memory: direct loads by
 * bpf_rdonly_cast (Linux 6.2, a35b9af4ec2c) or probe reads (SCRIBE_PROBE_READ).
 */
#ifndef BPF_KERN_COMPAT_BPF_H
#define BPF_KERN_COMPAT_BPF_H

#include "bpf/kern/kernel.bpf.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

/* Verified once, alone, not at every call. Pointers may be NULL and are checked first. */
#define SCRIBE_GLOBAL __attribute__((noinline))

/* Keeps the compiler from merging the read and the write path, where indices cost more. */
#define SCRIBE_APART(write) \
	do { \
		if (write) \
			asm volatile("" : : "i"(1)); \
		else \
			asm volatile("" : : "i"(0)); \
	} while (0)

#ifdef SCRIBE_PROBE_READ
#define SCRIBE_LOAD(to, addr)     bpf_probe_read_kernel((to), 8, (void *)(addr))
#define SCRIBE_LOAD_TWO(to, addr) bpf_probe_read_kernel((to), 16, (void *)(addr))
#define SCRIBE_CAST(type, addr)   ((struct type *)(unsigned long)(addr))
#define SCRIBE_GET(ptr, ...)      BPF_CORE_READ(ptr, __VA_ARGS__)
#else
extern void *bpf_rdonly_cast(void *obj, __u32 btf_id) __ksym;
#define SCRIBE_CAST(type, addr) \
	((struct type *)bpf_rdonly_cast((void *)(unsigned long)(addr), bpf_core_type_id_kernel(struct type)))
#define SCRIBE_LOAD(to, addr) (*(to) = (__u64)SCRIBE_CAST(timespec64, addr)->tv_sec)
#define SCRIBE_LOAD_TWO(to, addr) \
	do { \
		SCRIBE_LOAD(to, addr); \
		SCRIBE_LOAD((to) + 1, (addr) + 8); \
	} while (0)
#define SCRIBE_ARROW1(p, a)                    ((p)->a)
#define SCRIBE_ARROW2(p, a, b)                 ((p)->a->b)
#define SCRIBE_ARROW3(p, a, b, c)              ((p)->a->b->c)
#define SCRIBE_ARROW4(p, a, b, c, d)           ((p)->a->b->c->d)
#define SCRIBE_PICK(_1, _2, _3, _4, name, ...) name
#define SCRIBE_GET(ptr, ...) \
	SCRIBE_PICK(__VA_ARGS__, SCRIBE_ARROW4, SCRIBE_ARROW3, SCRIBE_ARROW2, SCRIBE_ARROW1)(ptr, __VA_ARGS__)
#endif

/* False: beyond the table's end. */
static __always_inline bool scribe_fd_place(struct task_struct *task, __u32 fd, __u64 *ret_place)
{
	struct fdtable *fdt = task->files->fdt; /* typed by the kernel: direct loads everywhere */

	if (fd >= fdt->max_fds)
		return false;
	*ret_place = (__u64)fdt->fd + fd * 8ull;
	return true;
}

/* 0: not open. */
static __always_inline __u64 scribe_fd_file(struct task_struct *task, __u32 fd)
{
	__u64 address, file = 0;

	if (scribe_fd_place(task, fd, &address))
		SCRIBE_LOAD(&file, address);
	return file;
}

/* With direct member access; global functions need the number. */
static __always_inline struct file *scribe_fd_typed(struct task_struct *task, __u32 fd)
{
#ifdef SCRIBE_PROBE_READ
	return (struct file *)scribe_fd_file(task, fd);
#else
	__u64 address;

	if (!scribe_fd_place(task, fd, &address))
		return 0;
	return SCRIBE_CAST(kiocb, address)->ki_filp; /* starts with a file pointer */
#endif
}

static __always_inline __s64 scribe_file_pos(__u64 addr)
{
	struct file *file = SCRIBE_CAST(file, addr);

	return SCRIBE_GET(file, f_pos);
}

#ifdef __TARGET_ARCH_arm64
#define SCRIBE_O_DIRECT 0200000
#else
#define SCRIBE_O_DIRECT 040000
#endif

static __always_inline __u32 scribe_file_flags(__u64 addr)
{
	struct file *file = SCRIBE_CAST(file, addr);

	return SCRIBE_GET(file, f_flags);
}

static __always_inline __s64 scribe_file_size(__u64 addr)
{
	struct file *file = SCRIBE_CAST(file, addr);

	return SCRIBE_GET(file, f_inode, i_size);
}

/* f_count became f_ref in Linux 6.13 (90ee6ed776c0), which is 0 with one holder. */
struct file___count {
	atomic64_t f_count;
} __attribute__((preserve_access_index));

static __always_inline bool scribe_file_last_ref(__u64 addr)
{
	struct file *file = (struct file *)addr;

	if (bpf_core_field_exists(file->f_ref)) {
		struct file *f = SCRIBE_CAST(file, addr);

		return SCRIBE_GET(f, f_ref.refcnt.counter) == 0;
	}
	if (bpf_core_field_exists(((struct file___count *)0)->f_count))
		return BPF_CORE_READ((struct file___count *)file, f_count.counter) == 1;
	return false;
}

/* 32-bit system calls have other numbers. */
#ifdef __TARGET_ARCH_x86
#define SCRIBE_TS_COMPAT 2
static __always_inline bool scribe_compat_call(struct task_struct *task)
{
	return SCRIBE_GET(task, thread_info.status) & SCRIBE_TS_COMPAT;
}
#else
#define SCRIBE_TIF_32BIT 22
static __always_inline bool scribe_compat_call(struct task_struct *task)
{
	return SCRIBE_GET(task, thread_info.flags) >> SCRIBE_TIF_32BIT & 1;
}
#endif

/* The user registers at kernel entry, typed for direct loads. */
static __always_inline struct pt_regs *scribe_task_regs(struct task_struct *task)
{
	return (struct pt_regs *)bpf_task_pt_regs(task);
}

#ifdef __TARGET_ARCH_x86
#define SCRIBE_SYSCALL_NR(regs) ((regs)->orig_ax)
#define SCRIBE_PARM1            di
#define SCRIBE_PARM2            si
#define SCRIBE_PARM3            dx
#define SCRIBE_PARM4            r10
#define SCRIBE_PARM5            r8
#define SCRIBE_PARM6            r9
#elif defined(__TARGET_ARCH_arm64)
#define SCRIBE_SYSCALL_NR(regs) ((__u64)(__u32)(regs)->syscallno)
#define SCRIBE_PARM1            orig_x0
#define SCRIBE_PARM2            regs[1]
#define SCRIBE_PARM3            regs[2]
#define SCRIBE_PARM4            regs[3]
#define SCRIBE_PARM5            regs[4]
#define SCRIBE_PARM6            regs[5]
#endif

/* From 1; at return still as at entry. */
static __always_inline __u64 scribe_arg(struct pt_regs *regs, int n)
{
	switch (n) {
	case 1:
		return regs->SCRIBE_PARM1;
	case 2:
		return regs->SCRIBE_PARM2;
	case 3:
		return regs->SCRIBE_PARM3;
	case 4:
		return regs->SCRIBE_PARM4;
	case 5:
		return regs->SCRIBE_PARM5;
	default:
		return regs->SCRIBE_PARM6;
	}
}

#endif
