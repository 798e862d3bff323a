/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PnetCDF by public functions. Variables are in the library's table of files, at decoded offsets
 * (uprobes/elf/library_offsets.c); sizes are the file's: elements times type size. Nonblocking calls count when
 * posted, waits for the file.
 */
#ifndef UPROBES_KERN_PNETCDF_BPF_H
#define UPROBES_KERN_PNETCDF_BPF_H

#include "logfmt/counters/counters_pnetcdf.h"
#include "uprobes/kern/named.bpf.h"

/* By ncid, or ncid << 32 | varid. `note`: start of the file's open. */
#define SCRIBE_HANDLE_NC_FILE SCRIBE_LAYER_PNETCDF
#define SCRIBE_HANDLE_NC_VAR  (SCRIBE_LAYER_PNETCDF | 0x100)

#define SCRIBE_NC_DIMS_MAX   16 /* more: unknown size */
#define SCRIBE_NC_ROWS       64 /* requests per step */
#define SCRIBE_NC_ROWS_MAX   64 /* steps; more: unknown size */
#define SCRIBE_NC_CLOSE_VARS 64 /* variables dropped at close; the rest later */

/* 0 none. */
static __always_inline __u64 scribe_nc_file(const struct scribe_library_offsets *im, const struct scribe_call *c)
{
	return scribe_user_u64(c->base + im->nc_files_at + 8 * (__u64)(__u32)c->arg[0]);
}

/* 0 unless the driver is the known one. */
static __always_inline __u64 scribe_nc_own(const struct scribe_library_offsets *im, const struct scribe_call *c)
{
	__u64 file = scribe_nc_file(im, c);

	if (!file || scribe_user_u64(file + im->nc_own_driver_at) != c->base + im->nc_driver_at)
		return 0;
	return scribe_user_u64(file + im->nc_own_at);
}

static __always_inline bool scribe_nc_var_read(const struct scribe_library_offsets *im, const struct scribe_call *c,
					       __u32 varid, struct scribe_nc_var *ret)
{
	__u64 vars = scribe_user_u64(scribe_nc_file(im, c) + im->nc_vars_at);

	return vars && !bpf_probe_read_user(ret, sizeof(*ret),
					    (void *)(vars + (__u64)varid * sizeof(*ret) + im->nc_type_at - 8));
}

/* 0 unknown. */
static __always_inline __u32 scribe_nc_type_bytes(__u32 type)
{
	switch (type) {
	case 1: /* byte, char, ubyte */
	case 2:
	case 7:
		return 1;
	case 3: /* short, ushort */
	case 8:
		return 2;
	case 4: /* int, float, uint */
	case 5:
	case 9:
		return 4;
	case 6: /* double, int64, uint64 */
	case 10:
	case 11:
		return 8;
	}
	return 0;
}

/* Product of user numbers `first` to `n`; -1: too many or no address. */
SCRIBE_GLOBAL __s64 scribe_nc_product(__u64 at, __s32 first, __s32 n)
{
	struct scribe_calls *calls = scribe_calls_get();
	__s64 product = 1;
	__u32 count;

	if (!calls || n > SCRIBE_NC_DIMS_MAX || (n > first && !at))
		return -1;
	if (first < 0 || n <= first)
		return 1;
	count = n - first;
	for (int i = 0; i < SCRIBE_NC_DIMS_MAX; i++)
		calls->number[i] = 1;
	asm volatile("" : "+r"(count)); /* keeps the bound on the register that is passed */
	if (count > SCRIBE_NC_DIMS_MAX)
		return -1;
	bpf_probe_read_user(calls->number, count * 8, (void *)(at + 8 * (__u64)(__u32)first));
	for (int i = 0; i < SCRIBE_NC_DIMS_MAX; i++)
		product *= (__s64)calls->number[i];
	return product;
}

/* -1 unknown. */
SCRIBE_GLOBAL __s64 scribe_nc_rows(__u64 counts, __u32 from, __u32 n, __s32 dims)
{
	__s64 sum = 0;

	if (dims > SCRIBE_NC_DIMS_MAX)
		return -1;
	for (__u32 i = 0; i < SCRIBE_NC_ROWS; i++) {
		__u64 row;

		if (from + i >= n)
			break;
		row = scribe_user_u64(counts + 8 * (__u64)(from + i));
		if (dims && !row)
			return -1;
		sum += scribe_nc_product(row, 0, dims);
	}
	return sum;
}

