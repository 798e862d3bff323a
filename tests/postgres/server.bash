# SPDX-License-Identifier: BSD-3-Clause
# A PostgreSQL of a test's own, from Debian's packages, on a socket in a folder of its own. Sets: PG.

PG_BIN=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -1)

# It refuses to be root.
pg_as() {
	if [ "$(id -u)" -eq 0 ]; then
		setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
	else
		"$@"
	fi
}

pg_start() {
	PG_DIR=$(mktemp -d /tmp/ioscribe-pg.XXXXXX)
	[ "$(id -u)" -ne 0 ] || chown 65534:65534 "$PG_DIR"
	(cd "$PG_DIR" && pg_as "$PG_BIN/initdb" -D "$PG_DIR/data" -U ioscribe --auth=trust --no-sync --locale=C.UTF-8 >"$PG_DIR.log" 2>&1) || {
		cat "$PG_DIR.log"
		return 1
	}
	pg_up
	PG="postgresql://ioscribe@/postgres?host=$PG_DIR"
}

pg_up() { # further settings: -c NAME=VALUE
	(cd "$PG_DIR" && pg_as "$PG_BIN/pg_ctl" -D "$PG_DIR/data" -w -t 60 -l "$PG_DIR/log" \
		-o "-F -c listen_addresses= -k $PG_DIR $*" start >/dev/null 3>&- 4>&- 5>&-) || {
		cat "$PG_DIR/log"
		return 1
	}
}

pg_down() {
	(cd "$PG_DIR" && pg_as "$PG_BIN/pg_ctl" -D "$PG_DIR/data" -w -m immediate stop >/dev/null)
}

pg_stop() {
	[ -n "${PG_DIR:-}" ] || return 0
	pg_down || true
	rm -rf "$PG_DIR" "$PG_DIR.log"
}

pg_ask() { # SQL
	psql -XqtA "$PG" -c "$1"
}
