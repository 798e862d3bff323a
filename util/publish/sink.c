// SPDX-License-Identifier: BSD-3-Clause
/*
 * The table of sinks, and those with a descriptor: file, named pipe, unix socket. `ioscribe run` only validates
 * names. Must not know what lines contain.
 */
#include "util/publish/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#ifdef SCRIBE_HAVE_KAFKA
#include "util/publish/sink_kafka.h"
#endif
#include "util/publish/sink_ldms.h"
#include "util/publish/sink_options.h"

static int check_file(const char *rest, struct scribe_err *err)
{
	return rest[0] ? 0 : scribe_err_set(err, -EINVAL, "a file's name is missing");
}

static int check_socket(const char *rest, struct scribe_err *err)
{
	const struct sockaddr_un to = {0};

	if (rest[0] && strlen(rest) < sizeof(to.sun_path))
		return 0;
	return scribe_err_set(err, -EINVAL, "a socket's name has 1 to %zu bytes", sizeof(to.sun_path) - 1);
}

static int open_file(struct scribe_sink *s, struct scribe_err *err)
{
	s->fd = open(s->rest, O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_CLOEXEC | O_NOCTTY, 0644);
	s->is_open = s->fd >= 0;
	if (!s->is_open && errno == ENXIO)
		return scribe_err_set(err, -ENXIO, "%s: nobody reads this pipe", s->rest);
	return s->is_open ? 0 : scribe_err_set(err, -errno, "%s: %s", s->rest, strerror(errno));
}

static int open_socket(struct scribe_sink *s, struct scribe_err *err)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), rc;

	if (fd < 0)
		return scribe_err_set(err, -errno, "cannot make a socket: %s", strerror(errno));
	snprintf(to.sun_path, sizeof(to.sun_path), "%s", s->rest);
	if (connect(fd, (const struct sockaddr *)&to, sizeof(to)) < 0) {
		rc = -errno;
		close(fd);
		return scribe_err_set(err, rc, "%s: %s", s->rest,
				      rc == -EAGAIN ? "whoever listens takes no connection" : strerror(-rc));
	}
	s->fd = fd;
	s->is_open = true;
	return 0;
}

static int result(struct scribe_sink *s, ssize_t n, size_t *ret_sent, struct scribe_err *err)
{
	const int code = errno;

	if (n >= 0) {
		*ret_sent = (size_t)n;
		return 0;
	}
	*ret_sent = 0;
	if (code == EINTR || code == EAGAIN)
		return 0;
	scribe_err_set(err, -code, "%s: %s", s->rest, strerror(code));
	return code == EPIPE || code == ECONNRESET ? -EPIPE : -code;
}

static int send_file(struct scribe_sink *s, const char *lines, size_t bytes, size_t *ret_sent, struct scribe_err *err)
{
	return result(s, write(s->fd, lines, bytes), ret_sent, err);
}

static int send_socket(struct scribe_sink *s, const char *lines, size_t bytes, size_t *ret_sent, struct scribe_err *err)
{
	return result(s, send(s->fd, lines, bytes, MSG_NOSIGNAL | MSG_DONTWAIT), ret_sent, err);
}

static size_t close_fd(struct scribe_sink *s, int ms)
{
	(void)ms; /* data in a pipe or socket can no longer be tracked */
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
	s->is_open = false;
	return 0;
}

static const struct scribe_sink_kind sink_socket = {"json:unix:", "json:unix:PATH", false,       check_socket,
						    NULL,         open_socket,      send_socket, close_fd};
static const struct scribe_sink_kind sink_file = {"json:", "json:FILE", false,     check_file,
						  NULL,    open_file,   send_file, close_fd};
static const struct scribe_sink_kind sink_csv_socket = {"csv:unix:", "csv:unix:PATH", true,        check_socket,
							NULL,        open_socket,     send_socket, close_fd};
static const struct scribe_sink_kind sink_csv_file = {"csv:", "csv:FILE", true,      check_file,
						      NULL,   open_file,  send_file, close_fd};

/* A longer prefix comes before one that it starts with. */
static const struct scribe_sink_kind *const kinds[] = {
	&sink_socket,       &sink_file, &sink_csv_socket, &sink_csv_file, &scribe_sink_ldms, &scribe_sink_ldms_msg,
#ifdef SCRIBE_HAVE_KAFKA
	&scribe_sink_kafka,
#endif
};

int scribe_sink_of(const char *spec, struct scribe_sink *ret_sink, struct scribe_err *err)
{
	char forms[400] = "";
	struct scribe_sink_options options;
	size_t used = 0;
	const char *kind;

	if (scribe_sink_options_read(spec, &options, &kind, err) < 0)
		return -EINVAL;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const size_t n = strlen(kinds[i]->prefix);

		used += (size_t)snprintf(forms + used, sizeof(forms) - used, "%s%s", i ? ", " : "", kinds[i]->form);
		if (strncmp(kind, kinds[i]->prefix, n))
			continue;
		options.is_csv = kinds[i]->is_csv;
		*ret_sink = (struct scribe_sink){
			.kind = kinds[i], .spec = spec, .rest = kind + n, .options = options, .fd = -1};
		if (strlen(spec) >= SCRIBE_SINK_SPEC)
			return scribe_err_set(err, -EINVAL, "'%.60s...': longer than %d bytes", spec,
					      SCRIBE_SINK_SPEC - 1);
		return kinds[i]->check(kind + n, err);
	}
	return scribe_err_set(err, -EINVAL, "'%.200s' is none of %s", kind, forms);
}

bool scribe_sink_is_path(const struct scribe_sink *sink)
{
	return !sink->kind->host;
}

static bool is_listed(const char *host, const char *list)
{
	const size_t n = strlen(host);

	while (*list) {
		const size_t len = strcspn(list, ", ");

		if (len == n && n && !strncasecmp(list, host, n)) /* host names ignore case */
			return true;
		list += len + (list[len] != 0);
	}
	return false;
}

int scribe_sink_may_reach(const struct scribe_sink *sink, const char *hosts, struct scribe_err *err)
{
	char host[256];

	for (unsigned i = 0; sink->kind->host && sink->kind->host(sink->rest, i, host, sizeof(host)); i++)
		if (!is_listed(host, hosts))
			return scribe_err_set(err, -EPERM,
					      "--stream %.200s: '%s' is none of the hosts that the site lists",
					      sink->spec, host);
	return 0;
}