static __always_inline __s64 scribe_nc_list(__u64 counts, __u32 n, __s32 dims)
{
	__s64 sum = 0;

	if (!counts)
		return n; /* single elements */
	if (n > SCRIBE_NC_ROWS * SCRIBE_NC_ROWS_MAX)
		return -1;
	for (__u32 i = 0; i < SCRIBE_NC_ROWS_MAX; i++) {
		__s64 some;

		if (i * SCRIBE_NC_ROWS >= n)
			break;
		some = scribe_nc_rows(counts, i * SCRIBE_NC_ROWS, n, dims);
		if (some < 0)
			return -1;
		sum += some;
	}
	return sum;
}

/* Adds bytes moved since the last query, headers included. */
SCRIBE_GLOBAL int scribe_nc_moved(const struct scribe_library_offsets *im, const struct scribe_call *c,
				  struct scribe_handle *h)
{
	struct scribe_slot *s;
	__u64 own, now;

	if (!im || !c || !h || !im->nc_written_at)
		return 0;
	own = scribe_nc_own(im, c);
	s = h->slot == SCRIBE_SKIP_SLOT ? 0 : scribe_slot_at(h->slot);
	if (!own || !s)
		return 0;
	for (int i = 0; i < 2; i++) {
		__u32 at = i ? SCRIBE_PNETCDF_FILE_BYTES_READ : SCRIBE_PNETCDF_FILE_BYTES_WRITTEN;

		now = scribe_user_u64(own + im->nc_written_at + 8 * i);
		if (now > h->moved[i])
			__sync_fetch_and_add(&s->ext.v[at], now - h->moved[i]);
		h->moved[i] = now;
	}
	return 0;
}

static __always_inline void scribe_nc_describe(struct scribe_slot *s, const struct scribe_nc_var *var)
{
	s->ext.v[SCRIBE_LIB_NC_SHAPE] = (__u64)(var->dims & 0xffff) | (__u64)scribe_nc_type_bytes(var->type) << 16 |
					(__u64)(var->record_dim >= 0) << 32;
	s->ext.v[SCRIBE_LIB_NC_NPOINTS] = scribe_nc_product(var->lengths, var->record_dim >= 0, var->dims);
}

static __always_inline __u64 scribe_nc_var_key(const struct scribe_call *c, __u32 varid)
{
	return c->arg[0] << 32 | varid;
}

/* At the variable's first use since the file's open. */
SCRIBE_GLOBAL int scribe_nc_var_new(struct scribe_thread *t, struct scribe_proc *p,
				    const struct scribe_library_offsets *im, const struct scribe_handle *file,
				    __u32 varid)
{
	struct scribe_calls *calls = scribe_calls_get();
	struct scribe_nc_var *var;
	struct scribe_call *c;
	struct scribe_slot *s;
	__u64 name;
	__u32 index;

	if (!t || !p || !im || !file || !calls)
		return 0;
	c = &calls->layer[SCRIBE_LAYER_PNETCDF];
	var = &calls->var;
	name = scribe_nc_own(im, c);
	if (name)
		name = scribe_user_u64(scribe_user_u64(name + im->nc_names_at) + 8 * (__u64)varid);
	if (name)
		name = scribe_user_u64(name + im->nc_name_at);
	if (!name || !scribe_nc_var_read(im, c, varid, var)) {
		scribe_count(p, SCRIBE_L_LIB_UNKNOWN);
		return 0;
	}
	scribe_name_begin(&calls->name, SCRIBE_KIND_NC_VAR, 0, 0);
	calls->name.suffix = name;
	index = scribe_lib_below(t, p, file->slot, calls);
	s = scribe_lib_slot_at(index);
	__builtin_memset(&calls->fresh, 0, sizeof(calls->fresh));
	calls->fresh.note = file->note;
	calls->fresh.slot = s ? index : SCRIBE_SKIP_SLOT;
	calls->fresh.generation = s ? s->generation : 0;
	if (s)
		scribe_nc_describe(s, var);
	scribe_handle_put(p, SCRIBE_HANDLE_NC_VAR, scribe_nc_var_key(c, varid), &calls->fresh);
	return 0;
}

