#!/usr/bin/env bash
# Starts a node: the first primary, a new standby, or the node whose data is here.
#
# NODE is the name of this node, and NODES has the names of all. Names are host names.
set -euo pipefail

export PGPASSWORD="$REPLICATION_PASSWORD"
hosts="${NODES// /,}"

# Prints the name of another node that accepts writes; fails if there is none.
other_primary() {
  local node
  for node in $NODES; do
    [ "$node" != "$NODE" ] || continue
    if [ "$(psql "host=$node user=replicator dbname=postgres connect_timeout=3" -XAtqc \
      'select pg_is_in_recovery()' 2>/dev/null)" = f ]; then
      echo "$node"
      return
    fi
  done
  return 1
}

# Copies the data of the primary, after waiting for one. The first node waits for some seconds only,
# and becomes the first primary then.
copy_primary() {
  local primary attempts=0
  mkdir -p "$PGDATA"
  chmod 0700 "$PGDATA"
  until primary="$(other_primary)"; do
    attempts=$((attempts + 1))
    if [ "$NODE" = "${NODES%% *}" ] && [ "$attempts" -gt 3 ]; then return; fi
    echo "$NODE: waiting for a primary" >&2
    sleep 2
  done
  rm -rf "${PGDATA:?}/"*
  echo "$NODE: copying the data of $primary" >&2
  pg_basebackup --host="$primary" --username=replicator --pgdata="$PGDATA" --wal-method=stream \
    --checkpoint=fast
  touch "$PGDATA/standby.signal"
}

if [ ! -s "$PGDATA/PG_VERSION" ]; then
  copy_primary
elif [ ! -e "$PGDATA/standby.signal" ] && primary="$(other_primary)"; then
  # Its last commits may not be those of the new primary.
  echo "$NODE: $primary is the primary now. Remove the volume of $NODE, and start it again." >&2
  exit 1
fi

# A standby follows the node that accepts writes, also after another one was promoted.
exec docker-entrypoint.sh postgres \
  -c "primary_conninfo=host=$hosts user=replicator application_name=$NODE connect_timeout=3 target_session_attrs=read-write" \
  "$@"
