// SPDX-License-Identifier: BSD-3-Clause
/*
 * The HTTP server of ioscribe-serve, a thread a connection. The page's files are public, a report needs its key; the
 * rest needs a token, of which the line has the user. Must not know what questions are about.
 */
#include "util/cmd/serve/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>
#include <yajl/yajl_gen.h>

#include "util/cmd/serve/answer.h"
#include "util/cmd/serve/connections.h"
#include "util/cmd/serve/page.h"
#include "util/cmd/serve/reports.h"
#include "util/cmd/serve/slots.h"
#include "util/tool/user_number.h"

/* Limits on what clients can make the server hold. */
#define TIMEOUT_SECONDS   30
#define CONNECTION_MEMORY 32768

struct scribe_http {
	struct scribe_serve *serve;
	struct MHD_Daemon *daemon;
	bool is_loopback;
	struct scribe_connections connections;
};

/* The page may load only its own files and connect only to this server. */
static const char page_policy[] = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
				  "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/* A report has all in itself. In a sandbox its scripts, with texts of a user's log, cannot read the page's token. */
static const char report_policy[] = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
				    "sandbox allow-scripts; frame-ancestors 'none'";

static enum MHD_Result queue(struct MHD_Connection *c, unsigned status, const char *type, const char *policy,
			     struct MHD_Response *r)
{
	static const char *const headers[][2] = {
		{"X-Content-Type-Options", "nosniff"},
		{"Referrer-Policy", "no-referrer"},
		{"Cache-Control", "no-store"},
	};
	enum MHD_Result done;

	if (!r)
		return MHD_NO;
	MHD_add_response_header(r, "Content-Type", type);
	MHD_add_response_header(r, "Content-Security-Policy", policy);
	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
		MHD_add_response_header(r, headers[i][0], headers[i][1]);
	if (status == MHD_HTTP_UNAUTHORIZED)
		MHD_add_response_header(r, "WWW-Authenticate", "Bearer");
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(r, "Allow", "GET, HEAD");
	done = MHD_queue_response(c, status, r);
	MHD_destroy_response(r);
	return done;
}

static enum MHD_Result reply(struct MHD_Connection *c, unsigned status, const char *type, const void *bytes, size_t n,
			     enum MHD_ResponseMemoryMode mode)
{
	return queue(c, status, type, page_policy, MHD_create_response_from_buffer(n, (void *)bytes, mode));
}

static enum MHD_Result refuse(struct MHD_Connection *c, unsigned status, const char *what)
{
	yajl_gen json = yajl_gen_alloc(NULL);
	const unsigned char *text = (const unsigned char *)"{}";
	enum MHD_Result done;
	size_t n = 2;

	if (json) {
		yajl_gen_map_open(json);
		scribe_json_pair(json, "error", what);
		yajl_gen_map_close(json);
		yajl_gen_get_buf(json, &text, &n);
	}
	done = reply(c, status, "application/json", text, n, MHD_RESPMEM_MUST_COPY);
	if (json)
		yajl_gen_free(json);
	return done;
}

static unsigned status_of(int code)
{
	/* Our codes from FORMAT on concern the question or its values: the client's fault. */
	return code == -ENOENT || code == -ENOTDIR           ? MHD_HTTP_NOT_FOUND
	       : code == -EINVAL || code <= -SCRIBE_E_FORMAT ? MHD_HTTP_BAD_REQUEST
	       : code == -EBUSY || code == -ENOTCONN         ? MHD_HTTP_SERVICE_UNAVAILABLE
							     : MHD_HTTP_INTERNAL_SERVER_ERROR;
}

static bool is_our_host(const struct scribe_http *h, const char *host)
{
	static const char *const names[] = {"localhost", "127.0.0.1", "[::1]"};
	size_t n = host ? strcspn(host, ":") : 0;

	if (!host)
		return false;
	/*
	 * Against DNS rebinding: a foreign page's name may resolve to the loopback address, so only the usual
	 * names are accepted there. Elsewhere a proxy chooses the name.
	 */
	if (!h->is_loopback)
		return true;
	n = *host == '[' ? strcspn(host, "]") + (strchr(host, ']') != NULL) : n;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strlen(names[i]) == n && !strncasecmp(names[i], host, n) && (!host[n] || host[n] == ':'))
			return true;
	return false;
}