/* 0: not recorded. */
static __always_inline struct scribe_handle *scribe_nc_var(struct scribe_thread *t, struct scribe_proc *p,
							   const struct scribe_library_offsets *im,
							   const struct scribe_call *c,
							   const struct scribe_handle *file, __u32 varid)
{
	__u64 key = scribe_nc_var_key(c, varid);
	struct scribe_handle *h = scribe_handle_get(p, SCRIBE_HANDLE_NC_VAR, key);

	if (!h || h->note != file->note) {
		scribe_nc_var_new(t, p, im, file, varid);
		h = scribe_handle_get(p, SCRIBE_HANDLE_NC_VAR, key);
	}
	return !h || h->note != file->note || h->slot == SCRIBE_SKIP_SLOT ? 0 : h;
}

/* As in Darshan: D1 is the first of the last five dimensions. */
static __always_inline void scribe_nc_shape(const struct scribe_nc_access *a, __s32 dims,
					    struct scribe_access_pattern *pattern)
{
	__s32 first = dims > SCRIBE_ACCESS_PATTERN_DIMS ? dims - SCRIBE_ACCESS_PATTERN_DIMS : 0;
	bool strided = a->form != SCRIBE_NC_VARA;

	for (int i = 0; i < SCRIBE_ACCESS_PATTERN_DIMS; i++) {
		if (first + i >= dims)
			break;
		pattern->length[i] = scribe_user_u64(a->count + 8 * (first + i));
		if (strided)
			pattern->stride[i] = a->stride ? scribe_user_u64(a->stride + 8 * (first + i)) : 1;
	}
}

/* -1 unknown. */
SCRIBE_GLOBAL __s64 scribe_nc_elements(const struct scribe_library_offsets *im, const struct scribe_call *c,
				       const struct scribe_nc_access *a, const struct scribe_nc_var *var)
{
	__u64 own;
	__s64 n;

	if (!im || !c || !a || !var)
		return -1;
	switch (a->form) {
	case SCRIBE_NC_VAR1:
		return 1;
	case SCRIBE_NC_VARN:
		return scribe_nc_list(a->count, a->number, var->dims);
	case SCRIBE_NC_VAR:
		n = scribe_nc_product(var->lengths, var->record_dim >= 0, var->dims);
		own = scribe_nc_own(im, c);
		if (var->record_dim >= 0 && n > 0)
			n = own ? n * (__s64)scribe_user_u64(own + im->nc_records_at) : -1;
		return n;
	}
	return scribe_nc_product(a->count, 0, var->dims);
}

/* Into calls->op. */
static __always_inline void scribe_nc_size(struct scribe_proc *p, const struct scribe_library_offsets *im,
					   struct scribe_calls *calls, const struct scribe_nc_access *a,
					   const struct scribe_nc_var *var)
{
	struct scribe_lib_op *op = &calls->op;
	__s64 bytes;

	__builtin_memset(&calls->pattern, 0, sizeof(calls->pattern));
	if (a->form == SCRIBE_NC_VARD) {
		bytes = scribe_mpi_size_of(im, a->filetype);
	} else {
		bytes = scribe_nc_elements(im, &calls->layer[SCRIBE_LAYER_PNETCDF], a, var);
		if (bytes > 0)
			bytes *= scribe_nc_type_bytes(var->type);
		if (a->form >= SCRIBE_NC_VARA && a->form <= SCRIBE_NC_VARM)
			scribe_nc_shape(a, var->dims, &calls->pattern);
	}
	op->unsized = bytes < 0;
	op->bytes = bytes < 0 ? 0 : bytes;
	if (op->unsized)
		scribe_count(p, SCRIBE_L_LIB_SIZE_UNKNOWN);
	calls->pattern.bytes = op->bytes;
	op->pattern_key = scribe_access_pattern_keep(p);
}

/* calls->access, with times in calls->op. */
SCRIBE_GLOBAL int scribe_nc_record(struct scribe_thread *t, struct scribe_proc *p,
				   const struct scribe_library_offsets *im)
{
	struct scribe_calls *calls = scribe_calls_get();
	struct scribe_handle *file, *h;
	struct scribe_nc_access *a;
	struct scribe_nc_var *var;
	struct scribe_lib_op *op;
	struct scribe_call *c;

	if (!t || !p || !im || !calls)
		return 0;
	c = &calls->layer[SCRIBE_LAYER_PNETCDF];
	a = &calls->access;
	op = &calls->op;
	file = scribe_handle_get(p, SCRIBE_HANDLE_NC_FILE, c->arg[0]);
	if (!file) {
		scribe_count(p, SCRIBE_L_LIB_UNKNOWN);
		return 0;
	}
	if (file->slot == SCRIBE_SKIP_SLOT)
		return 0;
	h = scribe_nc_var(t, p, im, c, file, a->varid);
	var = &calls->var;
	if (!h || !scribe_nc_var_read(im, c, a->varid, var))
		return 0;
	op->what = SCRIBE_LIB_DATA;
	op->op_class = a->op & 1;
	op->count_at = a->count_at - SCRIBE_PNETCDF_VAR_PUT_VAR + SCRIBE_LIB_NC_FORMS;
	if (a->indep)
		op->also_at = a->op & 1 ? SCRIBE_LIB_NC_INDEP_WRITES : SCRIBE_LIB_NC_INDEP_READS;
	scribe_nc_size(p, im, calls, a, var);
	scribe_lib_on(t, p, h, op);
	return 0;
}

