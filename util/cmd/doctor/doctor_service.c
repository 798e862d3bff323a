// SPDX-License-Identifier: BSD-3-Clause
/*
 * The doctor's lines about the service of this node. Also a node's health check (--service), so everything that
 * may block has a time limit. Changes nothing. Must not know BPF.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "logfmt/base/selftest_mark.h"
#include "util/cmd/doctor/doctor_parts.h"
#include "util/cmd/logdir/logdir.h"
#include "util/link/installed.h"
#include "util/link/service_link.h"

/* Time limits of the daemon's replies, and of a file system. */
#define ANSWER_MS     2000
#define LOOK_MS       3000
#define LOG_DIR       "/var/log/ioscribe"
#define SPOOL_DIR     "/var/spool/ioscribe"
#define HOOKS_CONF    "/etc/ioscribe/hooks.conf"
#define SLURM_CONF    "/etc/slurm/slurm.conf"
#define MUNGE_SOCKET  "/run/munge/munge.socket.2"
#define PLUGIN        "spank_ioscribe.so"
#define OURS_IN_PATHS "ioscribe"

static const char *first_of(const char *variable, const char *otherwise)
{
	const char *value = getenv(variable);

	return value && value[0] ? value : otherwise;
}

static bool setting(const char *path, const char *key, char *ret, size_t cap)
{
	FILE *f = fopen(path, "re");
	size_t n = strlen(key), n_end;
	char text[4096];
	bool found = false;

	while (f && fgets(text, sizeof(text), f)) {
		char *at = text + strspn(text, " \t"), *value;

		value = at + n + strspn(at + (strlen(at) < n ? strlen(at) : n), " \t");
		if (strncasecmp(at, key, n) || *value != '=')
			continue;
		value += 1 + strspn(value + 1, " \t");
		value[strcspn(value, "#\n")] = 0;
		for (n_end = strlen(value); n_end && strchr(" \t\r", value[n_end - 1]); n_end--)
			value[n_end - 1] = 0;
		snprintf(ret, cap, "%s", value);
		found = true;
	}
	if (f)
		fclose(f);
	return found;
}

static bool mentions(const char *path, const char *word)
{
	FILE *f = fopen(path, "re");
	char text[4096];
	bool found = false;

	while (f && !found && fgets(text, sizeof(text), f))
		found = text[strspn(text, " \t")] != '#' && strstr(text, word);
	if (f)
		fclose(f);
	return found;
}

/* The number of jobs in the daemon's reply: all for root, otherwise the caller's. Negative: see err. */
static int jobs_of(int sock, int64_t deadline, struct scribe_err *err)
{
	static char packet[SCRIBE_MSG_MAX] __attribute__((aligned(8)));
	int n = 0, type = scribe_msg_send(sock, SCRIBE_MSG_JOB_LIST, 0, NULL, 0, -1, ANSWER_MS);

	if (type < 0)
		return scribe_err_set(err, type, "it does not listen: %s", strerror(-type));
	while ((type = scribe_job_receive(sock, packet, deadline, err)) == SCRIBE_MSG_JOB_ENTRY)
		n++;
	return type == SCRIBE_MSG_JOB_OK ? n : type < 0 ? type : -EPROTO;
}

static void check_build(const char *dir)
{
	char path[PATH_MAX], exe[PATH_MAX];
	unsigned pid = 0;
	ssize_t n;
	FILE *f;

	snprintf(path, sizeof(path), "%s/pid", dir);
	f = fopen(path, "re");
	if (!f || fscanf(f, "%u", &pid) != 1)
		pid = 0;
	if (f)
		fclose(f);
	/* After an upgrade /proc marks the old program's file as deleted. */
	snprintf(path, sizeof(path), "/proc/%u/exe", pid);
	n = pid ? readlink(path, exe, sizeof(exe) - 1) : -1;
	if (n <= 0)
		return;
	exe[n] = 0;
	if (n > 10 && !strcmp(exe + n - 10, " (deleted)"))
		scribe_doctor_line(SCRIBE_DOCTOR_NOTE, "service's build",
				   "process %u runs a build that was replaced: systemctl restart ioscribed", pid);
	else
		scribe_doctor_line(SCRIBE_DOCTOR_OK, "service's build", "process %u, %s", pid, exe);
}

