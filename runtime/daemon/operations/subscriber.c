// SPDX-License-Identifier: BSD-3-Clause
/*
 * Rings of publishers. A frame never wraps; a name precedes the first operation on its file. Publishers map the
 * memory read-only. Must not know slots or segments.
 */
#include "runtime/daemon/operations/subscriber.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define NAMES_MOST 1048576u /* ids per ring */

static int ring_open(struct scribe_subscriber *s)
{
	s->fd = memfd_create("ioscribe-publish", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (s->fd < 0)
		return -errno;
	if (ftruncate(s->fd, SCRIBE_PUBLISH_FILE_BYTES) < 0)
		return -errno;
	s->head = mmap(NULL, SCRIBE_PUBLISH_FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd, 0);
	if (s->head == MAP_FAILED) {
		s->head = NULL;
		return -errno;
	}
	/* not writable: a publisher could punch holes and make the daemon wait */
	if (fcntl(s->fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
		return -errno;
	s->ring = (unsigned char *)(s->head + 1);
	s->head->magic = SCRIBE_PUBLISH_MAGIC;
	s->head->version = SCRIBE_PUBLISH_VERSION;
	s->head->bytes = SCRIBE_PUBLISH_BYTES;
	return 0;
}

struct scribe_subscriber *scribe_subscriber_free(struct scribe_subscriber *s)
{
	if (s->head)
		munmap(s->head, SCRIBE_PUBLISH_FILE_BYTES);
	if (s->fd >= 0)
		close(s->fd);
	scribe_map_clear(&s->names);
	free(s);
	return NULL;
}

/* NULL: full. */
static void *frame_begin(struct scribe_subscriber *s, size_t bytes)
{
	const uint64_t used = s->put - s->taken;
	const size_t at = s->put % SCRIBE_PUBLISH_BYTES, rest = SCRIBE_PUBLISH_BYTES - at;
	const size_t need = bytes > rest ? rest + bytes : bytes;

	if (need > SCRIBE_PUBLISH_BYTES - used)
		return NULL;
	if (bytes > rest) {
		const struct scribe_publish_frame pad = {.bytes = (uint32_t)rest, .type = SCRIBE_PUBLISH_PAD};

		memcpy(s->ring + at, &pad, sizeof(pad));
		s->put += rest;
	}
	return s->ring + s->put % SCRIBE_PUBLISH_BYTES;
}

static void frame_end(struct scribe_subscriber *s, size_t bytes)
{
	s->put += bytes;
	__atomic_store_n(&s->head->put, s->put, __ATOMIC_RELEASE);
}

static bool put_job(struct scribe_subscriber *s, const struct scribe_job *job)
{
	struct scribe_publish_job *f = s->job_reported ? NULL : frame_begin(s, sizeof(*f));

	if (!f)
		return s->job_reported;
	*f = (struct scribe_publish_job){.frame = {sizeof(*f), SCRIBE_PUBLISH_JOB, (uint16_t)job->index},
					 .number = job->log_job_id,
					 .realtime_ns = job->realtime_ns,
					 .uid = job->config.uid};
	memcpy(f->node, job->host, strnlen(job->host, sizeof(f->node) - 1));
	frame_end(s, sizeof(*f));
	s->job_reported = true;
	return true;
}

static bool put_name(struct scribe_subscriber *s, const struct scribe_job *job, uint64_t id)
{
	const struct scribe_name_entry *name;
	struct scribe_publish_name *f;
	size_t n, bytes;

	if (!id || scribe_map_get(&s->names, id))
		return true;
	name = scribe_name_table_by_id(&job->names, id);
	n = name ? strnlen(name->text, SCRIBE_PUBLISH_NAME) : 0;
	bytes = (sizeof(*f) + n + 7) & ~(size_t)7;
	f = frame_begin(s, bytes);
	if (!f)
		return false;
	*f = (struct scribe_publish_name){.frame = {(uint32_t)bytes, SCRIBE_PUBLISH_NAME_OF, (uint16_t)job->index},
					  .id = id,
					  .bytes = (uint32_t)n};
	if (n)
		memcpy(f->text, name->text, n);
	frame_end(s, bytes);
	/* forget all: names are sent again */
	if (s->names.used >= NAMES_MOST)
		scribe_map_clear(&s->names);
	(void)scribe_map_put(&s->names, id, s);
	return true;
}

bool scribe_subscriber_put(struct scribe_subscriber *s, const struct scribe_job *job,
			   const struct scribe_publish_event *e)
{
	struct scribe_publish_event *f;

	if (!put_job(s, job) || !put_name(s, job, e->exe) || !put_name(s, job, e->id))
		return false;
	f = frame_begin(s, sizeof(*f));
	if (!f)
		return false;
	*f = *e;
	frame_end(s, sizeof(*f));
	return true;
}

int scribe_subscriber_new(struct scribe_subscriber **ret, uint64_t client, struct scribe_err *err)
{
	struct scribe_subscriber *s = calloc(1, sizeof(*s));
	int rc;

	if (!s)
		return scribe_err_set(err, -ENOMEM, "out of memory");
	s->client = client;
	rc = ring_open(s);
	if (rc < 0) {
		scribe_subscriber_free(s);
		return scribe_err_set(err, rc, "no memory to hand operations over: %s", strerror(-rc));
	}
	*ret = s;
	return 0;
}
