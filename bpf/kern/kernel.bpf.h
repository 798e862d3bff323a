/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kernel types, reduced to members in use, with offsets by CO-RE. Members that some kernels lack are guarded by
 * bpf_core_field_exists() (compat.bpf.h). ABI types are complete.
 */
#ifndef BPF_KERN_KERNEL_BPF_H
#define BPF_KERN_KERNEL_BPF_H

#include <linux/bpf.h>
#include <linux/types.h>

/* libbpf's headers then use the kernel's register names. */
#ifndef __VMLINUX_H__
#define __VMLINUX_H__
#endif

typedef _Bool bool;
enum { false = 0, true = 1 };
typedef int pid_t;
typedef __u64 u64;

struct iovec {
	void *iov_base;
	__u64 iov_len;
};

struct io_uring_cqe {
	__u64 user_data;
	__s32 res;
	__u32 flags;
};

#if defined(__TARGET_ARCH_x86)
struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx;
	unsigned long r11, r10, r9, r8;
	unsigned long ax, cx, dx, si, di;
	unsigned long orig_ax;
	unsigned long ip, cs, flags, sp, ss;
};
#elif defined(__TARGET_ARCH_arm64)
struct user_pt_regs {
	__u64 regs[31];
	__u64 sp, pc, pstate;
};
#endif

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

#if defined(__TARGET_ARCH_arm64)
/* The order of orig_x0 and syscallno differs between kernels. */
struct pt_regs {
	union {
		struct user_pt_regs user_regs;
		struct {
			__u64 regs[31];
			__u64 sp, pc, pstate;
		};
	};
	__u64 orig_x0;
	__s32 syscallno;
};
#endif

typedef struct {
	int counter;
} atomic_t;
typedef struct {
	__s64 counter;
} atomic64_t;
typedef struct {
	atomic64_t refcnt;
} file_ref_t;

struct qstr {
	union {
		struct {
			__u32 hash;
			__u32 len;
		};
		__u64 hash_len;
	};
	const unsigned char *name;
};

struct super_block {
	__u32 s_dev;
	unsigned long s_blocksize;
	unsigned long s_flags;
	unsigned long s_magic;
	void *s_bdev;
};

struct inode {
	__u16 i_mode;
	struct super_block *i_sb;
	unsigned long i_ino;
	const unsigned int i_nlink;
	long long i_size;
	__u32 i_generation;
};

struct dentry {
	struct dentry *d_parent;
	struct qstr d_name;
	struct inode *d_inode;
	struct super_block *d_sb;
};

struct vfsmount {
	struct dentry *mnt_root;
};

struct mount {
	struct mount *mnt_parent;
	struct dentry *mnt_mountpoint;
	struct vfsmount mnt;
};

struct path {
	struct vfsmount *mnt;
	struct dentry *dentry;
};

struct file {
	unsigned int f_mode;
	unsigned int f_flags;
	file_ref_t f_ref; /* from 6.13 on; before it f_count */
	struct path f_path;
	struct inode *f_inode;
	long long f_pos;
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
	unsigned long *open_fds; /* bitmap */
};

struct files_struct {
	struct fdtable *fdt;
};

struct fs_struct {
	struct path root, pwd;
};

struct timespec64 {
	__s64 tv_sec;
};

struct vm_area_struct {
	struct file *vm_file;
};

struct address_space {
	struct inode *host;
};

/* Linux 5.16; number of pages only if it is large. */
struct folio {
	unsigned long flags; /* from 6.18 on a struct */
	struct address_space *mapping;
	unsigned int _nr_pages; /* before 6.15 _folio_nr_pages */
};

enum pageflags { PG_head };

struct kioctx {
	unsigned long user_id;
};

struct kioctx_table {
	unsigned int nr;
	struct kioctx *table[];
};

struct mm_struct {
	struct file *exe_file;
	struct kioctx_table *ioctx_table; /* CONFIG_AIO */
	unsigned long arg_start, arg_end, env_start, env_end;
	unsigned long saved_auxv[1]; /* AT_VECTOR_SIZE entries */
};

typedef struct {
	__u32 val;
} kuid_t;
typedef struct {
	__u32 val;
} kgid_t;
typedef struct {
	__u64 val; /* 8 bytes in every version */
} kernel_cap_t;

struct user_namespace {
	int level;
};

struct cred {
	kuid_t uid;
	kgid_t gid;
	kuid_t suid;
	kgid_t sgid;
	kuid_t euid;
	kgid_t egid;
	kernel_cap_t cap_permitted;
	struct user_namespace *user_ns;
};

