/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RUNTIME_DAEMON_BASE_COMMAND_LINE_H
#define RUNTIME_DAEMON_BASE_COMMAND_LINE_H

/*
 * Makes /proc/PID/cmdline empty, here and in processes forked later. Any user may read it, under the lock of the
 * address space; a reader that loses the processor then would delay fork() and munmap(). Without effect on kernels
 * without CONFIG_CHECKPOINT_RESTORE.
 */
void scribe_empty_command_line(void);

#endif