SCRIBE_GLOBAL int scribe_nc_opened(struct scribe_thread *t, struct scribe_proc *p, const struct scribe_point *point)
{
	struct scribe_calls *calls = scribe_calls_get();
	struct scribe_handle *h;
	struct scribe_call *c;
	struct scribe_slot *s;
	__u32 index;

	if (!t || !p || !point || !calls)
		return 0;
	c = &calls->layer[SCRIBE_LAYER_PNETCDF];
	h = &calls->fresh;
	scribe_name_begin(&calls->name, SCRIBE_KIND_NC_FILE, c->arg[0], 1);
	index = scribe_lib_slot(t, p, calls);
	s = scribe_lib_slot_at(index);
	__builtin_memset(h, 0, sizeof(*h));
	h->note = c->start_ns;
	h->generation = s ? s->generation : 0;
	h->slot = s ? index : SCRIBE_SKIP_SLOT;
	scribe_handle_put(p, SCRIBE_HANDLE_NC_FILE, scribe_user_u32(c->arg[1]), h);
	if (!s)
		return 0;
	calls->op.what = SCRIBE_LIB_OPEN;
	calls->op.count_at = point->count_at;
	scribe_lib_on(t, p, h, &calls->op);
	scribe_attribute_to_layer(t, c, index, SCRIBE_LIB_NC_BELOW);
	return 0;
}

SCRIBE_GLOBAL int scribe_nc_on_file(struct scribe_thread *t, struct scribe_proc *p, const struct scribe_point *point,
				    const struct scribe_library_offsets *im, __s32 ret)
{
	struct scribe_calls *calls = scribe_calls_get();
	struct scribe_lib_op *op;
	struct scribe_handle *h;
	struct scribe_call *c;

	if (!t || !p || !point || !im || !calls)
		return 0;
	op = &calls->op;
	c = &calls->layer[SCRIBE_LAYER_PNETCDF];
	h = scribe_handle_get(p, SCRIBE_HANDLE_NC_FILE, c->arg[0]);
	if (!h) {
		if (!ret)
			scribe_count(p, SCRIBE_L_LIB_UNKNOWN);
		return 0;
	}
	op->count_at = point->count_at == SCRIBE_COUNT_NONE ? SCRIBE_LIB_NO_COUNT : point->count_at;
	if (point->fn == SCRIBE_FN_NC_WAIT) {
		op->what = SCRIBE_LIB_WAIT;
		op->op_class = SCRIBE_OP_READ;
		if (ret)
			op->count_at = SCRIBE_PNETCDF_FILE_WAIT_FAILURES;
	} else if (ret) {
		return 0;
	} else if (point->fn == SCRIBE_FN_NC_CLOSE) {
		op->what = SCRIBE_LIB_CLOSE;
	}
	if (h->slot != SCRIBE_SKIP_SLOT) {
		scribe_lib_on(t, p, h, op);
		scribe_attribute_to_layer(t, c, h->slot, SCRIBE_LIB_NC_BELOW);
		if (point->fn != SCRIBE_FN_NC_CLOSE)
			scribe_nc_moved(im, c, h);
	}
	if (point->fn != SCRIBE_FN_NC_CLOSE)
		return 0;
	for (__u32 i = 0; i < SCRIBE_NC_CLOSE_VARS; i++)
		scribe_handle_drop(p, SCRIBE_HANDLE_NC_VAR, scribe_nc_var_key(c, i));
	scribe_handle_drop(p, SCRIBE_HANDLE_NC_FILE, c->arg[0]);
	return 0;
}

