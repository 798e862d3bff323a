// SPDX-License-Identifier: BSD-3-Clause
// The ranks' opens and writes of the log, by the linker's --wrap: really done, and their time
// by the model.
#include <fcntl.h>
#include <stdarg.h>
#include <unistd.h>

#include "tests/sim/sim_fibers.h"

int __real_open(const char *path, int flags, ...);
ssize_t __real_pwrite(int fd, const void *buf, size_t n, off_t off);
int __wrap_open(const char *path, int flags, ...);
ssize_t __wrap_pwrite(int fd, const void *buf, size_t n, off_t off);

int __wrap_open(const char *path, int flags, ...)
{
	struct sim_world *w = sim_world();
	struct sim_fiber *f = w->running;
	va_list more;
	int mode, fd;

	va_start(more, flags);
	mode = flags & O_CREAT ? va_arg(more, int) : 0;
	va_end(more);
	fd = __real_open(path, flags, mode);
	if (!f || !f->begun)
		return fd;
	sim_stop_clock(f);
	w->costs.opens++;
	if (w->open_server_free < f->clock)
		w->open_server_free = f->clock;
	w->open_server_free += w->model.open_server_ns;
	f->clock = w->open_server_free + w->model.open_ns;
	sim_go_on(f);
	return fd;
}

ssize_t __wrap_pwrite(int fd, const void *buf, size_t n, off_t off)
{
	struct sim_world *w = sim_world();
	struct sim_fiber *f = w->running;
	double share;
	ssize_t done;

	if (!f || !f->begun)
		return __real_pwrite(fd, buf, n, off);
	sim_stop_clock(f);
	done = __real_pwrite(fd, buf, n, off);
	w->costs.writes++;
	w->costs.written += n;
	share = w->model.fs_ns_byte * (double)(w->costs.opens ? w->costs.opens : 1);
	f->clock += w->model.write_ns + (double)n * (share > w->model.client_ns_byte ? share : w->model.client_ns_byte);
	sim_go_on(f);
	return done;
}