static bool check_socket(void)
{
	const char *dir = scribe_job_dir();
	int64_t deadline = scribe_msg_now_ms() + ANSWER_MS;
	struct scribe_err err = {0};
	char path[PATH_MAX];
	struct stat st;
	int sock, n;

	snprintf(path, sizeof(path), "%s/" SCRIBE_SERVICE_SOCKET, dir);
	sock = scribe_job_connect(deadline, &err);
	/* Without a socket the service simply does not run yet, which is not a fault. */
	if (sock == -ENOENT) {
		scribe_doctor_line(SCRIBE_DOCTOR_NOTE, "service",
				   "none at %s: the first job of a prolog starts one, or systemctl enable --now "
				   "ioscribed",
				   dir);
		return false;
	}
	n = sock < 0 ? sock : jobs_of(sock, deadline, &err);
	if (sock >= 0)
		close(sock);
	if (n < 0) {
		scribe_doctor_line(SCRIBE_DOCTOR_FIX, "service", "%s; systemctl restart ioscribed, jobs go on",
				   err.text[0] ? err.text : strerror(-n));
		return false;
	}
	scribe_doctor_line(SCRIBE_DOCTOR_OK, "service", "answers at %s, %d jobs%s", path, n,
			   geteuid() ? " of yours" : "");
	if (stat(path, &st) == 0 && (st.st_mode & 0666) != 0666)
		scribe_doctor_line(SCRIBE_DOCTOR_FIX, "service's socket",
				   "mode %04o, users cannot connect: chmod 0666 %s", (unsigned)st.st_mode & 07777,
				   path);
	check_build(dir);
	return true;
}

static void check_config(const char *file)
{
	char daemon[PATH_MAX], command[2 * PATH_MAX + 64], text[1200] = "";
	const char *said;
	FILE *f;

	if (access(file, F_OK) < 0) {
		scribe_doctor_line(SCRIBE_DOCTOR_OK, "configuration", "no %s: defaults", file);
		return;
	}
	if (scribe_installed_daemon(daemon, sizeof(daemon)) < 0 || strchr(daemon, '\'') || strchr(file, '\''))
		return;
	/* The daemon parses the file itself, so the rules cannot differ from those at its start. */
	snprintf(command, sizeof(command), "'%s' --check-config '%s' 2>&1", daemon, file);
	f = popen(command, "re");
	if (f && fgets(text, sizeof(text), f))
		text[strcspn(text, "\n")] = 0;
	said = !strncmp(text, "ioscribed: ", 11) ? text + 11 : text;
	if (f && pclose(f) == 0)
		scribe_doctor_line(SCRIBE_DOCTOR_OK, "configuration", "%s%s%s", file, said[0] ? ": " : "", said);
	else
		scribe_doctor_line(SCRIBE_DOCTOR_FIX, "configuration", "%s", said);
}

static bool hook_option(const struct scribe_hooks *h, const char *name, char *ret, size_t cap)
{
	char options[sizeof(h->options)], *rest = options, *word;
	size_t n = strlen(name);
	bool found = false;

	strcpy(options, h->options);
	while ((word = strsep(&rest, " \t"))) {
		if (strncmp(word, name, n) || word[n] != '=')
			continue;
		snprintf(ret, cap, "%s", word + n + 1);
		found = true;
	}
	return found;
}

/* ret_text: what is wrong with the directory; empty: nothing. */
static void look(const char *dir, const char *layout, char *ret_text, size_t cap)
{
	struct pollfd answer = {.events = POLLIN};
	/* A child process looks: on a file system that does not respond only the child hangs. */
	ssize_t n = -1;
	int pair[2];
	pid_t pid;

	ret_text[0] = 0;
	if (pipe2(pair, O_CLOEXEC) < 0)
		return;
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		scribe_logdir_check(dir, layout, ret_text, cap);
		_exit(write(pair[1], ret_text, strlen(ret_text) + 1) < 0);
	}
	close(pair[1]);
	answer.fd = pair[0];
	if (pid > 0 && poll(&answer, 1, LOOK_MS) == 1)
		n = read(pair[0], ret_text, cap - 1);
	if (n > 0)
		ret_text[n] = 0;
	else
		snprintf(ret_text, cap, "%s: its file system does not answer", dir);
	close(pair[0]);
	if (pid > 0 && n <= 0)
		kill(pid, SIGKILL); /* it may be in uninterruptible sleep, so it is not waited for */
	else if (pid > 0)
		waitpid(pid, NULL, 0);
}

/* The hooks' options override the configuration file, as they do for a job. */
static bool place_of(const char *config, const struct scribe_hooks *h, const char *key, char *ret, size_t cap)
{
	bool said = setting(config, key, ret, cap);

	return hook_option(h, key, ret, cap) || said;
}

void scribe_site_log_dir(char *ret_dir, size_t cap)
{
	static struct scribe_hooks h;

	snprintf(ret_dir, cap, "%s", LOG_DIR);
	scribe_hooks_read(first_of("IOSCRIBE_HOOKS_CONF", HOOKS_CONF), &h, false);
	place_of(first_of(SCRIBE_ENV_CONFIG, SCRIBE_SERVICE_CONFIG), &h, "log_dir", ret_dir, cap);
}