SCRIBE_GLOBAL int scribe_nc_var_opened(struct scribe_thread *t, struct scribe_proc *p,
				       const struct scribe_library_offsets *im)
{
	struct scribe_calls *calls = scribe_calls_get();
	struct scribe_handle *h;
	struct scribe_call *c;

	if (!t || !p || !im || !calls)
		return 0;
	c = &calls->layer[SCRIBE_LAYER_PNETCDF];
	h = scribe_handle_get(p, SCRIBE_HANDLE_NC_FILE, c->arg[0]);
	if (!h) {
		scribe_count(p, SCRIBE_L_LIB_UNKNOWN);
		return 0;
	}
	h = h->slot == SCRIBE_SKIP_SLOT ? 0 : scribe_nc_var(t, p, im, c, h, scribe_user_u32(c->arg[1]));
	if (!h)
		return 0;
	calls->op.what = SCRIBE_LIB_OPEN;
	calls->op.count_at = SCRIBE_LIB_NC_OPENS;
	scribe_lib_on(t, p, h, &calls->op);
	return 0;
}

static __always_inline void scribe_nc_access_of(struct scribe_nc_access *a, const struct scribe_point *point)
{
	a->form = point->implied;
	a->op = point->op;
	a->count_at = point->count_at;
	a->indep = (point->flags & SCRIBE_POINT_INDEP) != 0;
}

static __always_inline int scribe_nc_posted(struct scribe_calls *calls)
{
	struct scribe_call *c = &calls->layer[SCRIBE_LAYER_PNETCDF];
	struct scribe_nc_access *a = &calls->access;
	struct scribe_proc *p = 0;
	struct scribe_thread *t = scribe_caller(&p);
	struct scribe_point *point = scribe_point_at(c->at);
	struct scribe_library_offsets *im = point ? scribe_library_offsets_at(point->image) : 0;

	if (!t || !p || !im)
		return 0;
	scribe_op_begin(&calls->op, calls->post_ns, bpf_ktime_get_ns());
	a->varid = calls->post[0];
	a->number = 0;
	a->filetype = 0;
	a->count = calls->post[1];
	a->stride = calls->post[2];
	scribe_nc_access_of(a, point);
	return scribe_nc_record(t, p, im);
}

static __always_inline int scribe_nc_end(struct scribe_calls *calls, __s32 ret)
{
	struct scribe_call *c = &calls->layer[SCRIBE_LAYER_PNETCDF];
	struct scribe_nc_access *a = &calls->access;
	struct scribe_proc *p = 0;
	struct scribe_thread *t = scribe_caller(&p);
	struct scribe_point *point = scribe_point_at(c->at);
	struct scribe_library_offsets *im = point ? scribe_library_offsets_at(point->image) : 0;

	if (!t || !p || !im)
		return 0;
	scribe_op_begin(&calls->op, c->start_ns, bpf_ktime_get_ns());
	if (point->fn == SCRIBE_FN_NC_WAIT || point->fn == SCRIBE_FN_NC_META || point->fn == SCRIBE_FN_NC_CLOSE)
		return scribe_nc_on_file(t, p, point, im, ret);
	if (ret)
		return 0;
	if (point->fn == SCRIBE_FN_NC_OPEN)
		return scribe_nc_opened(t, p, point);
	if (point->fn == SCRIBE_FN_NC_VAR_OPEN)
		return scribe_nc_var_opened(t, p, im);
	if (point->fn == SCRIBE_FN_NC_DATA) {
		a->varid = c->arg[1];
		a->number = c->arg[2];
		a->filetype = c->arg[2];
		a->count = c->arg[3];
		a->stride = c->arg[4];
		scribe_nc_access_of(a, point);
		scribe_nc_record(t, p, im);
	}
	if (point->fn == SCRIBE_FN_NC_DATA || point->fn == SCRIBE_FN_NC_MANY) {
		struct scribe_handle *file = scribe_handle_get(p, SCRIBE_HANDLE_NC_FILE, c->arg[0]);

		if (file)
			scribe_attribute_to_layer(t, c, file->slot, SCRIBE_LIB_NC_BELOW);
	}
	return 0;
}

/* What the close frees is read at entry. */
static __always_inline void scribe_nc_begin(struct scribe_proc *p, const struct scribe_call *c,
					    const struct scribe_library_offsets *im)
{
	struct scribe_handle *h;

	if (c->fn != SCRIBE_FN_NC_CLOSE)
		return;
	h = scribe_handle_get(p, SCRIBE_HANDLE_NC_FILE, c->arg[0]);
	if (h)
		scribe_nc_moved(im, c, h);
}

#endif