/* Browsers send Origin with requests of other sites' pages. */
static bool is_our_origin(const char *origin, const char *host)
{
	return !origin || (!strncmp(origin, "http://", 7) && !strcasecmp(origin + 7, host));
}

/* A link cannot send the token, and has the report's key instead, which is bound to the user. */
static bool is_report_link(struct MHD_Connection *c, const char *path, int64_t *ret_uid)
{
	const char *job = MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, "job");
	const char *key = MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, "key");
	const char *uid = MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, "uid");
	char right[17];

	if (strcmp(path, "/report") || !job || !key || !uid)
		return false;
	*ret_uid = strtoll(uid, NULL, 10);
	scribe_reports_key(job, *ret_uid, right);
	return scribe_serve_same(key, right);
}

struct header {
	const char *name, *value;
	int n;
};

static enum MHD_Result on_header(void *ctx, enum MHD_ValueKind kind, const char *name, const char *value)
{
	struct header *h = ctx;

	if (!strcasecmp(name, h->name)) {
		h->value = value ? value : "";
		h->n++;
	}
	return MHD_YES;
}

/* The token's user; with a token of a proxy, the one in its header. */
static unsigned find_user(const struct scribe_http *h, struct MHD_Connection *c, int64_t *ret_uid,
			  const char **ret_what)
{
	const char *token = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Authorization");
	const struct scribe_serve_user *user =
		token && !strncasecmp(token, "Bearer ", 7) ? scribe_serve_user_of(&h->serve->users, token + 7) : NULL;
	struct header header = {.name = user ? user->header : ""};

	*ret_what = "the header 'Authorization: Bearer TOKEN' is missing, or has another token";
	if (!user)
		return MHD_HTTP_UNAUTHORIZED;
	*ret_uid = user->uid;
	if (!*user->header)
		return 0;
	MHD_get_connection_values(c, MHD_HEADER_KIND, on_header, &header);
	*ret_what = "the proxy's header names no user";
	*ret_uid = header.n == 1 ? scribe_user_number(header.value) : -1;
	return *ret_uid < 0 ? MHD_HTTP_FORBIDDEN : 0;
}

static bool has_body(struct MHD_Connection *c)
{
	const char *bytes = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Content-Length");

	return (bytes && strtoull(bytes, NULL, 10)) ||
	       MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Transfer-Encoding");
}

