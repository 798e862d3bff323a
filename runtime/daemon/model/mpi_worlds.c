/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * struct scribe_worlds owns units, ranks and processes; the caller frees what ranks hold. Must not know
 * of maps, names or logs.
 */
#include "runtime/daemon/model/mpi_worlds.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "runtime/daemon/model/launchers.h"

#define ARGS_MAX 4096 /* bytes of a command line */

static struct scribe_log_unit *unit_new(struct scribe_worlds *worlds, const char *key)
{
	struct scribe_log_unit *u = calloc(1, sizeof(*u)), **at = &worlds->units;

	if (!u)
		return NULL;
	u->id = worlds->next_id++;
	u->jobid = -1;
	snprintf(u->key, sizeof(u->key), "%s", key);
	while (*at)
		at = &(*at)->next;
	*at = u;
	return u;
}

static struct scribe_rank *unit_rank(struct scribe_log_unit *u, int64_t number, uint32_t root)
{
	struct scribe_rank *r = scribe_map_get(&u->ranks, (uint64_t)number);

	if (r)
		return r;
	r = calloc(1, sizeof(*r));
	if (!r)
		return NULL;
	r->rank = number;
	r->root = root;
	if (scribe_map_put(&u->ranks, (uint64_t)number, r) < 0) {
		free(r);
		return NULL;
	}
	return r;
}

int scribe_worlds_init(struct scribe_worlds *worlds, size_t list_limit)
{
	memset(worlds, 0, sizeof(*worlds));
	worlds->list_limit = list_limit;
	worlds->rest = unit_new(worlds, "");
	if (!worlds->rest || !unit_rank(worlds->rest, 0, 0))
		return -ENOMEM;
	worlds->rest->nprocs = 1;
	return 0;
}

static struct scribe_process *process_free(struct scribe_process *p)
{
	if (p) {
		free(p->exe);
		free(p->args);
		free(p->why);
		free(p->parent_cmdline);
		free(p->env);
		free(p->jobenv);
		free(p->draining);
		free(p);
	}
	return NULL;
}

static void unit_free(struct scribe_log_unit *u, void (*free_rank)(struct scribe_rank *))
{
	for (size_t i = 0; i < u->ranks.buckets; i++) {
		if (u->ranks.entry[i].value && free_rank)
			free_rank(u->ranks.entry[i].value);
		free(u->ranks.entry[i].value);
	}
	scribe_map_clear(&u->ranks);
	free(u->log_path);
	free(u->partial);
	free(u->claimed);
	free(u);
}

void scribe_worlds_clear(struct scribe_worlds *worlds, void (*free_rank)(struct scribe_rank *))
{
	struct scribe_log_unit *u, *next;

	for (u = worlds->units; u; u = next) {
		struct scribe_process *p, *after;

		next = u->next;
		for (p = u->first; p; p = after) {
			after = p->next;
			process_free(p);
		}
		unit_free(u, free_rank);
	}
	scribe_map_clear(&worlds->by_proc_id);
	memset(worlds, 0, sizeof(*worlds));
}

struct scribe_process *scribe_worlds_find(struct scribe_worlds *worlds, uint32_t proc_id)
{
	return scribe_map_get(&worlds->by_proc_id, proc_id);
}

/* Appends an item that the list lacks; it may be cut at the end. */
static void list_add(char *list, size_t cap, const char *separator, const char *item, size_t bytes)
{
	const size_t n = strlen(list), gap = strlen(separator);

	for (const char *at = list; at; at = strstr(at, separator) ? strstr(at, separator) + gap : NULL)
		if (!strncmp(at, item, bytes) && (!at[bytes] || !strncmp(at + bytes, separator, gap)))
			return;
	snprintf(list + n, cap - n, "%s%.*s", n ? separator : "", (int)bytes, item);
}

/* Causes are separated by "; ". */
static void add_causes(char *to, size_t cap, const char *why)
{
	while (*why) {
		const char *end = strstr(why, "; ");
		const size_t bytes = end ? (size_t)(end - why) : strlen(why);

		list_add(to, cap, "; ", why, bytes);
		why += end ? bytes + 2 : bytes;
	}
}

