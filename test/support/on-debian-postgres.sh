#!/usr/bin/env bash
# Runs a command with TEST_POSTGRES_URL, a server of Debian's PostgreSQL as its package makes one: its default settings, and a role without
# other rights than to create databases. The server listens on loopback, has its files in a folder of its own, and ends with the command.
#   test/support/on-debian-postgres.sh npm test -- search/
set -euo pipefail

version=$(ls /usr/lib/postgresql | sort -V | tail -n 1)
shm=$(df --output=avail -B1 /dev/shm 2>/dev/null | tail -n 1 || echo 0)
folder=$(mktemp -d -p "$( ((shm >= 4 << 30)) && echo /dev/shm || echo "${TMPDIR:-/tmp}")" tracebook-debian-XXXXXX)
chmod 755 "$folder"
as=()
if ((EUID == 0)); then
  chown postgres "$folder"
  as=(runuser -u postgres --)
fi
# PostgreSQL's own programs, with the cluster's files in the folder and its socket there.
cluster() { (cd / && "${as[@]}" env PG_CLUSTER_CONF_ROOT="$folder/conf" PGHOST="$folder" "$@"); }

child=
finish() {
  trap - EXIT
  # The whole group, because npm ends before what it has started.
  if [[ -n $child ]] && kill -- "-$child" 2>/dev/null; then
    while kill -0 -- "-$child" 2>/dev/null; do sleep 0.1; done
  fi
  cluster pg_ctlcluster "$version" tests stop --mode=immediate >/dev/null 2>&1 || true
  rm -rf "$folder"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

cluster pg_createcluster --datadir="$folder/data" --socketdir="$folder" --logfile="$folder/log" --start-conf=manual \
  "$version" tests >"$folder/made" 2>&1 || { cat "$folder/made"; exit 1; }
cluster pg_ctlcluster "$version" tests start || { cat "$folder/log"; exit 1; }
port=$(cluster pg_lsclusters --no-header | awk '{ print $3 }')
password=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
cluster env PGPORT="$port" createuser --createdb tracebook
cluster env PGPORT="$port" psql -qd postgres -c "alter role tracebook password '$password'"
cluster env PGPORT="$port" createdb --owner=tracebook --template=template0 --encoding=UTF8 --locale=C tracebook

export TEST_POSTGRES_URL="postgresql://tracebook:$password@127.0.0.1:$port/tracebook"
set -m # the command gets a process group of its own
"$@" &
child=$!
wait "$child" && code=0 || code=$?
child=
exit "$code"