static unsigned check(const struct scribe_http *h, struct MHD_Connection *c, const char *path, const char *method,
		      int64_t *ret_uid, const char **ret_what)
{
	const char *host = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Host");

	/* Host and Origin first, so that a foreign page learns nothing about the token. */
	*ret_what = "this server has not that name (Host)";
	if (!is_our_host(h, host))
		return host ? MHD_HTTP_FORBIDDEN : MHD_HTTP_BAD_REQUEST;
	*ret_what = "pages of other servers may not ask (Origin)";
	if (!is_our_origin(MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Origin"), host))
		return MHD_HTTP_FORBIDDEN;
	*ret_what = "GET or HEAD expected";
	if (strcmp(method, "GET") && strcmp(method, "HEAD"))
		return MHD_HTTP_METHOD_NOT_ALLOWED;
	*ret_what = "a request without a body expected";
	if (has_body(c))
		return MHD_HTTP_CONTENT_TOO_LARGE;
	return scribe_page_file(path) || is_report_link(c, path, ret_uid) ? 0 : find_user(h, c, ret_uid, ret_what);
}

struct arguments {
	struct MHD_Connection *c;
	const struct scribe_question *q;
	char unknown[SCRIBE_QUESTION_NAME];
};

static const char *argument(void *ctx, const char *name)
{
	return MHD_lookup_connection_value(((struct arguments *)ctx)->c, MHD_GET_ARGUMENT_KIND, name);
}

static int on_listed(void *ctx, const char *name, struct scribe_err *err)
{
	scribe_answer_string(ctx, name);
	return 0;
}

static bool is_job(const char *job)
{
	return job && *job && strlen(job) <= 20 && strspn(job, "-0123456789") == strlen(job);
}

/* The log of a job, and the address of its report; nothing if there is none. */
static int get_report(struct scribe_http *h, const struct scribe_serve_request *r, struct arguments *args,
		      yajl_gen json, struct scribe_err *err)
{
	const char *job = argument(args, "job");
	char log[PATH_MAX], key[17], address[96];
	int rc;

	if (!is_job(job))
		return scribe_err_set(err, -EINVAL, "job=NUMBER is missing");
	rc = scribe_reports_find(h->serve, r, job, log, err);
	if (rc < 0 && rc != -ENOENT)
		return rc;
	scribe_reports_key(job, r->uid, key);
	snprintf(address, sizeof(address), "/report?job=%s&uid=%lld&key=%s", job, (long long)r->uid, key);
	yajl_gen_map_open(json);
	if (rc >= 0) {
		scribe_json_pair(json, "log", strrchr(log, '/') + 1);
		scribe_json_pair(json, "address", address);
	}
	yajl_gen_map_close(json);
	return 0;
}

static int get_answer(struct scribe_http *h, struct MHD_Connection *c, const char *path,
		      const struct scribe_serve_request *r, yajl_gen json, struct scribe_err *err)
{
	struct arguments args = {.c = c};
	struct scribe_answer_want want = {.value = argument, .ctx = &args};
	const char *question = argument(&args, "question");
	int rc;

	if (!strcmp(path, "/api/questions")) {
		yajl_gen_array_open(json);
		rc = scribe_question_each(h->serve->folders, on_listed, json, err);
		yajl_gen_array_close(json);
		return rc;
	}
	if (!strcmp(path, "/api/report"))
		return get_report(h, r, &args, json, err);
	if (strcmp(path, "/api/ask"))
		return scribe_err_set(err, -ENOTDIR, "no such path");
	if (!question)
		return scribe_err_set(err, -EINVAL, "question=NAME is missing");
	return scribe_answer(h->serve, r, question, &want, json, err);
}

static int make_report(struct scribe_http *h, const struct scribe_serve_request *r, const char *log, int *ret_fd,
		       struct scribe_err *err)
{
	int rc = scribe_slot_processes(h->serve, r, err);

	if (rc < 0)
		return rc;
	rc = scribe_reports_make(log, ret_fd, err);
	pthread_mutex_unlock(&h->serve->processes);
	return rc;
}

static enum MHD_Result answer_report(struct scribe_http *h, struct MHD_Connection *c,
				     const struct scribe_serve_request *r)
{
	const char *job = MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, "job");
	struct scribe_err err = {0};
	char log[PATH_MAX];
	struct stat st;
	int fd = -1, rc;

	rc = is_job(job) ? scribe_reports_find(h->serve, r, job, log, &err)
			 : scribe_err_set(&err, -EINVAL, "job=NUMBER is missing");
	if (rc >= 0)
		rc = make_report(h, r, log, &fd, &err);
	if (rc < 0)
		return refuse(c, status_of(rc), err.text);
	if (fstat(fd, &st) < 0) {
		close(fd);
		return MHD_NO;
	}
	/* The response closes the descriptor. */
	return queue(c, MHD_HTTP_OK, "text/html; charset=utf-8", report_policy,
		     MHD_create_response_from_fd((size_t)st.st_size, fd));
}

static enum MHD_Result answer(struct scribe_http *h, struct MHD_Connection *c, const char *path,
			      const struct scribe_serve_request *r)
{
	const struct scribe_page_file *file = scribe_page_file(path);
	struct scribe_err err = {0};
	const unsigned char *text;
	enum MHD_Result done;
	yajl_gen json;
	size_t n;
	int rc;

	if (file)
		return reply(c, MHD_HTTP_OK, file->type, file->bytes, (size_t)(file->end - file->bytes),
			     MHD_RESPMEM_PERSISTENT);
	scribe_connection_step(&h->connections, c, SCRIBE_CONNECTION_ALLOWED);
	if (!strcmp(path, "/report"))
		return answer_report(h, c, r);
	json = yajl_gen_alloc(NULL);
	if (!json)
		return MHD_NO;
	yajl_gen_config(json, yajl_gen_validate_utf8, 0);
	rc = get_answer(h, c, path, r, json, &err);
	if (rc >= 0 && yajl_gen_get_buf(json, &text, &n) == yajl_gen_status_ok)
		done = reply(c, MHD_HTTP_OK, "application/json", text, n, MHD_RESPMEM_MUST_COPY);
	else
		done = refuse(c, status_of(rc), err.text);
	yajl_gen_free(json);
	return done;
}

/* Called for a head, and once more to answer it; a body is refused. */
static enum MHD_Result on_request(void *ctx, struct MHD_Connection *c, const char *path, const char *method,
				  const char *version, const char *data, size_t *size, void **of)
{
	struct scribe_http *h = ctx;
	struct scribe_serve_request *r = *of;
	const char *what;
	unsigned status;

	if (r) {
		r->limit = (struct scribe_sql_limit){.end_ms = scribe_msg_now_ms() + SCRIBE_SERVE_SECONDS * 1000,
						     .seconds = SCRIBE_SERVE_SECONDS,
						     .stop = &h->serve->stop};
		return answer(h, c, path, r);
	}
	r = *of = calloc(1, sizeof(*r));
	if (!r)
		return MHD_NO;
	status = check(h, c, path, method, &r->uid, &what);
	return status ? refuse(c, status, what) : MHD_YES;
}

static void on_end(void *ctx, struct MHD_Connection *c, void **of, enum MHD_RequestTerminationCode how)
{
	free(*of);
	*of = NULL;
	scribe_connection_step(&((struct scribe_http *)ctx)->connections, c, SCRIBE_CONNECTION_NEXT);
}

static void ignore_log(void *ctx, const char *format, va_list args)
{ /* a library must not print; the reply contains the reason */
}

/* Numeric only, without a resolver. */
static int find_address(const char *address, struct addrinfo **ret_found, struct scribe_err *err)
{
	struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM};
	const char *port = strrchr(address, ':');
	char host[64];
	size_t n = port ? (size_t)(port - address) : 0;

	if (port && *address == '[' && n > 2 && address[n - 1] == ']') {
		address++;
		n -= 2;
	}
	if (port && n < sizeof(host) && n) {
		snprintf(host, sizeof(host), "%.*s", (int)n, address);
		if (port[1] && strspn(port + 1, "0123456789") == strlen(port + 1) && atol(port + 1) <= 65535 &&
		    !getaddrinfo(host, port + 1, &hints, ret_found))
			return 0;
	}
	return scribe_err_set(err, -EINVAL, "--listen: not ADDRESS:PORT with a number for each, as 127.0.0.1:8750");
}