static void report_missed(const struct scribe_process *p)
{
	p->unit->missed |= p->missed;
	if (p->why)
		add_causes(p->unit->why, sizeof(p->unit->why), p->why);
}

void scribe_worlds_missed(struct scribe_process *p, uint64_t modules, const char *why)
{
	p->missed |= modules;
	if (!p->why && why)
		p->why = calloc(1, sizeof(p->unit->why));
	if (p->why && why)
		add_causes(p->why, sizeof(p->unit->why), why);
	report_missed(p);
}

static void enter_unit(struct scribe_log_unit *u, struct scribe_process *p)
{
	p->unit = u;
	p->next = NULL;
	p->prev = u->last;
	if (u->last)
		u->last->next = p;
	else
		u->first = p;
	u->last = p;
	u->listed++;
	u->processes++;
	if (!p->ended)
		u->live++;
	if (!u->start_ns || p->start_ns < u->start_ns)
		u->start_ns = p->start_ns;
	report_missed(p);
}

static void unlink_process(struct scribe_log_unit *u, struct scribe_process *p)
{
	if (p->prev)
		p->prev->next = p->next;
	else
		u->first = p->next;
	if (p->next)
		p->next->prev = p->prev;
	else
		u->last = p->prev;
	u->listed--;
}

static void leave_unit(struct scribe_process *p)
{
	struct scribe_log_unit *u = p->unit;

	unlink_process(u, p);
	u->processes--;
	if (!p->ended)
		u->live--;
}

static void set_rank(struct scribe_process *p, struct scribe_rank *r)
{
	if (p->rank && !p->ended)
		p->rank->live--;
	p->rank = r;
	if (r && !p->ended)
		r->live++;
	if (r)
		r->bypass |= p->bypass;
}

static void move_to_rank(struct scribe_process *p, struct scribe_log_unit *u, struct scribe_rank *r)
{
	if (p->unit != u) {
		leave_unit(p);
		enter_unit(u, p);
	}
	set_rank(p, r);
	if (u->id)
		u->has_non_launcher = true;
}

/* Starts the ranks of a framework. */
static bool is_agent(const struct scribe_process *p)
{
	return p->is_launcher && p->below_framework && !p->ended;
}

struct scribe_process *scribe_worlds_fork(struct scribe_worlds *worlds, uint32_t proc_id, uint32_t parent,
					  uint64_t now_ns)
{
	struct scribe_process *p = scribe_worlds_find(worlds, proc_id);
	struct scribe_process *parent_process = parent ? scribe_worlds_find(worlds, parent) : NULL;

	if (p)
		return p;
	p = calloc(1, sizeof(*p));
	if (!p || scribe_map_put(&worlds->by_proc_id, proc_id, p) < 0)
		return process_free(p);
	p->proc_id = proc_id;
	p->parent_serial = parent;
	p->start_ns = now_ns;
	p->own_root_dir = true;
	if (parent_process) {
		p->launcher = parent_process->launcher;
		p->launcher_below_rank = parent_process->launcher_below_rank;
		p->is_launcher = parent_process->is_launcher;
		p->below_framework = parent_process->below_framework;
		memcpy(p->seen, parent_process->seen, sizeof(p->seen));
		p->own_root_dir = parent_process->own_root_dir;
		p->root_id = parent_process->root_id;
		p->disabled = parent_process->disabled;
		p->is_excluded = parent_process->is_excluded;
		p->wrap_state = parent_process->wrap_state;
		p->counted_inside = parent_process->counted_inside;
		p->exe = parent_process->exe ? strdup(parent_process->exe) : NULL;
		memcpy(p->comm, parent_process->comm, sizeof(p->comm));
	}
	/* A committed unit's log is complete: late processes go to the rest. */
	enter_unit(parent_process && !parent_process->unit->committed ? parent_process->unit : worlds->rest, p);
	set_rank(p, parent_process && p->unit == parent_process->unit ? parent_process->rank
								      : scribe_map_get(&worlds->rest->ranks, 0));
	if (!p->is_launcher && parent_process)
		p->unit->has_non_launcher = true;
	worlds->living++;
	worlds->living_agents += is_agent(p);
	return p;
}