struct kernfs_node {
	__u64 id;
};

struct cgroup_subsys_state {
	struct cgroup_subsys_state *parent;
};

struct cgroup {
	struct cgroup_subsys_state self;
	struct kernfs_node *kn;
};

struct css_set {
	struct cgroup *dfl_cgrp;
};

struct signal_struct {
	int group_exit_code;
	unsigned int flags;
};

/* CONFIG_TASK_XACCT and CONFIG_TASK_IO_ACCOUNTING */
struct task_io_accounting {
	__u64 rchar, wchar, syscr, syscw;
	__u64 read_bytes, write_bytes; /* CONFIG_TASK_IO_ACCOUNTING */
};

struct thread_info {
	unsigned long flags;
	__u32 status;
};

struct bpf_local_storage;

struct thread_struct {
	unsigned long fsbase; /* x86 */
};

struct xarray {
	void *xa_head;
};

struct idr {
	struct xarray idr_rt;
};

struct xa_node {
	unsigned char shift;
	void *slots[64];
};

struct pid_namespace {
	struct idr idr;
};

struct upid {
	int nr;
	struct pid_namespace *ns;
};

struct hlist_node {
	struct hlist_node *next;
};

struct hlist_head {
	struct hlist_node *first;
};

struct pid {
	unsigned int level;
	struct hlist_head tasks[1]; /* by type; first: the thread with this number */
	struct upid numbers[1];     /* per namespace; that of `level` is the last */
};

struct sched_entity {
	__u64 sum_exec_runtime;
};

struct task_struct {
	struct pid *thread_pid;
	struct hlist_node pid_links[1];
	struct thread_info thread_info;
	struct mm_struct *mm;
	int exit_code;
	pid_t pid, tgid;
	struct task_struct *real_parent;
	struct task_struct *group_leader;
	__u64 start_boottime;
	const struct cred *cred;
	struct fs_struct *fs;
	struct files_struct *files;
	struct signal_struct *signal;
	struct task_io_accounting ioac;
	unsigned long min_flt, maj_flt;
	struct sched_entity se;
	struct css_set *cgroups;
	struct bpf_local_storage *bpf_storage;
	unsigned int flags;
	void *worker_private; /* io-wq threads: struct io_worker */
	struct thread_struct thread;
};

struct linux_binprm {
	unsigned int secureexec : 1;
};

struct io_wq_work_node {
	struct io_wq_work_node *next;
};

struct io_wq_work_list {
	struct io_wq_work_node *first;
};

struct io_wq_work {
	struct io_wq_work_node list;
};

struct io_worker {
	struct io_wq_work *cur_work;
};

struct io_submit_link {
	struct io_kiocb *head; /* of the chain being submitted */
};

struct io_submit_state {
	struct io_wq_work_list compl_reqs; /* completed, CQEs not posted yet */
	struct io_submit_link link;
};

struct io_rsrc_node {
	unsigned long file_ptr;
};

struct io_rsrc_data {
	unsigned int nr;
	struct io_rsrc_node **nodes;
};

struct io_file_table {
	struct io_rsrc_data data; /* from 6.13 on */
};

struct io_ring_ctx {
	struct io_submit_state submit_state;
	struct io_file_table file_table;
};

struct io_cqe {
	__u64 user_data;
	__s32 res;
	union {
		__u32 flags;
		int fd; /* until the request is issued */
	};
};

struct io_kiocb {
	struct file *file; /* set when the request is issued */
	__u8 opcode;
	unsigned int flags; /* 64 bits from 6.10 on */
	struct io_cqe cqe;
	struct io_ring_ctx *ctx;
	struct io_wq_work_node comp_list;
	struct io_kiocb *link; /* next request of the chain */
	struct io_wq_work work;
};

struct kiocb {
	struct file *ki_filp;
	long long ki_pos;
	int ki_flags;
};

struct io_rw {
	struct kiocb kiocb;
	__u64 addr;
	__u32 len; /* 64 bits before 6.0 */
};

struct open_how {
	__u64 flags;
	__u64 mode;
	__u64 resolve;
};

struct io_open {
	__u32 file_slot;
	struct open_how how;
};

struct io_close {
	int fd;
	__u32 file_slot; /* from 5.16 on */
};

struct io_splice {
	int splice_fd_in;
	unsigned int flags;
};

struct io_sync {
	int flags;
};

#pragma clang attribute pop

#endif