static bool is_loopback(const struct sockaddr *at)
{
	const struct sockaddr_in6 *v6 = (const void *)at;
	const struct sockaddr_in *v4 = (const void *)at;

	return at->sa_family == AF_INET ? ntohl(v4->sin_addr.s_addr) >> 24 == 127
					: IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
}

int scribe_http_start(struct scribe_serve *serve, const char *address, struct scribe_http **ret_http,
		      uint16_t *ret_port, struct scribe_err *err)
{
	struct scribe_http *h = calloc(1, sizeof(*h));
	unsigned flags =
		MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION | MHD_USE_POLL | MHD_USE_ERROR_LOG;
	struct addrinfo *at = NULL;
	int rc = h ? find_address(address, &at, err) : scribe_err_set(err, -ENOMEM, "out of memory");

	if (rc < 0) {
		free(h);
		return rc;
	}
	h->serve = serve;
	h->is_loopback = is_loopback(at->ai_addr);
	pthread_mutex_init(&h->connections.lock, NULL);
	if (at->ai_family == AF_INET6)
		flags |= MHD_USE_IPv6;
	errno = 0;
	h->daemon = MHD_start_daemon(flags, 0, NULL, NULL, on_request, h, MHD_OPTION_EXTERNAL_LOGGER, ignore_log, NULL,
				     MHD_OPTION_SOCK_ADDR, at->ai_addr, MHD_OPTION_NOTIFY_COMPLETED, on_end, h,
				     MHD_OPTION_NOTIFY_CONNECTION, scribe_connections_notify, &h->connections,
				     MHD_OPTION_CONNECTION_LIMIT, (unsigned)SCRIBE_SERVE_CONNECTIONS,
				     MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)TIMEOUT_SECONDS,
				     MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY,
				     MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_END);
	freeaddrinfo(at);
	if (!h->daemon) {
		rc = scribe_err_set(err, -EADDRNOTAVAIL, "%s: cannot listen there: %s", address,
				    errno ? strerror(errno) : "no such address here");
		free(h);
		return rc;
	}
	*ret_port = MHD_get_daemon_info(h->daemon, MHD_DAEMON_INFO_BIND_PORT)->port;
	*ret_http = h;
	return 0;
}

void scribe_http_look(struct scribe_http *h)
{
	scribe_connections_look(&h->connections);
}

void scribe_http_stop(struct scribe_http *h)
{
	MHD_stop_daemon(h->daemon);
	pthread_mutex_destroy(&h->connections.lock);
	free(h);
}