static char *join_args(const char *argv, size_t bytes)
{
	size_t n = bytes < ARGS_MAX ? bytes : ARGS_MAX;
	char *line;

	while (n && argv[n - 1] == 0)
		n--;
	line = malloc(n + 1);
	if (!line)
		return NULL;
	for (size_t i = 0; i < n; i++)
		line[i] = argv[i] ? argv[i] : ' ';
	line[n] = 0;
	return line;
}

static char *first_arg(const char *argv, size_t bytes)
{
	return bytes && argv[0] ? strndup(argv, bytes) : NULL;
}

void scribe_worlds_parent_cmdline(struct scribe_process *p, const char *argv, size_t bytes)
{
	free(p->parent_cmdline);
	p->parent_cmdline = join_args(argv, bytes);
}

/* One line of the log's metadata has them all. */
static void add_launcher(struct scribe_worlds *worlds, const char *name)
{
	if (!strpbrk(name, ",\n"))
		list_add(worlds->launchers, sizeof(worlds->launchers), ", ", name, strlen(name));
}

/* Beginnings of file names. */
static const char *const bypass_names[SCRIBE_BYPASSES] = {
	[SCRIBE_BYPASS_CUFILE] = "libcufile.so",
	[SCRIBE_BYPASS_DAOS] = "libdaos.so",
	[SCRIBE_BYPASS_SPDK] = "libspdk",
	[SCRIBE_BYPASS_URING] = SCRIBE_PASSTHROUGH,
};

bool scribe_worlds_mapped(struct scribe_process *p, const char *name)
{
	const uint32_t before = p->bypass;

	for (int i = 0; i < SCRIBE_BYPASSES; i++)
		if (!strncmp(name, bypass_names[i], strlen(bypass_names[i])))
			p->bypass |= 1u << i;
	if (p->rank)
		p->rank->bypass |= p->bypass;
	return p->bypass != before;
}

void scribe_log_unit_bypass(const struct scribe_log_unit *u, char *ret, size_t cap)
{
	size_t at = 0;

	ret[0] = 0;
	for (int i = 0; i < SCRIBE_BYPASSES; i++) {
		unsigned ranks = 0;

		for (size_t k = 0; k < u->ranks.buckets; k++) {
			const struct scribe_rank *r = u->ranks.entry[k].value;

			ranks += r && r->bypass >> i & 1;
		}
		if (ranks && at < cap)
			at += (size_t)snprintf(ret + at, cap - at, "%s%s in %u rank%s", at ? ", " : "", bypass_names[i],
					       ranks, ranks == 1 ? "" : "s");
	}
}

int scribe_worlds_exec(struct scribe_worlds *worlds, struct scribe_process *p, const char *argv, size_t bytes,
		       const char *exe)
{
	char *name = first_arg(argv, bytes), text[PATH_MAX];
	const char *framework = scribe_framework_launcher(argv, bytes, text);
	const bool launcher = framework || (name && scribe_is_launcher(name)) || (exe && scribe_is_launcher(exe));

	if (name && !worlds->remote[0] && scribe_starts_elsewhere(name, p->launcher != 0))
		snprintf(worlds->remote, sizeof(worlds->remote), "%.31s", scribe_base_name(name));
	free(p->args);
	if (launcher)
		add_launcher(worlds, framework ? framework : scribe_base_name(name ? name : exe));
	p->args = join_args(argv, bytes);
	free(p->exe);
	p->exe = exe ? strdup(exe) : NULL;
	if (!p->exe) {
		p->exe = name;
		name = NULL;
	}
	free(name);
	worlds->living_agents -= is_agent(p);
	p->is_launcher = launcher;
	if (launcher) {
		p->launcher = p->proc_id;
		p->launcher_below_rank = true;
		p->below_framework = framework != NULL;
	} else if (p->launcher == p->proc_id) {
		/* A launcher executed another program. */
		p->launcher = 0;
		p->launcher_below_rank = false;
	}
	worlds->living_agents += is_agent(p);
	return p->args && p->exe ? 0 : -ENOMEM;
}

