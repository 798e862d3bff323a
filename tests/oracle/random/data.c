// SPDX-License-Identifier: BSD-3-Clause
/* Operations on descriptors: data, and what else there is. */
#include "tests/oracle/random/world.h"

#include <sys/mman.h>
#include <sys/sendfile.h>

static int64_t readable(const struct desc *d, int64_t at, int64_t n)
{
	int64_t left = w->inode[d->inode].size - at;

	return left < 0 ? 0 : left < n ? left : n;
}

static void written(const struct desc *d, int64_t from, int64_t n)
{
	if (n && from + n > w->inode[d->inode].size)
		w->inode[d->inode].size = from + n;
}

bool do_data(void)
{
	unsigned how = below(6);
	struct desc *d;
	int fd = any_fd(&d);
	bool write_it;
	int64_t n = 1 + below(9000), at, want;
	struct iovec v[2];
	long got = 0;

	if (fd < 0)
		return false;
	write_it = d->writes && (!d->reads || below(2));
	v[0] = (struct iovec){buffer, (size_t)n / 2};
	v[1] = (struct iovec){buffer + n / 2, (size_t)(n - n / 2)};
	at = how < 2 ? d->at : (int64_t)below(20000);
	if (how == 5)
		at = d->at;
	if (write_it && d->appends)
		at = w->inode[d->inode].size;
	want = write_it ? n : readable(d, at, n);
	switch (how) {
	case 0:
		say("\tMUST(%s(%d, buffer, %ld));", write_it ? "write" : "read", fd, (long)n);
		got = write_it ? write(fd, buffer, (size_t)n) : read(fd, buffer, (size_t)n);
		break;
	case 1:
		say("\tMUST(%s(%d, two(%ld), 2));", write_it ? "writev" : "readv", fd, (long)n);
		got = write_it ? writev(fd, v, 2) : readv(fd, v, 2);
		break;
	case 2:
	case 3:
		say("\tMUST(%s(%d, buffer, %ld, %ld));", write_it ? "pwrite" : "pread", fd, (long)n, (long)at);
		got = write_it ? pwrite(fd, buffer, (size_t)n, at) : pread(fd, buffer, (size_t)n, at);
		break;
	case 4:
		say("\tMUST(%s(%d, two(%ld), 2, %ld, 0));", write_it ? "pwritev2" : "preadv2", fd, (long)n, (long)at);
		got = write_it ? pwritev2(fd, v, 2, at, 0) : preadv2(fd, v, 2, at, 0);
		break;
	default:
		say("\tMUST(%s(%d, two(%ld), 2, -1, 0));", write_it ? "pwritev2" : "preadv2", fd, (long)n);
		got = write_it ? pwritev2(fd, v, 2, -1, 0) : preadv2(fd, v, 2, -1, 0);
	}
	MUST(got);
	must_be(got, want, write_it ? "a write" : "a read");
	if (how < 2 || how == 5)
		d->at = at + got;
	if (write_it)
		written(d, at, got);
	moved(name_of(fd), write_it, at, got);
	return true;
}

bool do_batch(void)
{
	unsigned how = below(3), n = 1 + below(BATCH_MOST - 1), size = 1 + below(512);
	long from = below(20000);
	struct desc *d;
	int fd = any_fd(&d);
	bool write_it, append;

	if (fd < 0)
		return false;
	write_it = d->writes && (!d->reads || below(2));
	append = write_it && below(4) == 0;
	if (how == 2) {
		say("\turing_batch(%d, %d, %ld, %u, %u, %d);", fd, write_it, from, n, size, append);
		uring_batch(fd, write_it, from, n, size, append);
	} else {
		say("\taio_batch(%d, %d, %ld, %u, %u, %u, %d);", fd, write_it, from, n, size, how, append);
		aio_batch(fd, write_it, from, n, size, (int)how, append);
	}
	if (write_it && (append || d->appends))
		from = w->inode[d->inode].size;
	for (unsigned i = 0; i < n; i++) {
		int64_t at = from + (long)(i * size);

		MUST(result[i]);
		must_be(result[i], write_it ? (long)size : readable(d, at, size), "an asynchronous operation");
		moved(name_of(fd), write_it, at, result[i]);
		add(name_of(fd), how == 2 ? POSIX_EXT_URING_OPS : POSIX_EXT_AIO_OPS, 1);
	}
	if (write_it)
		written(d, from, (int64_t)n * size);
	return true;
}

