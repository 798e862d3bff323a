// SPDX-License-Identifier: BSD-3-Clause
/*
 * Adopts maps, programs and links that an earlier daemon with the same layout pinned; on failure the pins stay.
 * Main thread, at start. Must not know what the records mean.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/user/load_private.h"
#include "bpf/user/map_calls.h"

static int keep_name(char *ret, size_t cap, const char *name)
{
	size_t length = strlen(name);

	if (length >= cap)
		return -ENAMETOOLONG;
	memcpy(ret, name, length + 1);
	return 0;
}

/* Chunks are mapped later, in order. */
static bool is_chunk(const char *name)
{
	return !strncmp(name, SCRIBE_SLOT_CHUNK_PIN "_", strlen(SCRIBE_SLOT_CHUNK_PIN "_")) ||
	       !strncmp(name, SCRIBE_HEAT_CHUNK_PIN "_", strlen(SCRIBE_HEAT_CHUNK_PIN "_")) ||
	       !strncmp(name, SCRIBE_SEG_CHUNK_PIN "_", strlen(SCRIBE_SEG_CHUNK_PIN "_")) ||
	       !strncmp(name, SCRIBE_TABLE_CHUNK_PIN "_", strlen(SCRIBE_TABLE_CHUNK_PIN "_"));
}

/* Takes over `fd` in every case, as the functions below. */
static int adopt_map(void *ctx, const char *name, int fd)
{
	struct scribe_bpf *b = ctx;
	struct scribe_named *m = &b->map[b->nmaps];
	struct bpf_map_info info = {0};
	uint32_t bytes = sizeof(info);

	if (is_chunk(name)) {
		close(fd);
		return 0;
	}
	if (b->nmaps == SCRIBE_MAPS_MAX || bpf_obj_get_info_by_fd(fd, &info, &bytes)) {
		close(fd);
		return -EIO;
	}
	*m = (struct scribe_named){
		.fd = fd, .type = info.type, .entries = info.max_entries, .value_bytes = info.value_size};
	if (keep_name(m->name, sizeof(m->name), name)) {
		close(fd);
		return -EIO;
	}
	b->nmaps++;
	return 0;
}

static int adopt_prog(void *ctx, const char *name, int fd)
{
	struct scribe_bpf *b = ctx;

	if (b->nprogs == SCRIBE_PROGS_MAX || keep_name(b->prog[b->nprogs].name, sizeof(b->prog[0].name), name)) {
		close(fd);
		return -EIO;
	}
	b->prog[b->nprogs++].fd = fd;
	return 0;
}

static int adopt_link(void *ctx, const char *name, int fd)
{
	struct scribe_bpf *b = ctx;

	if (b->nlinks == SCRIBE_PROGS_MAX || keep_name(b->link_name[b->nlinks], sizeof(b->link_name[0]), name)) {
		close(fd);
		return -EIO;
	}
	b->link[b->nlinks++] = fd;
	return 0;
}

static int check_layout(struct scribe_bpf *b, struct scribe_err *err)
{
	const struct {
		const char *name;
		size_t bytes;
	} want[] = {
		{"scribe_procs", sizeof(struct scribe_proc)},
		{"scribe_jobs", sizeof(struct scribe_job_entry)},
		{"scribe_ctl", sizeof(struct scribe_ctl)},
		{"scribe_match_index", sizeof(struct scribe_match_entry)},
	};
	const struct scribe_named *ctl = scribe_bpf_map(b, "scribe_ctl");
	uint32_t zero = 0, version = 0;
	void *value = ctl ? calloc(1, (ctl->value_bytes + 7) / 8 * 8) : NULL;

	/* Checked first: of another version nothing else may be read. */
	if (value && ctl->value_bytes >= sizeof(version) && scribe_map_lookup(ctl->fd, &zero, value) == 0)
		memcpy(&version, value, sizeof(version));
	free(value);
	if (version != SCRIBE_WIRE_VERSION)
		return scribe_err_set(err, -SCRIBE_E_VERSION, "%s: pinned by wire version %u, this is version %u",
				      b->pins, version, SCRIBE_WIRE_VERSION);
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		const struct scribe_named *m = scribe_bpf_map(b, want[i].name);

		if (!m || m->value_bytes != want[i].bytes)
			return scribe_err_set(err, -SCRIBE_E_VERSION, "%s: map %s is not as this build has it", b->pins,
					      want[i].name);
	}
	return 0;
}

int scribe_bpf_adopt(const char *pins, struct scribe_bpf **ret_bpf, struct scribe_err *err)
{
	struct scribe_bpf *b = calloc(1, sizeof(*b));
	int rc;

	if (!b)
		return scribe_err_set(err, -ENOMEM, "no memory for the loader");
	b->adopted = true;
	snprintf(b->pins, sizeof(b->pins), "%s", pins);
	rc = scribe_bpf_each_pin(b, "maps", adopt_map, b);
	if (rc == -ENOENT && b->nmaps == 0) {
		scribe_bpf_close_keep_pins(b);
		return scribe_err_set(err, rc, "%s: nothing is pinned", pins);
	}
	if (rc == 0)
		rc = scribe_bpf_each_pin(b, "progs", adopt_prog, b);
	if (rc == 0)
		rc = scribe_bpf_each_pin(b, "links", adopt_link, b);
	if (rc < 0)
		scribe_err_set(err, rc, "%s: cannot be adopted: %s", pins, strerror(-rc));
	else
		rc = check_layout(b, err);
	if (rc == 0) {
		rc = scribe_bpf_map_all(b, false);
		if (rc < 0)
			scribe_err_set(err, rc, "%s: cannot be mapped: %s", pins, strerror(-rc));
	}
	if (rc < 0) {
		scribe_bpf_close_keep_pins(b);
		return rc;
	}
	b->level = (enum scribe_bpf_level)b->ctl->level;
	b->opt.procs = b->procs.entries - 1;
	*ret_bpf = b;
	return 0;
}