static void world_key(struct scribe_worlds *worlds, const struct scribe_process *p, const char *world, bool framework,
		      char *ret_key, size_t cap)
{
	const struct scribe_process *launcher = p->launcher ? scribe_worlds_find(worlds, p->launcher) : NULL;
	const uint32_t parent = p->parent_serial ? p->parent_serial : p->proc_id;

	if (world[0] && (framework || !strncmp(world, "pmix:", 5)))
		snprintf(ret_key, cap, "%s", world);
	else if (framework)
		snprintf(ret_key, cap, "process:%u", parent);
	else if (scribe_hydra_key(launcher ? launcher->args : p->parent_cmdline, ret_key, cap))
		return;
	else if (world[0])
		snprintf(ret_key, cap, "%s", world);
	else if (p->launcher)
		snprintf(ret_key, cap, "launcher:%u", p->launcher);
	else
		snprintf(ret_key, cap, "process:%u", parent);
}

static struct scribe_log_unit *world_by_key(struct scribe_worlds *worlds, const char *key)
{
	struct scribe_log_unit *u;

	for (u = worlds->units; u; u = u->next)
		if (u->id && !u->committed && !strcmp(u->key, key))
			return u;
	return unit_new(worlds, key);
}

static int make_root(struct scribe_worlds *worlds, struct scribe_process *p, const char *key, int64_t rank,
		     int64_t size)
{
	struct scribe_log_unit *u = world_by_key(worlds, key);
	struct scribe_rank *r = u ? unit_rank(u, rank, p->proc_id) : NULL;

	if (!r)
		return -ENOMEM;
	if (!u->launcher)
		u->launcher = p->launcher;
	if (size > u->nprocs)
		u->nprocs = size;
	move_to_rank(p, u, r);
	p->is_root = true;
	p->launcher_below_rank = false;
	return 0;
}

static void drop_if_empty(struct scribe_worlds *worlds, struct scribe_log_unit *u)
{
	struct scribe_log_unit **at = &worlds->units;

	if (!u->id || u->processes || u->committed) /* a committed log may be under way */
		return;
	for (size_t i = 0; i < u->ranks.buckets; i++) {
		struct scribe_rank *r = u->ranks.entry[i].value;

		if (r && (r->records || r->fetched || r->core))
			return;
	}
	while (*at && *at != u)
		at = &(*at)->next;
	if (*at)
		*at = u->next;
	unit_free(u, NULL);
}

/*
 * A script has set the variables: to the numbers of the MPI rank that it is in, or for one process, and then for each
 * command that follows.
 */
static bool is_no_other_rank(const struct scribe_process *p, const struct scribe_rankenv *env)
{
	if (env->size == 1 && !p->below_framework)
		return true;
	return env->launcher == SCRIBE_RANK_TORCH && p->unit->id && p->rank && p->rank->rank == env->rank &&
	       p->unit->nprocs == env->size;
}

static int make_framework_root(struct scribe_worlds *worlds, struct scribe_process *p, const struct scribe_rankenv *env,
			       const char *key)
{
	struct scribe_process *parent = scribe_worlds_find(worlds, p->parent_serial);
	struct scribe_log_unit *was = p->unit;
	int rc = 0;

	if (env->launcher == SCRIBE_RANK_LIGHTNING && parent && !parent->unit->id && !parent->is_launcher)
		rc = make_root(worlds, parent, key, 0, env->size);
	if (rc == 0)
		rc = make_root(worlds, p, key, env->rank, env->size);
	if (rc < 0)
		return rc;
	p->unit->is_framework = true;
	if (was != p->unit)
		drop_if_empty(worlds, was);
	return 0;
}