static void check_log_dir(const char *config, const struct scribe_hooks *h)
{
	char dir[PATH_MAX] = LOG_DIR, layout[64] = "dated", text[1024];
	char *user;
	bool said = place_of(config, h, "log_dir", dir, sizeof(dir));

	place_of(config, h, "log_layout", layout, sizeof(layout));
	user = strstr(dir, "%u");
	if (user) {
		*user = 0;
		strcpy(layout, "users");
	}
	if (!said && access(dir, F_OK) < 0) {
		scribe_doctor_line(SCRIBE_DOCTOR_OK, "log directory", "%s, which the service makes", dir);
		return;
	}
	look(dir, layout, text, sizeof(text));
	if (!text[0])
		scribe_doctor_line(SCRIBE_DOCTOR_OK, "log directory", "%s, %s", dir, layout);
	else
		scribe_doctor_line(SCRIBE_DOCTOR_FIX, "log directory", "%s", text);
}

static const struct passwd *whose(const char *user)
{
	const struct passwd *pw = NULL;

	user = user ? user : getenv("SUDO_USER");
	/* A job's log is never root's; otherwise uid 65534 serves. */
	if (user && strcmp(user, "root"))
		pw = getpwnam(user);
	return pw ? pw : getpwuid(65534);
}

static void check_try(const struct scribe_hooks *h, const char *user)
{
	static char dir[PATH_MAX];
	/* The running daemon tries it: its sandbox and its configuration decide for real jobs too. */
	const struct passwd *pw = whose(user);
	struct scribe_err err = {0};

	if (user && (!pw || strcmp(pw->pw_name, user))) {
		scribe_doctor_line(SCRIBE_DOCTOR_FIX, "a job's log", "there is no user %s", user);
		return;
	}
	if (!pw)
		return;
	if (geteuid() != 0)
		scribe_doctor_line(SCRIBE_DOCTOR_NOTE, "a job's log", "not tried: the service does it for root alone");
	else if (scribe_doctor_try(h, pw, dir, sizeof(dir), &err) < 0)
		scribe_doctor_line(SCRIBE_DOCTOR_FIX, "a job's log", "%s", err.text);
	else
		scribe_doctor_line(SCRIBE_DOCTOR_OK, "a job's log",
				   "%s: the service wrote one of user %s there and removed it", dir, pw->pw_name);
}

static unsigned logs_in(const char *path, bool users)
{
	DIR *dir = opendir(path);
	struct dirent *e;
	unsigned n = 0;

	while (dir && (e = readdir(dir))) {
		size_t bytes = strlen(e->d_name);
		char folder[PATH_MAX + NAME_MAX + 2];

		snprintf(folder, sizeof(folder), "%s/%s", path, e->d_name);
		if (users && e->d_name[0] != '.')
			n += logs_in(folder, false);
		else
			n += bytes > 8 && !strcmp(e->d_name + bytes - 8, ".darshan");
	}
	if (dir)
		closedir(dir);
	return n;
}

static void check_spool(const char *config)
{
	char path[PATH_MAX] = SPOOL_DIR;
	struct stat st;
	unsigned n;

	setting(config, "spool_dir", path, sizeof(path));
	if (!path[0] || geteuid() != 0)
		return; /* mode 0700: only root can read it */
	if (lstat(path, &st) < 0) {
		scribe_doctor_line(SCRIBE_DOCTOR_OK, "spool", "%s, made when it is needed", path);
		return;
	}
	if (!S_ISDIR(st.st_mode) || st.st_uid || st.st_mode & 066) {
		scribe_doctor_line(SCRIBE_DOCTOR_FIX, "spool", "%s must be root's, mode 0700: the service refuses it",
				   path);
		return;
	}
	n = logs_in(path, true);
	if (n)
		scribe_doctor_line(SCRIBE_DOCTOR_NOTE, "spool",
				   "%u logs in %s wait for their place (ioscribe job list names each): ioscribe logdir "
				   "--check says what is wrong there",
				   n, path);
	else
		scribe_doctor_line(SCRIBE_DOCTOR_OK, "spool", "%s, empty", path);
}

static bool is_ours(const char *conf, const char *key)
{
	char value[PATH_MAX];

	/* Found by the word in the path, because a site may have copied the hooks elsewhere. */
	if (!setting(conf, key, value, sizeof(value)) || !strstr(value, OURS_IN_PATHS))
		return false;
	if (value[0] == '/' && !strpbrk(value, "*?[") && access(value, X_OK) < 0)
		scribe_doctor_line(SCRIBE_DOCTOR_FIX, "Slurm's hooks", "%s: %s=%s: %s; Slurm drains the node", conf,
				   key, value, strerror(errno));
	return true;
}

