#!/usr/bin/env bash
# Creates the roles and the database of the first primary, and sets what the standbys copy.
set -euo pipefail

printf 'host replication replicator all scram-sha-256\n' >>"$PGDATA/pg_hba.conf"

psql --username=postgres --dbname=postgres -v ON_ERROR_STOP=1 -Xq \
  -v replication="$REPLICATION_PASSWORD" -v jukebox="$JUKEBOX_PASSWORD" \
  -v standbys="ANY 1 (\"${NODES// /\", \"}\")" <<'SQL'
create role replicator login replication password :'replication';
create role jukebox login password :'jukebox';
create database music owner jukebox encoding 'UTF8' template template0;

-- A commit is acknowledged when it is on the disk of the primary and of one standby. This is set
-- last, because nothing here could be committed without standbys.
alter system set synchronous_commit = on;
alter system set synchronous_standby_names = :'standbys';
-- A standby that was down for a while finds the log that it has missed.
alter system set wal_keep_size = '1GB';
alter system set wal_log_hints = on;
SQL
