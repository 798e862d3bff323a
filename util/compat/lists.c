/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of modules and names. The program frees the results. */
#include "util/compat/state.h"

#include <stdlib.h>
#include <string.h>

#include "logfmt/file/names.h"

void darshan_log_get_modules(darshan_fd fd, struct darshan_mod_info **mods, int *count)
{
	struct darshan_mod_info *out;
	int n = 0;

	*count = 0;
	if (!fd) {
		compat_error("invalid Darshan log file handle.");
		return;
	}
	out = calloc(DARSHAN_MAX_MODS, sizeof(*out));
	if (!out) {
		compat_error("out of memory.");
		return;
	}
	/*
	 * Only the interface's own modules: Darshan's library lists others with a NULL name, on which PyDarshan
	 * stops. APXC is left out because it cannot be read.
	 */
	for (int i = 0; i < DARSHAN_KNOWN_MODULE_COUNT; i++) {
		if (fd->mod_map[i].len == 0 || !mod_logutils[i])
			continue;
		out[n++] = (struct darshan_mod_info){
			.name = darshan_module_names[i],
			.len = (int)fd->mod_map[i].len,
			.ver = (int)fd->mod_ver[i],
			.idx = i,
			.partial_flag = (fd->partial_flag >> i & 1) != 0,
		};
	}
	*mods = out;
	*count = n;
}

static int compare_ids(const void *a, const void *b)
{
	const darshan_record_id *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* NULL: failed. */
static struct scribe_names *load(darshan_fd fd, const darshan_record_id *list, int n)
{
	struct scribe_names *names = fd && fd->state && fd->state->reader ? scribe_names_new() : NULL;
	darshan_record_id *sorted = NULL;
	struct scribe_name name;
	int rc = -1;

	if (!names) {
		compat_error("invalid Darshan log file handle.");
		return NULL;
	}
	if (list) {
		sorted = malloc((n > 0 ? (size_t)n : 1) * sizeof(*sorted));
		/* Sorted: the list may be as long as the log's table of names. */
		if (sorted && n > 0) {
			memcpy(sorted, list, (size_t)n * sizeof(*sorted));
			qsort(sorted, (size_t)n, sizeof(*sorted), compare_ids);
		}
	}
	compat_region(fd, REGION_NAMES);
	scribe_reader_rewind_names(fd->state->reader);
	while ((!list || sorted) && (rc = scribe_reader_next_name(fd->state->reader, &name)) > 0) {
		if (sorted && !bsearch(&name.id, sorted, (size_t)n, sizeof(*sorted), compare_ids))
			continue;
		if (scribe_names_add(names, name.id, name.bytes, name.len)) {
			rc = -1;
			break;
		}
	}
	free(sorted);
	if (rc == 0)
		return names;
	compat_error("%s", rc < -1 ? scribe_reader_error(fd->state->reader)->text : "out of memory.");
	return scribe_names_free(names);
}

/* Bytes after a NUL (log version 3.00) are lost. */
static char *string_of(const struct scribe_name *name)
{
	return strndup(name->bytes, name->len);
}

/* Entries that are complete. */
void darshan_log_get_filtered_name_records(darshan_fd fd, struct darshan_name_record_info **mods, int *count,
					   darshan_record_id *whitelist, int whitelist_count)
{
	struct scribe_names *names = load(fd, whitelist, whitelist_count);
	size_t n = names ? scribe_names_count(names) : 0;
	struct darshan_name_record_info *out = calloc(n ? n : 1, sizeof(*out));

	*count = 0;
	*mods = out;
	for (size_t i = 0; out && i < n; i++) {
		struct scribe_name name = scribe_names_at(names, i);

		out[i].id = name.id;
		out[i].name = string_of(&name);
		if (!out[i].name)
			break;
		(*count)++;
	}
	scribe_names_free(names);
}

void darshan_log_get_name_records(darshan_fd fd, struct darshan_name_record_info **mods, int *count)
{
	darshan_log_get_filtered_name_records(fd, mods, count, NULL, 0);
}

int darshan_log_get_filtered_namehash(darshan_fd fd, struct darshan_name_record_ref **hash,
				      darshan_record_id *whitelist, int whitelist_count)
{
	struct scribe_names *names = load(fd, whitelist, whitelist_count);

	if (!names)
		return -1;
	for (size_t i = 0; i < scribe_names_count(names); i++) {
		struct scribe_name name = scribe_names_at(names, i);
		struct darshan_name_record_ref *ref;

		HASH_FIND(hlink, *hash, &name.id, sizeof(name.id), ref);
		if (ref) /* existing entries stay */
			continue;
		ref = calloc(1, sizeof(*ref));
		if (ref)
			ref->name_record = malloc(sizeof(name.id) + name.len + 1);
		if (!ref || !ref->name_record) {
			free(ref);
			scribe_names_free(names);
			return compat_error("out of memory.");
		}
		ref->name_record->id = name.id;
		memcpy((char *)ref->name_record + sizeof(name.id), name.bytes, name.len + 1);
		HASH_ADD_KEYPTR(hlink, *hash, &ref->name_record->id, sizeof(ref->name_record->id), ref);
	}
	scribe_names_free(names);
	return 0;
}

int darshan_log_get_namehash(darshan_fd fd, struct darshan_name_record_ref **hash)
{
	return darshan_log_get_filtered_namehash(fd, hash, NULL, 0);
}