/* A chain of io_uring that opens a file, writes to it and closes it. */
bool do_chain(void)
{
	unsigned size = 1 + below(512), direct = below(2);
	int folder, inode;
	struct way x;

	if (!any_folder(&folder) || !way_to(&x, folder, (int)below(FILES)))
		return false;
	if (w->file[x.folder][x.file] < 0 && free_inode() < 0)
		return false;
	set_out(&x);
	say("\turing_chain(%s, %s, O_CREAT | O_WRONLY, %u, %u);", dir_of(&x), shown(x.text), size, direct);
	uring_chain(x.dir, x.text, O_CREAT | O_WRONLY, size, (int)direct);
	MUST(result[0]);
	must_be(result[1], size, "a chain's write");
	must_be(result[2], 0, "a chain's close");
	come_back(&x);
	inode = opened(x.name, x.folder, x.file, O_WRONLY);
	if (w->inode[inode].size < size)
		w->inode[inode].size = size;
	add(x.name, POSIX_OPENS, 1);
	moved(x.name, true, 0, size);
	add(x.name, POSIX_EXT_URING_OPS, 1);
	add(x.name, POSIX_EXT_CLOSES, 1);
	return true;
}

/* sendfile and copy_file_range at the descriptions' positions. */
bool do_copy(void)
{
	struct desc *a, *b;
	int from = any_fd(&a), to = any_fd(&b);
	int64_t n = 1 + below(5000), want;
	bool range = below(2);
	long got;

	if (from < 0 || !a->reads || !b->writes || b->appends || a->inode == b->inode || a == b)
		return false;
	want = readable(a, a->at, n);
	say(range ? "\tMUST(copy_file_range(%d, NULL, %d, NULL, %ld, 0));" : "\tMUST(sendfile_from(%d, %d, %ld));",
	    from, to, (long)n);
	got = range ? copy_file_range(from, NULL, to, NULL, (size_t)n, 0) : sendfile(to, from, NULL, (size_t)n);
	MUST(got);
	if (!range || !got || got > want) /* one that shares blocks (btrfs) ends where they do */
		must_be(got, want, "a copy");
	moved(name_of(from), false, a->at, got);
	moved(name_of(to), true, b->at, got);
	add(name_of(from), POSIX_EXT_SPLICES, 1);
	add(name_of(to), POSIX_EXT_SPLICES, 1);
	a->at += got;
	written(b, b->at, got);
	b->at += got;
	return true;
}

bool do_on_fd(void)
{
	unsigned how = below(8);
	struct desc *d;
	struct stat st;
	struct statx sx;
	int fd = any_fd(&d);
	int64_t at = below(20000);
	char *p;

	if (fd < 0)
		return false;
	switch (how) {
	case 0:
		say("\tMUST(lseek(%d, %ld, SEEK_SET));", fd, (long)at);
		MUST(lseek(fd, at, SEEK_SET));
		d->at = at;
		add(name_of(fd), POSIX_SEEKS, 1);
		return true;
	case 1:
		say("\tMUST(fstat(%d, &st));", fd);
		MUST(fstat(fd, &st));
		must_be(st.st_size, w->inode[d->inode].size, "fstat");
		add(name_of(fd), POSIX_STATS, 1);
		return true;
	case 2:
		say("\tMUST(statx(%d, \"\", AT_EMPTY_PATH, STATX_SIZE, &sx));", fd);
		MUST(statx(fd, "", AT_EMPTY_PATH, STATX_SIZE, &sx));
		add(name_of(fd), POSIX_STATS, 1);
		return true;
	case 3:
		say("\tMUST(fsync(%d));", fd);
		MUST(fsync(fd));
		add(name_of(fd), POSIX_FSYNCS, 1);
		return true;
	case 4:
		say("\tMUST(syscall(SYS_faccessat2, %d, \"\", R_OK, AT_EMPTY_PATH));", fd);
		MUST(syscall(SYS_faccessat2, fd, "", R_OK, AT_EMPTY_PATH));
		add(name_of(fd), POSIX_EXT_ACCESSES, 1);
		return true;
	case 5:
		if (!d->reads)
			return false;
		say("\tMUST(readahead(%d, 0, 4096));", fd);
		MUST(readahead(fd, 0, 4096));
		add(name_of(fd), POSIX_EXT_FADVISES, 1);
		return true;
	case 6:
		if (!d->writes)
			return false;
		say("\tMUST(ftruncate(%d, %ld));", fd, (long)at);
		MUST(ftruncate(fd, at));
		w->inode[d->inode].size = at;
		add(name_of(fd), POSIX_EXT_TRUNCATES, 1);
		return true;
	default:
		if (!d->reads)
			return false;
		say("\tmapped(%d);", fd);
		p = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
		if (p == MAP_FAILED)
			_exit(3);
		MUST(msync(p, 4096, MS_ASYNC));
		munmap(p, 4096);
		add(name_of(fd), POSIX_MMAPS, 1);
		add(name_of(fd), POSIX_EXT_MAPPED_BYTES, 4096);
		add(name_of(fd), POSIX_EXT_MSYNCS, 1);
		return true;
	}
}
