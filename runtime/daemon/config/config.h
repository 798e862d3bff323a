/* SPDX-License-Identifier: BSD-3-Clause */
/* Settings of a job; docs/config.md describes every key. */
#ifndef RUNTIME_DAEMON_CONFIG_CONFIG_H
#define RUNTIME_DAEMON_CONFIG_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "logfmt/base/err.h"
#include "logfmt/base/proto.h"
#include "runtime/core/path_exclusions.h"
#include "runtime/daemon/config/exclusion_rules.h"

struct scribe_config {
	bool locked;                   /* settings of a user follow: site keys are refused */
	bool late;                     /* the job has begun: keys for its beginning are refused */
	uint32_t old_keys;             /* set by former names (old_names.h), as bits */
	uint32_t records;              /* at a time */
	uint32_t processes;            /* at a time */
	uint32_t job_records;          /* per job of a service; 0: half of `records` */
	uint32_t job_processes;        /* per job; 0: half of `processes` */
	uint32_t max_listed_processes; /* in a log's process table */
	uint32_t mem_alignment;        /* bytes; 0: MEM_NOT_ALIGNED is not counted */
	bool opt_out;
	bool show_privileged;
	bool all_types;
	uint32_t exit_grace_ms;
	uint32_t finalize_timeout_ms;
	char collective[5]; /* auto, yes, no */
	bool runtime;
	uint32_t user_jobs; /* limits per user of a service */
	uint32_t user_connections;
	uint32_t user_spool_mib, user_files;
	uint32_t user_records, user_processes; /* of all jobs of a user; 0: half of the total */
	uint32_t user_helper_share;            /* per cent of a processor */
	uint32_t client_idle_timeout_ms;
	bool load_at_start;
	bool require_selftest;
	bool attach_at_begin;
	uint32_t attach_linger_ms;
	char bpf_attach_mode[16]; /* auto, or a name of SCRIBE_BPF_LEVELS */
	bool attach_inexact;      /* development: also a mode that loses calls on this kernel */
	char modules[256];        /* comma-separated */
	char trace_libraries[64]; /* stdio, mpiio, hdf5, pnetcdf, cufile, none, auto */
	char library_attach[8];   /* auto, multi, events */
	bool library_cache;
	bool stdio_wrap; /* preloaded programs count streams themselves */
	bool mpiio_wrap; /* and data calls of MPI-IO */
	bool dxt;
	bool dxt_threads;
	double dxt_small, dxt_unaligned; /* least shares of such operations; 0: all files */
	uint32_t dxt_memory;             /* MiB, for all jobs */
	uint32_t dxt_spool;              /* MiB in files beyond that */
	char dxt_dir[SCRIBE_PATH_MAX];
	char user_libraries[8];              /* never, always */
	char library_paths[SCRIBE_PATH_MAX]; /* colon-separated */
	struct scribe_exclusions paths;
	struct scribe_exclusion_rules exclusion_rules; /* of Darshan's keys */
	bool unshared;                                 /* no reduction over ranks */
	char log_hints[256];
	char job_number[32];                /* in the log; "": the scheduler's */
	char log_file[SCRIBE_PATH_MAX];     /* absolute; "": log_dir */
	char log_dir[SCRIBE_PATH_MAX];      /* absolute; %u: user name */
	char spool_dir[SCRIBE_PATH_MAX];    /* "": /tmp */
	char metrics_file[SCRIBE_PATH_MAX]; /* "": none */
	uint32_t metrics_interval_s;
	uint32_t overhead_budget; /* per cent of the processes' processor time; 0: none */
	uint32_t write_deadline_ms;
	uint32_t layout_deadline_ms;
	char layout_source[128]; /* "TYPE,ATTRIBUTE"; "": Lustre's */
	char stream[1024];       /* space-separated; docs/streams.md */
	uint32_t stream_uid;     /* identity of the publishers; 0: disabled */
	char stream_hosts[1024]; /* allowed for users, comma-separated; "": any */
	bool dated;              /* LOGDIR/YYYY/M/D instead of LOGDIR */
	bool own_place;          /* log_dir or log_file was set by the user */
	uint32_t uid, gid;
	char user[64];
	char user_said[64];            /* name sent by the client: not trusted */
	char library[SCRIBE_PATH_MAX]; /* the runtime library; loading it is not counted */
};

/* Prefix of variables that set keys (upper case). */
#define SCRIBE_CONFIG_VARIABLE "IOSCRIBE_"

int scribe_config_default(struct scribe_config *c, struct scribe_err *err);
/* -ENOENT without a message: not a key of ioscribe. Otherwise as scribe_config_set. */
int scribe_config_set_key(struct scribe_config *c, const char *name, const char *value, struct scribe_err *err);
bool scribe_config_is_key_variable(const char *name);
/* For checking docs/config.md: name, default and range per line, with tabs. */
void scribe_config_print_keys(void);

bool scribe_config_is_darshan(const char *name);
/* `name` without DARSHAN_. -EINVAL, -ENOMEM. */
int scribe_config_darshan(struct scribe_config *c, const char *name, const char *value, struct scribe_err *err);

/*
 * Sets a key, also given as IOSCRIBE_KEY or DARSHAN_KEY: unknown ones of the former and bad values of the latter are
 * ignored. -EINVAL: unknown key or bad value; -EPERM: reserved for the site.
 */
int scribe_config_set(struct scribe_config *c, const char *name, const char *value, struct scribe_err *err);
/* Lines of a configuration; `label` is for messages. */
int scribe_config_text(struct scribe_config *c, const char *text, size_t bytes, const char *label,
		       struct scribe_err *err);
int scribe_config_file(struct scribe_config *c, const char *path, struct scribe_err *err);
/* All IOSCRIBE_KEY variables of this process. */
int scribe_config_environment(struct scribe_config *c, struct scribe_err *err);
bool scribe_config_is_variable(const char *name);
/* A deep copy. -ENOMEM: `to` is empty. */
int scribe_config_copy(struct scribe_config *to, const struct scribe_config *from);
/* Warns in the daemon's log about keys set by former names. */
void scribe_config_report_old_keys(const struct scribe_config *c);
void scribe_config_clear(struct scribe_config *c);

#endif