int scribe_worlds_env(struct scribe_worlds *worlds, struct scribe_process *p, const struct scribe_rankenv *env)
{
	const bool framework = scribe_rank_is_framework(env->launcher);
	char key[SCRIBE_WORLD_MAX + 16];
	int rc;

	memcpy(p->seen, env->seen, sizeof(p->seen));
	if (env->jobid >= 0 && p->unit->jobid < 0)
		p->unit->jobid = env->jobid;
	if (p->is_launcher)
		return 0;
	worlds->unknown_ranks += env->unknown;
	/* A helper of a framework's launcher has the variables of the launcher's own rank. */
	if (env->rank < 0 || env->unknown || (p->below_framework && !framework && env->inherited)) {
		p->unit->has_non_launcher = true;
		return 0;
	}
	if (framework ? is_no_other_rank(p, env) : p->rank && p->unit->id && !p->launcher_below_rank) {
		/* a descendant of the rank's root, or the root after another exec */
		p->unit->has_non_launcher = true;
		return 0;
	}
	world_key(worlds, p, env->world, framework, key, sizeof(key));
	rc = framework ? make_framework_root(worlds, p, env, key) : make_root(worlds, p, key, env->rank, env->size);
	if (rc == 0 && env->jobid >= 0 && p->unit->jobid < 0)
		p->unit->jobid = env->jobid;
	return rc;
}

int scribe_worlds_hello(struct scribe_worlds *worlds, struct scribe_process *p, int64_t rank, int64_t size,
			const char *pmix_namespace)
{
	char key[SCRIBE_WORLD_MAX + 16], world[SCRIBE_WORLD_MAX + 8] = "";
	struct scribe_log_unit *was = p->unit;
	int rc;

	if (was->id && p->rank->rank == rank && (was->nprocs == size || was->nprocs == 0 || size > 1)) {
		if (size > was->nprocs)
			was->nprocs = size;
		return 1;
	}
	/* A separate MPI program inside a rank: its I/O belongs to the rank; as does MPI for one process in a rank. */
	if (was->id && !p->launcher_below_rank && (!p->is_root || (was->is_framework && size == 1)))
		return 0;
	if (size > 1) {
		if (pmix_namespace && pmix_namespace[0])
			snprintf(world, sizeof(world), "pmix:%.240s", pmix_namespace);
		world_key(worlds, p, world, false, key, sizeof(key));
	} else {
		snprintf(key, sizeof(key), "single:%u", p->proc_id);
	}
	rc = make_root(worlds, p, key, rank, size);
	if (rc < 0)
		return rc;
	if (size == 1)
		p->unit->launcher = 0;
	if (was != p->unit)
		drop_if_empty(worlds, was);
	return 1;
}

void scribe_worlds_forget(struct scribe_worlds *worlds, struct scribe_log_unit *u)
{
	struct scribe_process *p, *next;

	for (p = u->first; p; p = next) {
		next = p->next;
		if (!p->ended)
			continue;
		unlink_process(u, p);
		scribe_map_take(&worlds->by_proc_id, p->proc_id);
		process_free(p);
	}
}

static void add_totals(struct scribe_process_totals *to, const struct scribe_process_totals *t)
{
	const uint64_t *from = (const uint64_t *)t;

	for (size_t i = 0; i < sizeof(*to) / sizeof(*from); i++)
		((uint64_t *)to)[i] += from[i];
}

static void unlist(struct scribe_worlds *worlds, struct scribe_log_unit *u, struct scribe_process *p)
{
	add_totals(&u->summed_processes, &p->totals);
	u->nsummed_processes++;
	unlink_process(u, p);
	scribe_map_take(&worlds->by_proc_id, p->proc_id);
	process_free(p);
}

void scribe_worlds_exit(struct scribe_worlds *worlds, struct scribe_process *p, enum scribe_process_end kind,
			int32_t status, uint64_t now_ns)
{
	struct scribe_log_unit *u = p->unit;

	if (p->ended)
		return;
	worlds->living_agents -= is_agent(p);
	p->ended = true;
	p->end_kind = kind;
	p->status = status;
	p->end_ns = now_ns;
	u->live--;
	worlds->living--;
	add_totals(&worlds->ended, &p->totals);
	if (p->rank)
		p->rank->live--;
	if (now_ns > u->end_ns)
		u->end_ns = now_ns;
	if (status != 0)
		u->failed++;
	free(p->env);
	free(p->jobenv);
	p->env = NULL;
	p->jobenv = NULL;
	if (p->is_root || p->is_launcher || !p->parent_serial)
		return; /* few, and their arguments are needed later */
	free(p->args);
	p->args = NULL;
	if (u->listed > worlds->list_limit)
		unlist(worlds, u, p);
}