static void check_plugin(const char *plugstack)
{
	static const char *const places[] = {"../lib/slurm/" PLUGIN,
					     "../lib64/slurm/" PLUGIN,
					     "../lib/x86_64-linux-gnu/slurm/" PLUGIN,
					     "../lib/aarch64-linux-gnu/slurm/" PLUGIN,
					     "../lib/x86_64-linux-gnu/slurm-wlm/" PLUGIN,
					     "../lib/aarch64-linux-gnu/slurm-wlm/" PLUGIN,
					     "../runtime/slurm/" PLUGIN,
					     NULL};
	char path[PATH_MAX];

	if (mentions(plugstack, PLUGIN))
		scribe_doctor_line(SCRIBE_DOCTOR_OK, "Slurm's plugin", "in %s", plugstack);
	else if (scribe_installed_find(places, path, sizeof(path)) == 0)
		scribe_doctor_line(SCRIBE_DOCTOR_NOTE, "Slurm's plugin",
				   "not in %s: no --ioscribe for sbatch; add: optional %s", plugstack, path);
	else
		scribe_doctor_line(SCRIBE_DOCTOR_NOTE, "Slurm's plugin",
				   "not in %s: no --ioscribe for sbatch; " PLUGIN
				   " is not part of this installation (its build needs Slurm's header)",
				   plugstack);
}

static void check_slurm(void)
{
	const char *conf = first_of("SLURM_CONF", SLURM_CONF);
	char plugstack[PATH_MAX], value[PATH_MAX];
	bool prolog, epilog;

	/* Only Slurm is checked. */
	if (access(conf, R_OK) < 0)
		return;
	prolog = is_ours(conf, "Prolog");
	epilog = is_ours(conf, "Epilog");
	if (prolog && epilog)
		scribe_doctor_line(SCRIBE_DOCTOR_OK, "Slurm's hooks", "Prolog and Epilog of %s", conf);
	else
		scribe_doctor_line(SCRIBE_DOCTOR_NOTE, "Slurm's hooks",
				   "%s of %s is not ours by its name: a site's own must call ours (docs/site-guide.md)",
				   prolog ? "Epilog" : "Prolog", conf);
	snprintf(plugstack, sizeof(plugstack), "%.*s/plugstack.conf",
		 (int)(strrchr(conf, '/') ? strrchr(conf, '/') - conf : 0), conf);
	setting(conf, "PlugStackConfig", plugstack, sizeof(plugstack));
	check_plugin(plugstack);
	if (setting(conf, "AuthType", value, sizeof(value)) && strstr(value, "munge") && !mentions(conf, "AuthInfo") &&
	    access(MUNGE_SOCKET, F_OK) < 0)
		scribe_doctor_line(SCRIBE_DOCTOR_NOTE, "munge",
				   "no " MUNGE_SOCKET ": Slurm cannot authenticate: systemctl start munge");
}

static void check_age(const char *config)
{
	char path[PATH_MAX];
	struct stat file, pid;

	snprintf(path, sizeof(path), "%s/pid", scribe_job_dir());
	/* The pid file dates from the daemon's start, when it read the configuration. */
	if (stat(config, &file) == 0 && stat(path, &pid) == 0 && file.st_mtime > pid.st_mtime)
		scribe_doctor_line(SCRIBE_DOCTOR_NOTE, "configuration",
				   "%s has changed since the service started: systemctl restart ioscribed, jobs go on",
				   config);
}

static void check_selftest(const char *config)
{
	char yes[8] = "";

	if (geteuid() == 0 && setting(config, "require_selftest", yes, sizeof(yes)) && !strcmp(yes, "yes") &&
	    !scribe_selftest_passed(scribe_job_dir()))
		scribe_doctor_line(SCRIBE_DOCTOR_FIX, "selftest",
				   "required, and not passed on this kernel: no job is traced; run "
				   "ioscribe doctor --selftest");
}

void scribe_doctor_service(const char *user)
{
	const char *config = first_of(SCRIBE_ENV_CONFIG, SCRIBE_SERVICE_CONFIG);
	const char *hooks = first_of("IOSCRIBE_HOOKS_CONF", HOOKS_CONF);
	static struct scribe_hooks h;
	bool answers;

	/* Check the service that the hooks connect to, unless the caller's environment selects another. */
	scribe_hooks_read(hooks, &h, false);
	if (h.dir[0] && !first_of(SCRIBE_ENV_DIR, NULL))
		setenv(SCRIBE_ENV_DIR, h.dir, 1);
	answers = check_socket();
	check_config(config);
	if (answers)
		check_age(config);
	check_selftest(config);
	scribe_doctor_hooks(hooks, &h);
	check_log_dir(config, &h);
	if (answers)
		check_try(&h, user);
	check_spool(config);
	check_slurm();
}
