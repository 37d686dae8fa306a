
SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

CREATE SCHEMA stored_objects;

CREATE FUNCTION stored_objects.change(before bytea, after bytea) RETURNS bytea
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
  select case
    when before is null and after is null then '\x03'::bytea
    when before is null then '\x00'::bytea || stored_objects.sized(after)
    when after is null then '\x02'::bytea || stored_objects.sized(before)
    else '\x01'::bytea || stored_objects.sized(before) || '\x0000000000000000'::bytea
      || stored_objects.sized(after)
  end
$$;

CREATE FUNCTION stored_objects.commit(p_store integer, p_token uuid, p_author bytea, p_time bigint, p_based_on bigint, p_required bigint, p_is_sealed boolean, p_tables text[], p_table_kinds smallint[], p_metadata bytea[], p_metadata_rows bigint[], p_row_tables integer[], p_rows bigint[], p_row_kinds smallint[], p_data_tables integer[], p_data_rows bigint[], p_data bytea[], p_names bytea[], p_name_data bytea[], p_cleared integer[], p_key_tables integer[], p_keys bytea[], p_key_kinds smallint[], p_key_values bytea[], p_value_tables integer[], p_value_keys bytea[], p_values bytea[], p_basis_tables integer[], p_basis_rows bigint[], p_range_tables integer[], p_range_from bytea[], p_range_to bytea[], p_ranges_since bigint, p_point_tables integer[], p_points bytea[], p_external uuid[], p_dropped uuid[], p_key_ids uuid[], p_replication smallint, p_history_table integer, p_begins_history boolean, p_follower_table integer, p_is_in_pieces boolean) RETURNS TABLE(outcome integer, number bigint, row_tables integer[], rows bigint[], names integer[], key_tables integer[], kept_keys bytea[], keeps_history boolean, table_ids integer[])
    LANGUAGE plpgsql
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET jit TO 'off'
    AS $$
#variable_conflict use_column
declare
  -- A follower repeats a commit of another store, where its basis was checked.
  v_basis bigint := case when p_replication = 0 then p_based_on end;
  v_last bigint; v_forgotten bigint; v_is_sealed boolean; v_found bigint; v_number bigint;
  v_ids integer[]; v_kept integer[]; v_weight bigint;
  v_total bigint;
  v_row_tables integer[]; v_rows bigint[]; v_names integer[]; v_key_tables integer[];
  v_history integer; v_follows boolean; v_is_remembered boolean;
  v_is_entry_empty boolean := false; v_records bytea[]; v_buffers bytea[]; v_values bytea[];
  v_gone_tables integer[]; v_gone_keys bytea[]; v_gone_values bytea[]; v_kept_keys bytea[];
  v_name_kinds smallint[] := '{}';
begin
  if pg_advisory_xact_lock(1398034258, p_store) is null then
    null;
  end if;
  select coalesce((
    select c.number from stored_objects.commits c
    where c.store = s.id order by c.number desc limit 1), s.last_commit), s.forgotten, s.weight, s.key_file is not null, s.history, s.follows
    into v_last, v_forgotten, v_total, v_is_sealed, v_history, v_follows
    from stored_objects.stores s where s.id = p_store;
  if p_is_sealed <> v_is_sealed then
    return query select 6, v_last,
      null::integer[], null::bigint[], null::integer[], null::integer[], null::bytea[],
      v_history is not null, null::integer[];
    return;
  end if;
  select c.number into v_found
    from stored_objects.commits c where c.store = p_store and c.token = p_token;
  if v_found is not null then
    return query select 1, v_found,
      null::integer[], null::bigint[], null::integer[], null::integer[], null::bytea[],
      v_history is not null, null::integer[];
    return;
  end if;
  if v_follows and p_replication = 0 then
    return query select 8, v_last, null::integer[], null::bigint[], null::integer[], null::integer[], null::bytea[],
      v_history is not null, null::integer[];
    return;
  end if;
  if p_required <> v_last or p_begins_history and v_history is not null then
    return query select 5, v_last,
      null::integer[], null::bigint[], null::integer[], null::integer[], null::bytea[],
      v_history is not null, null::integer[];
    return;
  end if;
  if v_basis < v_forgotten or v_basis > v_last then
    return query select 4, v_last,
      null::integer[], null::bigint[], null::integer[], null::integer[], null::bytea[],
      v_history is not null, null::integer[];
    return;
  end if;
  v_is_remembered := v_history is not null and p_replication <> 1;
  if v_is_remembered and p_history_table > 0 then
    v_is_remembered := not p_history_table = any (p_cleared) and not exists (
      select 1 from unnest(p_key_tables, p_keys, p_key_kinds) n(table_index, key, kind)
      where n.table_index = p_history_table and n.kind <> 2
        and octet_length(n.key) = 9 and substring(n.key from 1 for 1) = '\x01'::bytea);
    v_is_entry_empty := true;
  end if;
  if p_is_in_pieces and v_is_remembered and not v_is_entry_empty then
    return query select 9, v_last, null::integer[], null::bigint[], null::integer[], null::integer[], null::bytea[],
      v_history is not null, null::integer[];
    return;
  end if;
  if p_begins_history then
    p_values[1] := substring(p_values[1] from 1 for 1) || stored_objects.le4(v_last + 1)
      || stored_objects.le4((v_last + 1) >> 32) || substring(p_values[1] from 10);
  end if;
  select coalesce(array_agg(t.id order by n.place), '{}') into v_ids
    from unnest(p_table_kinds, p_tables) with ordinality n(kind, name, place)
      join stored_objects.tables t
        on t.store = p_store and t.kind = n.kind and t.name = n.name;
  if cardinality(v_ids) < cardinality(p_tables) then
    insert into stored_objects.tables (store, kind, name)
      select p_store, n.kind, n.name from unnest(p_table_kinds, p_tables) n(kind, name)
      on conflict do nothing;
  select coalesce(array_agg(t.id order by n.place), '{}') into v_ids
    from unnest(p_table_kinds, p_tables) with ordinality n(kind, name, place)
      join stored_objects.tables t
        on t.store = p_store and t.kind = n.kind and t.name = n.name;
  end if;
  if v_basis < v_last then
    select c.row_tables, c.rows, c.names, c.key_tables
      into v_row_tables, v_rows, v_names, v_key_tables
      from stored_objects.conflicts(
        p_store, v_basis, v_last, v_ids, p_row_tables, p_rows, p_basis_tables, p_basis_rows, p_names,
        p_cleared, p_key_tables, p_keys, p_range_tables, p_range_from, p_range_to,
        p_ranges_since, p_point_tables, p_points) c;
    if v_rows is not null or v_names is not null or v_key_tables is not null then
      return query select 2, v_last, v_row_tables, v_rows, v_names,
        v_key_tables, null::bytea[], v_history is not null, v_ids;
      return;
    end if;
  end if;
  if 0 = any (p_row_kinds) then
    select array_agg(n.table_index), array_agg(n.row) into v_row_tables, v_rows
      from (
        select n.table_index, n.row
        from unnest(p_row_tables, p_rows, p_row_kinds) n(table_index, row, kind)
          join stored_objects.records r on r.table_id = v_ids[n.table_index] and r.row = n.row
        where n.kind = 0 limit 1) n;
    if v_rows is not null then
      return query select 3, v_last, v_row_tables, v_rows,
        null::integer[], null::integer[], null::bytea[], v_history is not null, v_ids;
      return;
    end if;
  end if;
  v_number := v_last + 1;
  if v_is_remembered and not v_is_entry_empty then
    if cardinality(p_rows) > 0 then
      select coalesce(array_agg(r.data order by n.place), '{}') into v_records
        from unnest(p_row_tables, p_rows) with ordinality n(table_index, row, place)
          left join stored_objects.records r
            on r.table_id = v_ids[n.table_index] and r.row = n.row;
    end if;
    if cardinality(p_names) > 0 then
      select coalesce(array_agg(b.data order by n.place), '{}') into v_buffers
        from unnest(p_names) with ordinality n(name, place)
          left join stored_objects.buffers b
            on b.store = p_store and b.name_hash = sha256(n.name);
    end if;
    if cardinality(p_keys) > 0 then
      select coalesce(array_agg(k.value order by n.place), '{}') into v_values
        from unnest(p_key_tables, p_keys) with ordinality n(table_index, key, place)
          left join stored_objects.keys k
            on p_table_kinds[n.table_index] = 1
              and k.table_id = v_ids[n.table_index]
              and k.head = substring(n.key from 1 for 1024)
              and k.tail_hash = stored_objects.tail_hash(n.key);
    end if;
    if cardinality(p_cleared) > 0 then
      select array_agg(n.table_index), array_agg(k.head || k.tail), array_agg(k.value)
        into v_gone_tables, v_gone_keys, v_gone_values
        from unnest(p_cleared) n(table_index)
          join stored_objects.keys k on k.table_id = v_ids[n.table_index]
        where p_table_kinds[n.table_index] = 1;
    end if;
  end if;
  if cardinality(p_external) > 0 then
    -- Locked, so that nobody removes one meanwhile.
    select count(*) into v_found
      from (
        select 1 from stored_objects.external_values e
        where e.store = p_store and e.id = any (p_external) and e.byte_count is not null
        for update) e;
    if v_found <> cardinality(p_external) then
      return query select 7, v_last, null::integer[], null::bigint[], null::integer[], null::integer[], null::bytea[],
      v_history is not null, null::integer[];
      return;
    end if;
    update stored_objects.external_values e set listed = v_number, removed = null
      where e.store = p_store and e.id = any (p_external);
  end if;
  if cardinality(p_dropped) > 0 then
    update stored_objects.external_values e set dropped = now()
      where e.store = p_store and e.id = any (p_dropped);
  end if;
  -- Of two metadata rows that were written without knowing of each other, the one stays that
  -- has given out more rows.
  v_kept := '{}';
  if 0 < any (p_metadata_rows) then
    select coalesce(array_agg(n.table_index::integer), '{}') into v_kept
      from unnest(p_metadata_rows) with ordinality n(last, table_index)
        join stored_objects.tables t on t.id = v_ids[n.table_index]
        join stored_objects.records r on r.table_id = t.id and r.row = 1
      where n.last > 0 and t.metadata_row > n.last and r.commit > v_basis;
  end if;
  if cardinality(p_rows) > 0 then
    update stored_objects.tables t
      set count = t.count + d.more, changed = v_number,
        last_row = greatest(t.last_row, d.last, p_metadata_rows[d.table_index]),
        metadata_row = case when d.table_index = any (v_kept) then t.metadata_row
          else coalesce(p_metadata_rows[d.table_index], t.metadata_row) end
      from (
        select n.table_index,
          count(*) filter (where n.kind <> 2 and r.row is null)
            - count(*) filter (where n.kind = 2 and r.row is not null) as more,
          max(n.row) filter (where n.kind <> 2) as last
        from unnest(p_row_tables, p_rows, p_row_kinds) n(table_index, row, kind)
          left join stored_objects.records r
            on r.table_id = v_ids[n.table_index] and r.row = n.row
        group by n.table_index) d
      where t.id = v_ids[d.table_index];
    if 2 = any (p_row_kinds) then
      delete from stored_objects.records r
        using unnest(p_row_tables, p_rows, p_row_kinds) n(table_index, row, kind)
        where n.kind = 2 and r.table_id = v_ids[n.table_index] and r.row = n.row;
    end if;
    insert into stored_objects.records (table_id, row, commit, data)
      select v_ids[n.table_index], n.row, v_number, n.data
      from unnest(p_data_tables, p_data_rows, p_data) n(table_index, row, data)
      where not (n.row = 1 and n.table_index = any (v_kept))
      on conflict (table_id, row) do update set commit = excluded.commit, data = excluded.data;
  end if;
  if cardinality(p_names) > 0 then
    delete from stored_objects.buffers b
      using unnest(p_names, p_name_data) n(name, data)
      where n.data is null and b.store = p_store and b.name_hash = sha256(n.name);
    insert into stored_objects.buffers (store, name_hash, name, data)
      select p_store, sha256(n.name), n.name, n.data
      from unnest(p_names, p_name_data) n(name, data) where n.data is not null
      on conflict (store, name_hash) do update set data = excluded.data;
  end if;
  if cardinality(p_cleared) > 0 then
    delete from stored_objects.keys k
      where k.table_id = any (select v_ids[n] from unnest(p_cleared) n);
    update stored_objects.tables t set count = 0, changed = v_number
      where t.id = any (select v_ids[n] from unnest(p_cleared) n);
  end if;
  if cardinality(p_keys) > 0 then
    update stored_objects.tables t set count = t.count + d.more, changed = v_number
      from (
        select n.table_index,
          count(*) filter (where n.kind <> 2 and k.table_id is null)
            - count(*) filter (where n.kind = 2 and k.table_id is not null) as more
        from unnest(p_key_tables, p_keys, p_key_kinds) n(table_index, key, kind)
          left join stored_objects.keys k on k.table_id = v_ids[n.table_index]
            and k.head = substring(n.key from 1 for 1024)
            and k.tail_hash = stored_objects.tail_hash(n.key)
        group by n.table_index) d
      where t.id = v_ids[d.table_index];
    if 2 = any (p_key_kinds) then
      delete from stored_objects.keys k
        using unnest(p_key_tables, p_keys, p_key_kinds) n(table_index, key, kind)
        where n.kind = 2 and k.table_id = v_ids[n.table_index]
          and k.head = substring(n.key from 1 for 1024)
          and k.tail_hash = stored_objects.tail_hash(n.key);
    end if;
    insert into stored_objects.keys (table_id, head, tail_hash, tail, value)
      select v_ids[n.table_index], substring(n.key from 1 for 1024),
        stored_objects.tail_hash(n.key), substring(n.key from 1025), n.value
      from unnest(p_value_tables, p_value_keys, p_values) n(table_index, key, value)
      on conflict (table_id, head, tail_hash) do update set value = excluded.value;
  end if;
  if v_is_remembered then
    if v_is_entry_empty then
      v_records := '{}';
      v_buffers := '{}';
      v_values := '{}';
      perform stored_objects.remember(p_store, v_history, v_number,
        stored_objects.entry_header(
          v_number, p_token, p_author, p_time, p_based_on, p_is_sealed),
        v_ids, p_tables, p_table_kinds, '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}',
        '{}', '{}', '{}', '{}');
    else
      perform stored_objects.remember(p_store, v_history, v_number,
        stored_objects.entry_header(
          v_number, p_token, p_author, p_time, p_based_on, p_is_sealed),
        v_ids, p_tables, p_table_kinds, p_row_tables, p_rows, v_records, p_names, v_buffers,
        p_cleared, p_key_tables, p_keys, p_key_kinds, v_values,
        v_gone_tables, v_gone_keys, v_gone_values);
      if cardinality(p_key_ids) > 0 then
        select array_agg(n.key), array_agg(n.value), min(n.table_index)
          into v_kept_keys, v_gone_values, v_found
          from (
            select distinct on (n.id) n.table_index, n.before as value,
              '\x00'::bytea || uuid_send(n.id) || '\xff'::bytea
                || substring(int8send(greatest(v_number & 4294967295, 1)) from 5 for 4) as key
            from unnest(p_key_tables, p_key_kinds, v_values, p_key_ids)
              n(table_index, kind, before, id)
            where n.kind = 2 and n.id is not null and n.before is not null) n;
        if v_kept_keys is not null then
          insert into stored_objects.keys (table_id, head, tail_hash, tail, value)
            select v_ids[v_found], n.key, '', '', n.value
            from unnest(v_kept_keys, v_gone_values) n(key, value)
            on conflict (table_id, head, tail_hash) do update set value = excluded.value;
          update stored_objects.tables t
            set count = t.count + cardinality(v_kept_keys), changed = v_number
            where t.id = v_ids[v_found];
          p_key_tables := p_key_tables
            || array_fill(v_found::integer, array[cardinality(v_kept_keys)]);
          p_keys := p_keys || v_kept_keys;
          p_key_kinds := p_key_kinds
            || array_fill(1::smallint, array[cardinality(v_kept_keys)]);
          p_key_values := p_key_values
            || array_fill(null::bytea, array[cardinality(v_kept_keys)]);
        end if;
      end if;
    end if;
  end if;
  if p_history_table > 0 then
    select max(n.kind) into v_found
      from unnest(p_key_tables, p_keys, p_key_kinds) n(table_index, key, kind)
      where n.table_index = p_history_table and n.key = '\x00'::bytea;
    if v_found <> 2 then
      v_history := v_ids[p_history_table];
    elsif v_found is not null or p_history_table = any (p_cleared) then
      v_history := null;
    end if;
  end if;
  if p_follower_table > 0 then
    v_follows := exists (
      select 1 from unnest(p_key_tables, p_key_kinds) n(table_index, kind)
      where n.table_index = p_follower_table and n.kind <> 2);
  end if;
  v_weight := 1 + cardinality(p_rows) + cardinality(p_keys);
  if cardinality(p_names) > 0 then
    select array_agg((case when n.data is null then 2 else 1 end)::smallint order by n.place)
      into v_name_kinds from unnest(p_name_data) with ordinality n(data, place);
  end if;
  insert into stored_objects.commits (
      store, number, token, author, "time", based_on, weight, table_ids, table_kinds,
      table_names, metadata, row_tables, rows, row_kinds, names, name_kinds, cleared,
      key_tables, keys, key_kinds, key_values, is_plain)
    values (
      p_store, v_number, p_token, p_author, p_time, p_based_on, v_weight, v_ids, p_table_kinds,
      p_tables, p_metadata, p_row_tables, p_rows, p_row_kinds, p_names, v_name_kinds,
      p_cleared, p_key_tables, p_keys, p_key_kinds, p_key_values,
      v_history is null and not v_follows)
    on conflict (store, number) do nothing;
  if not found then
    raise exception using errcode = 'serialization_failure', message = 'not the next number';
  end if;
  v_total := v_total + v_weight;
  if v_total > 2000000 or v_number % 64 = 0 then
    v_total := v_total + stored_objects.count_rows(p_store, v_number);
  end if;
  if v_total > 2000000 then
    select coalesce(max(w.number), 0) into v_found
      from (
        select c.number, sum(c.weight) over (order by c.number desc) as total
        from stored_objects.commits c where c.store = p_store and c.rows is not null) w
      where w.total > 1000000 and w.number < v_number;
    with forgotten as (
      update stored_objects.commits c
        set table_ids = null, table_kinds = null, table_names = null, metadata = null,
          row_tables = null, rows = null, row_kinds = null, names = null, name_kinds = null,
          cleared = null, key_tables = null, keys = null, key_kinds = null, key_values = null,
          weight = 0
        where c.store = p_store and c.number <= v_found and c.rows is not null
        returning c.number)
      select greatest(v_forgotten, max(f.number)) into v_forgotten from forgotten f;
    select sum(c.weight) into v_total
      from stored_objects.commits c where c.store = p_store and c.rows is not null;
  end if;
  if v_number % 64 = 0 then
    with gone as (
      delete from stored_objects.commits c
        where c.store = p_store and c.number <= v_number - 4096
        returning case when c.rows is not null then c.weight else 0 end as weight)
      select v_total - coalesce(sum(g.weight), 0) into v_total from gone g;
    v_forgotten := greatest(v_forgotten, v_number - 4096);
  end if;
  update stored_objects.stores s set last_commit = v_number, forgotten = v_forgotten,
      weight = v_total, history = v_history, follows = v_follows
    where s.id = p_store;
  return query select 0, v_number,
    null::integer[], null::bigint[], null::integer[], null::integer[], v_kept_keys,
    v_history is not null, v_ids;
end $$;

CREATE FUNCTION stored_objects.commit_after(p_store integer, p_last bigint, p_weight bigint, p_is_sealed boolean, p_token uuid, p_author bytea, p_time bigint, p_based_on bigint, p_ids integer[], p_table_kinds smallint[], p_tables text[], p_metadata bytea[], p_metadata_rows bigint[], p_more bigint[], p_last_rows bigint[], p_row_tables integer[], p_rows bigint[], p_row_kinds smallint[], p_data bytea[], p_key_tables integer[], p_keys bytea[], p_key_kinds smallint[], p_key_values bytea[], p_values bytea[], p_basis_ids integer[], p_basis_rows bigint[], p_key_ids integer[]) RETURNS bigint
    LANGUAGE plpgsql
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET jit TO 'off'
    AS $$
#variable_conflict use_column
declare
  v_last bigint; v_forgotten bigint;
begin
  if pg_advisory_xact_lock(1398034258, p_store) is null then
    null;
  end if;
  select coalesce((
    select c.number from stored_objects.commits c
    where c.store = s.id order by c.number desc limit 1), s.last_commit), s.forgotten into v_last, v_forgotten
    from stored_objects.stores s where s.id = p_store;
  if v_last <> p_last then
    if v_last < p_last or v_last > p_last + 64 or v_forgotten > p_last
      or p_metadata is not null
    then
      return null;
    end if;
    perform 1 from stored_objects.commits c where c.store = p_store and c.token = p_token;
    if found then
      return null;
    end if;
    if p_based_on is not null then
      perform 1 from stored_objects.commits c
        where c.store = p_store and c.number > p_last and c.number <= v_last and (
          c.rows is null or c.weight > 256
          or p_key_ids && c.table_ids and (cardinality(c.keys) > 0 or cardinality(c.cleared) > 0)
          or exists (
            select 1 from unnest(c.row_tables, c.rows) u(table_index, row)
            where exists (
                select 1 from unnest(p_row_tables, p_rows) n(table_index, row)
                where n.row = u.row and n.row > 1
                  and p_ids[n.table_index] = c.table_ids[u.table_index])
              or exists (
                select 1 from unnest(p_basis_ids, p_basis_rows) n(id, row)
                where n.row = u.row and n.id = c.table_ids[u.table_index])))
        limit 1;
      if found then
        return null;
      end if;
    end if;
  end if;
  return stored_objects.commit_next(
    p_store, v_last, p_weight, p_is_sealed, p_token, p_author, p_time, p_based_on, p_ids,
    p_table_kinds, p_tables, p_metadata, p_metadata_rows, p_more, p_last_rows, p_row_tables,
    p_rows, p_row_kinds, p_data, p_key_tables, p_keys, p_key_kinds, p_key_values, p_values,
    null);
end $$;

CREATE FUNCTION stored_objects.commit_next(p_store integer, p_last bigint, p_weight bigint, p_is_sealed boolean, p_token uuid, p_author bytea, p_time bigint, p_based_on bigint, p_ids integer[], p_table_kinds smallint[], p_tables text[], p_metadata bytea[], p_metadata_rows bigint[], p_more bigint[], p_last_rows bigint[], p_row_tables integer[], p_rows bigint[], p_row_kinds smallint[], p_data bytea[], p_key_tables integer[], p_keys bytea[], p_key_kinds smallint[], p_key_values bytea[], p_values bytea[], p_previous uuid) RETURNS bigint
    LANGUAGE plpgsql
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET jit TO 'off'
    AS $$
#variable_conflict use_column
declare
  v_number bigint; v_total bigint; v_forgotten bigint; v_found bigint; v_count bigint := 0;
begin
  if pg_advisory_xact_lock(1398034258, p_store) is null then
    null;
  end if;
  if p_previous is not null then
    perform 1 from stored_objects.commits c
      where c.store = p_store and c.number = p_last and c.token = p_previous;
    if not found then
      return null;
    end if;
  end if;
  update stored_objects.stores s
    set last_commit = p_last + 1, weight = s.weight + p_weight
    where s.id = p_store and s.history is null and not s.follows
      and (s.key_file is not null) = p_is_sealed and coalesce((
    select c.number from stored_objects.commits c
    where c.store = s.id order by c.number desc limit 1), s.last_commit) = p_last
    returning s.last_commit, s.weight, s.forgotten into v_number, v_total, v_forgotten;
  if v_number is null then
    return null;
  end if;
  if p_keys is null and cardinality(p_rows) = 1 then
    if p_row_kinds[1] = 0 then
      insert into stored_objects.records (table_id, row, commit, data)
        values (p_ids[1], p_rows[1], v_number, p_data[1]);
    elsif p_row_kinds[1] = 1 then
      update stored_objects.records r set commit = v_number, data = p_data[1]
        where r.table_id = p_ids[1] and r.row = p_rows[1];
    else
      delete from stored_objects.records r where r.table_id = p_ids[1] and r.row = p_rows[1];
    end if;
    if not found then
      raise exception using errcode = 'SO001', message = 'not next';
    end if;
    update stored_objects.tables t
      set count = t.count + p_more[1], changed = v_number,
        last_row = greatest(t.last_row, p_last_rows[1]),
        metadata_row = coalesce(p_metadata_rows[1], t.metadata_row)
      where t.id = p_ids[1] and t.store = p_store and t.kind = p_table_kinds[1]
        and t.name = p_tables[1];
    if not found then
      raise exception using errcode = 'SO001', message = 'not next';
    end if;
  else
  if cardinality(p_rows) > 0 then
    if 0 = any (p_row_kinds) then
      insert into stored_objects.records (table_id, row, commit, data)
        select p_ids[n.table_index], n.row, v_number, n.data
        from unnest(p_row_tables, p_rows, p_row_kinds, p_data) n(table_index, row, kind, data)
        where n.kind = 0;
    end if;
    if 1 = any (p_row_kinds) then
      update stored_objects.records r set commit = v_number, data = n.data
        from unnest(p_row_tables, p_rows, p_row_kinds, p_data) n(table_index, row, kind, data)
        where n.kind = 1 and r.table_id = p_ids[n.table_index] and r.row = n.row;
      get diagnostics v_count = row_count;
      if v_count <> cardinality(array_positions(p_row_kinds, 1::smallint)) then
        raise exception using errcode = 'SO001', message = 'not next';
      end if;
    end if;
    if 2 = any (p_row_kinds) then
      delete from stored_objects.records r
        using unnest(p_row_tables, p_rows, p_row_kinds) n(table_index, row, kind)
        where n.kind = 2 and r.table_id = p_ids[n.table_index] and r.row = n.row;
      get diagnostics v_count = row_count;
      if v_count <> cardinality(array_positions(p_row_kinds, 2::smallint)) then
        raise exception using errcode = 'SO001', message = 'not next';
      end if;
    end if;
    update stored_objects.tables t
      set count = t.count + n.more, changed = v_number,
        last_row = greatest(t.last_row, n.last_row),
        metadata_row = coalesce(n.metadata_row, t.metadata_row)
      from unnest(p_ids, p_table_kinds, p_tables, p_more, p_last_rows, p_metadata_rows)
        n(id, kind, name, more, last_row, metadata_row)
      where n.kind = 0 and t.id = n.id and t.store = p_store and t.kind = 0 and t.name = n.name;
    get diagnostics v_count = row_count;
  end if;
  if cardinality(p_keys) > 0 then
    update stored_objects.tables t set count = t.count + d.more, changed = v_number
      from (
        select n.table_index,
          count(*) filter (where n.kind <> 2 and k.table_id is null)
            - count(*) filter (where n.kind = 2 and k.table_id is not null) as more
        from unnest(p_key_tables, p_keys, p_key_kinds) n(table_index, key, kind)
          left join stored_objects.keys k on k.table_id = p_ids[n.table_index]
            and k.head = substring(n.key from 1 for 1024)
            and k.tail_hash = stored_objects.tail_hash(n.key)
        group by n.table_index) d
      where t.id = p_ids[d.table_index] and t.store = p_store
        and t.kind = p_table_kinds[d.table_index] and t.name = p_tables[d.table_index];
    get diagnostics v_found = row_count;
    v_count := v_count + v_found;
    if 2 = any (p_key_kinds) then
      delete from stored_objects.keys k
        using unnest(p_key_tables, p_keys, p_key_kinds) n(table_index, key, kind)
        where n.kind = 2 and k.table_id = p_ids[n.table_index]
          and k.head = substring(n.key from 1 for 1024)
          and k.tail_hash = stored_objects.tail_hash(n.key);
    end if;
    insert into stored_objects.keys (table_id, head, tail_hash, tail, value)
      select p_ids[n.table_index], substring(n.key from 1 for 1024),
        stored_objects.tail_hash(n.key), substring(n.key from 1025), n.value
      from unnest(p_key_tables, p_keys, p_key_kinds, p_values)
        n(table_index, key, kind, value)
      where n.kind <> 2
      on conflict (table_id, head, tail_hash) do update set value = excluded.value;
  end if;
    if v_count <> cardinality(p_ids) then
      raise exception using errcode = 'SO001', message = 'not next';
    end if;
  end if;
  insert into stored_objects.commits (
      store, number, token, author, "time", based_on, weight, table_ids, table_kinds,
      table_names, metadata, row_tables, rows, row_kinds, key_tables, keys, key_kinds,
      key_values, is_plain)
    values (
      p_store, v_number, p_token, p_author, p_time, p_based_on, p_weight, p_ids, p_table_kinds,
      p_tables, p_metadata, p_row_tables, p_rows, p_row_kinds, p_key_tables, p_keys,
      p_key_kinds, p_key_values, true)
    on conflict (store, number) do nothing;
  if not found then
    raise exception using errcode = 'serialization_failure', message = 'not the next number';
  end if;
  if v_total > 2000000 or v_number % 64 = 0 then
  if v_total > 2000000 or v_number % 64 = 0 then
    v_total := v_total + stored_objects.count_rows(p_store, v_number);
  end if;
  if v_total > 2000000 then
    select coalesce(max(w.number), 0) into v_found
      from (
        select c.number, sum(c.weight) over (order by c.number desc) as total
        from stored_objects.commits c where c.store = p_store and c.rows is not null) w
      where w.total > 1000000 and w.number < v_number;
    with forgotten as (
      update stored_objects.commits c
        set table_ids = null, table_kinds = null, table_names = null, metadata = null,
          row_tables = null, rows = null, row_kinds = null, names = null, name_kinds = null,
          cleared = null, key_tables = null, keys = null, key_kinds = null, key_values = null,
          weight = 0
        where c.store = p_store and c.number <= v_found and c.rows is not null
        returning c.number)
      select greatest(v_forgotten, max(f.number)) into v_forgotten from forgotten f;
    select sum(c.weight) into v_total
      from stored_objects.commits c where c.store = p_store and c.rows is not null;
  end if;
  if v_number % 64 = 0 then
    with gone as (
      delete from stored_objects.commits c
        where c.store = p_store and c.number <= v_number - 4096
        returning case when c.rows is not null then c.weight else 0 end as weight)
      select v_total - coalesce(sum(g.weight), 0) into v_total from gone g;
    v_forgotten := greatest(v_forgotten, v_number - 4096);
  end if;
    update stored_objects.stores s set forgotten = v_forgotten, weight = v_total
      where s.id = p_store;
  end if;
  return v_number;
end $$;

CREATE FUNCTION stored_objects.commit_row(p_store integer, p_last bigint, p_previous uuid, p_token uuid, p_author bytea, p_time bigint, p_based_on bigint, p_table integer, p_name text, p_row bigint, p_kind smallint, p_data bytea) RETURNS bigint
    LANGUAGE plpgsql
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET jit TO 'off'
    AS $$
#variable_conflict use_column
declare
  v_number bigint := p_last + 1; v_total bigint; v_forgotten bigint; v_found bigint;
begin
  if pg_advisory_xact_lock(1398034258, p_store) is null then
    null;
  end if;
  insert into stored_objects.commits (
      store, number, token, author, "time", based_on, weight, table_ids, table_kinds,
      table_names, row_tables, rows, row_kinds, uncounted, is_plain)
    select p_store, v_number, p_token, p_author, p_time, p_based_on, 2, array[p_table], '{0}',
      array[p_name], '{1}', array[p_row], array[p_kind], p_table, true
    from stored_objects.commits c
    where c.store = p_store and c.number = p_last and c.token = p_previous and c.is_plain
    on conflict do nothing;
  if not found then
    return null;
  end if;
  if p_kind = 0 then
    insert into stored_objects.records (table_id, row, commit, data)
      values (p_table, p_row, v_number, p_data);
  elsif p_kind = 1 then
    update stored_objects.records r set commit = v_number, data = p_data
      where r.table_id = p_table and r.row = p_row;
  else
    delete from stored_objects.records r where r.table_id = p_table and r.row = p_row;
  end if;
  if not found then
    raise exception using errcode = 'SO001', message = 'not next';
  end if;
  if v_number % 64 = 0 then
    select s.weight, s.forgotten into v_total, v_forgotten
      from stored_objects.stores s where s.id = p_store;
  if v_total > 2000000 or v_number % 64 = 0 then
    v_total := v_total + stored_objects.count_rows(p_store, v_number);
  end if;
  if v_total > 2000000 then
    select coalesce(max(w.number), 0) into v_found
      from (
        select c.number, sum(c.weight) over (order by c.number desc) as total
        from stored_objects.commits c where c.store = p_store and c.rows is not null) w
      where w.total > 1000000 and w.number < v_number;
    with forgotten as (
      update stored_objects.commits c
        set table_ids = null, table_kinds = null, table_names = null, metadata = null,
          row_tables = null, rows = null, row_kinds = null, names = null, name_kinds = null,
          cleared = null, key_tables = null, keys = null, key_kinds = null, key_values = null,
          weight = 0
        where c.store = p_store and c.number <= v_found and c.rows is not null
        returning c.number)
      select greatest(v_forgotten, max(f.number)) into v_forgotten from forgotten f;
    select sum(c.weight) into v_total
      from stored_objects.commits c where c.store = p_store and c.rows is not null;
  end if;
  if v_number % 64 = 0 then
    with gone as (
      delete from stored_objects.commits c
        where c.store = p_store and c.number <= v_number - 4096
        returning case when c.rows is not null then c.weight else 0 end as weight)
      select v_total - coalesce(sum(g.weight), 0) into v_total from gone g;
    v_forgotten := greatest(v_forgotten, v_number - 4096);
  end if;
    update stored_objects.stores s
      set last_commit = v_number, forgotten = v_forgotten, weight = v_total
      where s.id = p_store;
  end if;
  return v_number;
end $$;

CREATE FUNCTION stored_objects.commits_since(p_store integer, p_known bigint, p_own uuid[]) RETURNS TABLE(last_commit bigint, number bigint, token uuid, author bytea, "time" bigint, based_on bigint, table_kinds smallint[], table_names text[], metadata bytea[], row_tables integer[], rows bigint[], row_kinds smallint[], names bytea[], name_kinds smallint[], cleared integer[], key_tables integer[], keys bytea[], key_kinds smallint[], key_values bytea[])
    LANGUAGE plpgsql STABLE
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET jit TO 'off'
    AS $$
#variable_conflict use_column
declare v_last bigint;
begin
  select c.number into v_last from stored_objects.commits c
    where c.store = p_store order by c.number desc limit 1;
  if v_last is null then
    select s.last_commit into v_last from stored_objects.stores s where s.id = p_store;
  end if;
  if v_last = p_known then
    last_commit := v_last;
    return next;
    return;
  end if;
  return query select v_last, c.number, c.token, c.author, c."time", c.based_on,
      c.table_kinds, c.table_names, c.metadata, c.row_tables, c.rows, c.row_kinds, c.names,
      c.name_kinds, c.cleared, c.key_tables, c.keys, c.key_kinds, c.key_values
    from stored_objects.stores s
      left join stored_objects.commits c on c.store = s.id and c.number > p_known
        and c.number <= v_last and v_last - p_known <= 1024 and c.token <> all (p_own)
    where s.id = p_store order by c.number;
end $$;

CREATE FUNCTION stored_objects.conflicts(p_store integer, p_basis bigint, p_last bigint, p_ids integer[], p_row_tables integer[], p_rows bigint[], p_basis_tables integer[], p_basis_rows bigint[], p_names bytea[], p_cleared integer[], p_key_tables integer[], p_keys bytea[], p_range_tables integer[], p_range_from bytea[], p_range_to bytea[], p_ranges_since bigint, p_point_tables integer[], p_points bytea[], OUT row_tables integer[], OUT rows bigint[], OUT names integer[], OUT key_tables integer[]) RETURNS record
    LANGUAGE plpgsql
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_nestloop TO 'off'
    SET enable_hashjoin TO 'on'
    SET enable_mergejoin TO 'on'
    SET jit TO 'off'
    AS $$
#variable_conflict use_column
begin
  if cardinality(p_rows) > 0 or cardinality(p_basis_rows) > 0 then
    select array_agg(f.table_index order by f.place), array_agg(f.row order by f.place)
      into row_tables, rows
      from (
        select distinct w.table_index, w.row, w.place
        from (
          select n.table_index, n.row, n.place
            from unnest(p_row_tables, p_rows) with ordinality n(table_index, row, place)
            where n.row > 1
          union all
          select n.table_index, n.row, n.place + 4294967296
            from unnest(p_basis_tables, p_basis_rows) with ordinality n(table_index, row, place)
          ) w
          join (
            select c.table_ids[u.table_index] as id, u.row
            from stored_objects.commits c, unnest(c.row_tables, c.rows) u(table_index, row)
            where c.store = p_store and c.number > p_basis and c.number <= p_last
          ) theirs on theirs.id = p_ids[w.table_index] and theirs.row = w.row
        order by w.place limit 4096) f;
  end if;
  if cardinality(p_names) > 0 then
    select array_agg(distinct n.place::integer) into names
      from unnest(p_names) with ordinality n(name, place)
        join (
          select u.name from stored_objects.commits c, unnest(c.names) u(name)
          where c.store = p_store and c.number > p_basis and c.number <= p_last
        ) theirs on theirs.name = n.name;
  end if;
  if cardinality(p_cleared) > 0 or cardinality(p_keys) > 0 or cardinality(p_points) > 0
    or cardinality(p_range_tables) > 0
  then
    select array_agg(distinct f.table_index) into key_tables
      from (
        -- A table that one side has cleared, and the other touches.
        select mine.table_index
          from (
            select unnest(p_cleared), true union all select unnest(p_key_tables), false
            union all select unnest(p_range_tables), false
            union all select unnest(p_point_tables), false) mine(table_index, clears)
            join (
              select c.table_ids[u.table_index] as id, u.clears
              from stored_objects.commits c,
                lateral (
                  select unnest(c.cleared), true union all select unnest(c.key_tables), false
                ) u(table_index, clears)
              where c.store = p_store and c.number > p_basis and c.number <= p_last
            ) theirs on theirs.id = p_ids[mine.table_index] and (mine.clears or theirs.clears)
        union all
        select n.table_index
          from (
            select * from unnest(p_key_tables, p_keys)
            union all select * from unnest(p_point_tables, p_points)) n(table_index, key)
          join (
            select c.table_ids[u.table_index] as id, u.key
            from stored_objects.commits c, unnest(c.key_tables, c.keys) u(table_index, key)
            where c.store = p_store and c.number > p_basis and c.number <= p_last
          ) theirs on theirs.id = p_ids[n.table_index] and theirs.key = n.key
        union all
        select n.table_index
          from unnest(p_range_tables, p_range_from, p_range_to) n(table_index, first, past)
          join (
            select c.table_ids[u.table_index] as id, u.key
            from stored_objects.commits c, unnest(c.key_tables, c.keys) u(table_index, key)
            where c.store = p_store and c.number > greatest(p_basis, p_ranges_since)
              and c.number <= p_last
          ) theirs on theirs.id = p_ids[n.table_index] and theirs.key >= n.first
            and (n.past is null or theirs.key < n.past)
      ) f;
  end if;
end $$;

CREATE FUNCTION stored_objects.count_rows(p_store integer, p_number bigint) RETURNS bigint
    LANGUAGE plpgsql
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET jit TO 'off'
    AS $$
#variable_conflict use_column
declare v_counted bigint; v_weight bigint;
begin
  select s.counted into v_counted from stored_objects.stores s where s.id = p_store;
  update stored_objects.tables t
    set count = t.count + d.more, changed = greatest(t.changed, d.number),
      last_row = greatest(t.last_row, d.last_row)
    from (
      select c.uncounted as id, sum(case c.row_kinds[1] when 0 then 1 when 2 then -1 else 0 end) as more, max(c.number) as number,
        max(case when c.row_kinds[1] <> 2 then c.rows[1] end) as last_row
      from stored_objects.commits c
      where c.store = p_store and c.number > v_counted and c.number <= p_number
        and c.uncounted is not null
      group by c.uncounted) d
    where t.id = d.id;
  select coalesce(sum(c.weight), 0) into v_weight
    from stored_objects.commits c
    where c.store = p_store and c.number > v_counted and c.number <= p_number
      and c.uncounted is not null;
  update stored_objects.stores s set counted = p_number where s.id = p_store;
  return v_weight;
end $$;

CREATE FUNCTION stored_objects.entry_header(p_number bigint, p_token uuid, p_author bytea, p_time bigint, p_based_on bigint, p_is_sealed boolean) RETURNS bytea
    LANGUAGE plpgsql
    AS $$
declare
  v_time bigint := coalesce(p_time, '-9223372036854775808'::bigint);
  v_based_on bigint := coalesce(p_based_on, -1);
begin
  return case when p_is_sealed then '\x01'::bytea || stored_objects.sized(p_author)
      else ''::bytea end
    || '\x02'::bytea || stored_objects.le4(p_number) || stored_objects.le4(p_number >> 32)
    || uuid_send(p_token)
    || stored_objects.le4(v_time) || stored_objects.le4(v_time >> 32)
    || stored_objects.le4(v_based_on) || stored_objects.le4(v_based_on >> 32)
    || stored_objects.sized(case when p_is_sealed then ''::bytea else p_author end);
end $$;

CREATE FUNCTION stored_objects.find_commit(p_store integer, p_token uuid) RETURNS TABLE(number bigint, token uuid, author bytea, "time" bigint, based_on bigint)
    LANGUAGE plpgsql
    AS $$
begin
  if pg_advisory_xact_lock(1398034258, p_store) is null then
    null;
  end if;
  return query select c.number, c.token, c.author, c."time", c.based_on
    from stored_objects.commits c where c.store = p_store and c.token = p_token;
end $$;

CREATE FUNCTION stored_objects.le4(n bigint) RETURNS bytea
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
  select substring(int8send(((n & 255) << 24) | ((n & 65280) << 8) | ((n >> 8) & 65280)
    | ((n >> 24) & 255)) from 5 for 4)
$$;

CREATE FUNCTION stored_objects.put_keys(p_store integer, p_token uuid, p_kind smallint, p_name text, p_keys bytea[], p_values bytea[]) RETURNS void
    LANGUAGE sql
    AS $$
  insert into stored_objects.keys (table_id, head, tail_hash, tail, value)
    select t.id, substring(n.key from 1 for 1024),
      stored_objects.tail_hash(n.key), substring(n.key from 1025), n.value
    from stored_objects.commits c
      join stored_objects.tables t
        on t.store = c.store and t.kind = p_kind and t.name = p_name,
      unnest(p_keys, p_values) n(key, value)
    where c.store = p_store and c.token = p_token
      and c.number = (select s.last_commit from stored_objects.stores s where s.id = p_store)
    on conflict (table_id, head, tail_hash) do update set value = excluded.value
$$;

CREATE FUNCTION stored_objects.put_records(p_store integer, p_token uuid, p_name text, p_rows bigint[], p_data bytea[]) RETURNS void
    LANGUAGE sql
    AS $$
  insert into stored_objects.records (table_id, row, commit, data)
    select t.id, n.row, c.number, n.data
    from stored_objects.commits c
      join stored_objects.tables t on t.store = c.store and t.kind = 0 and t.name = p_name,
      unnest(p_rows, p_data) n(row, data)
    where c.store = p_store and c.token = p_token
      and c.number = (select s.last_commit from stored_objects.stores s where s.id = p_store)
    on conflict (table_id, row) do update set commit = excluded.commit, data = excluded.data
$$;

CREATE FUNCTION stored_objects.remember(p_store integer, p_history integer, p_number bigint, p_header bytea, p_ids integer[], p_tables text[], p_table_kinds smallint[], p_row_tables integer[], p_rows bigint[], p_records bytea[], p_names bytea[], p_buffers bytea[], p_cleared integer[], p_key_tables integer[], p_keys bytea[], p_key_kinds smallint[], p_values bytea[], p_gone_tables integer[], p_gone_keys bytea[], p_gone_values bytea[]) RETURNS void
    LANGUAGE plpgsql
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
declare
  v_nothing bytea := '\x00000000';
  v_records bytea := v_nothing; v_buffers bytea := v_nothing; v_ordered bytea := v_nothing;
  v_value bytea;
begin
  if cardinality(p_rows) > 0 then
  select stored_objects.le4(count(*))
      || coalesce(string_agg(t.part, ''::bytea order by t.table_index), ''::bytea)
    into v_records
    from (
      select n.table_index,
        stored_objects.sized(convert_to(p_tables[n.table_index], 'UTF8'))
          || stored_objects.le4(count(*))
          || string_agg(stored_objects.le4(n.row) || stored_objects.change(n.before, r.data),
            ''::bytea order by n.place) as part
      from unnest(p_row_tables, p_rows, p_records) with ordinality
          n(table_index, row, before, place)
        left join stored_objects.records r
          on r.table_id = p_ids[n.table_index] and r.row = n.row
      where n.before is distinct from r.data
      group by n.table_index) t;
  end if;
  if cardinality(p_names) > 0 then
  select stored_objects.le4(count(*))
      || coalesce(string_agg(
        stored_objects.sized(n.name) || stored_objects.change(n.before, b.data),
        ''::bytea order by n.place), ''::bytea)
    into v_buffers
    from unnest(p_names, p_buffers) with ordinality n(name, before, place)
      left join stored_objects.buffers b
        on b.store = p_store and b.name_hash = sha256(n.name)
    where n.before is distinct from b.data;
  end if;
  if cardinality(p_keys) > 0 or cardinality(p_cleared) > 0 then
  select stored_objects.le4(count(*))
      || coalesce(string_agg(t.part, ''::bytea order by t.table_index), ''::bytea)
    into v_ordered
    from (
      select u.table_index,
        stored_objects.sized(convert_to(p_tables[u.table_index] || case
            when p_table_kinds[u.table_index] = 2 then '.index'
            else '.ordered' end, 'UTF8'))
          || case
            when p_table_kinds[u.table_index] = 2
              and u.table_index = any (p_cleared) then '\x01'::bytea
            else '\x00'::bytea end
          || stored_objects.le4(count(u.key))
          || coalesce(string_agg(
            stored_objects.sized(u.key) || stored_objects.change(u.before, u.after), ''::bytea
            order by case when p_table_kinds[u.table_index] = 1
              then u.key end, u.place), ''::bytea) as part
      from (
        select n.table_index, n.key, n.before, k.value as after, n.place
          from unnest(p_key_tables, p_keys, p_key_kinds, p_values) with ordinality
              n(table_index, key, kind, before, place)
            left join stored_objects.keys k on k.table_id = p_ids[n.table_index]
              and k.head = substring(n.key from 1 for 1024)
              and k.tail_hash = stored_objects.tail_hash(n.key)
          where p_table_kinds[n.table_index] = 2
            or n.before is distinct from k.value
              and not (n.kind = 2 and n.table_index = any (p_cleared))
        union all
        select n.table_index, n.key, n.before, null, 0
          from unnest(p_gone_tables, p_gone_keys, p_gone_values) n(table_index, key, before)
            left join stored_objects.keys k on k.table_id = p_ids[n.table_index]
              and k.head = substring(n.key from 1 for 1024)
              and k.tail_hash = stored_objects.tail_hash(n.key)
          where k.table_id is null
        union all
        select n, null, null, null, 0 from unnest(p_cleared) n
          where p_table_kinds[n] = 2
      ) u group by u.table_index) t;
  end if;
  v_value := p_header || v_records || v_buffers || v_ordered;
  if octet_length(v_value) > 268435456 then
    raise exception 'an entry of the history has % bytes', octet_length(v_value)
      using errcode = 'program_limit_exceeded';
  end if;
  insert into stored_objects.keys (table_id, head, tail_hash, tail, value)
    values (p_history, '\x01'::bytea || int8send(p_number), '', '', v_value)
    on conflict (table_id, head, tail_hash) do update set value = excluded.value;
  update stored_objects.tables t set count = t.count + 1, changed = p_number
    where t.id = p_history;
end $$;

CREATE FUNCTION stored_objects.remove_store() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  delete from stored_objects.commits where store = old.id;
  return null;
end $$;

CREATE FUNCTION stored_objects.remove_table() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  delete from stored_objects.records where table_id = old.id;
  delete from stored_objects.keys where table_id = old.id;
  return null;
end $$;

CREATE FUNCTION stored_objects.reserve_rows(p_store integer, p_name text, p_count bigint) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
declare last bigint;
begin
  insert into stored_objects.tables (store, kind, name) values (p_store, 0, p_name)
    on conflict do nothing;
  update stored_objects.tables t set last_row = greatest(t.last_row, (
    select max(case when c.row_kinds[1] <> 2 then c.rows[1] end) from stored_objects.stores s
      join stored_objects.commits c on c.store = s.id and c.number > s.counted
    where s.id = t.store and c.uncounted = t.id)) + p_count
    where t.store = p_store and t.kind = 0 and t.name = p_name
      and greatest(t.last_row, (
    select max(case when c.row_kinds[1] <> 2 then c.rows[1] end) from stored_objects.stores s
      join stored_objects.commits c on c.store = s.id and c.number > s.counted
    where s.id = t.store and c.uncounted = t.id)) + p_count <= 4294967295
    returning t.last_row into last;
  return last;
end $$;

CREATE FUNCTION stored_objects.sized(bytes bytea) RETURNS bytea
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
  select stored_objects.le4(octet_length(bytes)) || bytes
$$;

CREATE FUNCTION stored_objects.tail_hash(key bytea) RETURNS bytea
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
  select case when octet_length(key) > 1024
    then sha256(substring(key from 1025)) else ''::bytea end
$$;

SET default_tablespace = '';

SET default_table_access_method = heap;

CREATE TABLE stored_objects.buffers (
    store integer NOT NULL,
    name_hash bytea NOT NULL,
    name bytea NOT NULL,
    data bytea NOT NULL
);

CREATE TABLE stored_objects.commits (
    store integer NOT NULL,
    number bigint NOT NULL,
    token uuid NOT NULL,
    author bytea NOT NULL,
    "time" bigint,
    based_on bigint,
    weight bigint NOT NULL,
    table_ids integer[],
    table_kinds smallint[],
    table_names text[],
    metadata bytea[],
    row_tables integer[],
    rows bigint[],
    row_kinds smallint[],
    names bytea[],
    name_kinds smallint[],
    cleared integer[],
    key_tables integer[],
    keys bytea[],
    key_kinds smallint[],
    key_values bytea[],
    uncounted integer,
    is_plain boolean
);
ALTER TABLE ONLY stored_objects.commits ALTER COLUMN table_ids SET STORAGE EXTERNAL;
ALTER TABLE ONLY stored_objects.commits ALTER COLUMN table_kinds SET STORAGE EXTERNAL;
ALTER TABLE ONLY stored_objects.commits ALTER COLUMN table_names SET STORAGE EXTERNAL;
ALTER TABLE ONLY stored_objects.commits ALTER COLUMN metadata SET STORAGE EXTERNAL;
ALTER TABLE ONLY stored_objects.commits ALTER COLUMN row_tables SET STORAGE EXTERNAL;
ALTER TABLE ONLY stored_objects.commits ALTER COLUMN rows SET STORAGE EXTERNAL;
ALTER TABLE ONLY stored_objects.commits ALTER COLUMN row_kinds SET STORAGE EXTERNAL;
ALTER TABLE ONLY stored_objects.commits ALTER COLUMN names SET STORAGE EXTERNAL;
ALTER TABLE ONLY stored_objects.commits ALTER COLUMN name_kinds SET STORAGE EXTERNAL;
ALTER TABLE ONLY stored_objects.commits ALTER COLUMN cleared SET STORAGE EXTERNAL;
ALTER TABLE ONLY stored_objects.commits ALTER COLUMN key_tables SET STORAGE EXTERNAL;
ALTER TABLE ONLY stored_objects.commits ALTER COLUMN keys SET STORAGE EXTERNAL;
ALTER TABLE ONLY stored_objects.commits ALTER COLUMN key_kinds SET STORAGE EXTERNAL;
ALTER TABLE ONLY stored_objects.commits ALTER COLUMN key_values SET STORAGE EXTERNAL;

CREATE TABLE stored_objects.external_chunks (
    store integer NOT NULL,
    id uuid NOT NULL,
    number bigint NOT NULL,
    data bytea NOT NULL
);
ALTER TABLE ONLY stored_objects.external_chunks ALTER COLUMN data SET STORAGE EXTERNAL;

CREATE TABLE stored_objects.external_values (
    store integer NOT NULL,
    id uuid NOT NULL,
    byte_count bigint,
    created timestamp with time zone DEFAULT now() NOT NULL,
    listed bigint DEFAULT 0 NOT NULL,
    dropped timestamp with time zone,
    removed timestamp with time zone
);

CREATE TABLE stored_objects.keys (
    table_id integer NOT NULL,
    head bytea NOT NULL,
    tail_hash bytea NOT NULL,
    tail bytea NOT NULL,
    value bytea NOT NULL
);

CREATE TABLE stored_objects.records (
    table_id integer NOT NULL,
    "row" bigint NOT NULL,
    commit bigint NOT NULL,
    data bytea NOT NULL
);

CREATE TABLE stored_objects.schema_version (
    only_row boolean DEFAULT true NOT NULL,
    version integer NOT NULL,
    CONSTRAINT schema_version_only_row_check CHECK (only_row)
);

CREATE TABLE stored_objects.stores (
    id integer NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    uuid uuid DEFAULT gen_random_uuid() NOT NULL,
    format integer DEFAULT 1 NOT NULL,
    key_file bytea,
    last_commit bigint DEFAULT 0 NOT NULL,
    forgotten bigint DEFAULT 0 NOT NULL,
    weight bigint DEFAULT 0 NOT NULL,
    history integer,
    follows boolean DEFAULT false NOT NULL,
    counted bigint DEFAULT 0 NOT NULL
)
WITH (fillfactor='50');

ALTER TABLE stored_objects.stores ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME stored_objects.stores_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE stored_objects.tables (
    id integer NOT NULL,
    store integer NOT NULL,
    kind smallint NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    count bigint DEFAULT 0 NOT NULL,
    last_row bigint DEFAULT 1 NOT NULL,
    metadata_row bigint DEFAULT 0 NOT NULL,
    changed bigint DEFAULT 0 NOT NULL
)
WITH (fillfactor='50');

ALTER TABLE stored_objects.tables ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME stored_objects.tables_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

INSERT INTO stored_objects.buffers VALUES (1, '\xc23abc5b6b4579a3adb95b448ba30fec626cbf1ab891874d4e40c089e5f062bd', '\x536f6e672e2e6c61796f757473', '\x010100000000000102000000050240534f434b7f78a67a');
INSERT INTO stored_objects.buffers VALUES (1, '\x6be090825c9971035aee21d9ac0fc9c32f279b921e956026460e4cc1eb611dd6', '\x4f72646572', '\x050000003320342031534f434be4f60665');
INSERT INTO stored_objects.buffers VALUES (3, '\xc23abc5b6b4579a3adb95b448ba30fec626cbf1ab891874d4e40c089e5f062bd', '\x536f6e672e2e6c61796f757473', '\x010100000000000102000000050120534f434b8443872f');

INSERT INTO stored_objects.commits VALUES (1, 1, 'd8bd225b-3cdf-8327-8000-000000000001', '\x', 1795802848873425, NULL, 2, '{1}', '{0}', '{Song}', '{"\\x0100000000009a697d5a051dcc420102000000b14f2133"}', '{1}', '{1}', '{1}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', NULL, NULL);
INSERT INTO stored_objects.commits VALUES (1, 2, 'd8bd225b-3cdf-8327-8000-000000000002', '\x', 1795802848879053, 1, 6, '{1,4}', '{0,2}', '{Song,Song..text}', '{"\\x2200000000009a697d5a051dcc420106000000bd6e89e6",NULL}', '{1,1,1,1,1}', '{2,3,4,5,1}', '{0,0,0,0,1}', '{"\\x536f6e672e2e6c61796f757473"}', '{1}', '{}', '{}', '{}', '{}', '{}', NULL, NULL);
INSERT INTO stored_objects.commits VALUES (1, 3, 'd8bd225b-3cdf-8327-8000-000000000003', '\x', 1795802848880948, 2, 2, '{1,4}', '{0,2}', '{Song,Song..text}', '{NULL,NULL}', '{1}', '{4}', '{1}', '{"\\x4f72646572"}', '{1}', '{}', '{}', '{}', '{}', '{}', NULL, NULL);
INSERT INTO stored_objects.commits VALUES (1, 4, 'd8bd225b-3cdf-8327-8000-000000000004', '\x', 1795802848881621, 3, 2, '{1,4}', '{0,2}', '{Song,Song..text}', '{NULL,NULL}', '{1}', '{3}', '{2}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', NULL, NULL);
INSERT INTO stored_objects.commits VALUES (1, 5, 'd8bd225b-3cdf-8327-8000-000000000005', '\x', 1795802848882281, NULL, 3, '{5}', '{1}', '{Keys}', '{NULL}', '{}', '{}', '{}', '{}', '{}', '{}', '{1,1}', '{"\\x616e74","\\x626174"}', '{1,1}', '{"\\x01","\\x01"}', NULL, NULL);
INSERT INTO stored_objects.commits VALUES (3, 1, '32932aeb-effe-81ba-8000-000000000001', '\x', 1795868830461243, NULL, 2, '{8}', '{0}', '{Song}', '{"\\x01000000000091303557341a7aeb0102000000b254fff4"}', '{1}', '{1}', '{1}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', NULL, true);
INSERT INTO stored_objects.commits VALUES (3, 2, '32932aeb-effe-81ba-8000-000000000002', '\x', 1795868830477275, NULL, 2, '{9}', '{0}', '{Playlist}', '{"\\x010000000001eb06af44c042bec40102000000cddff38c"}', '{1}', '{1}', '{1}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', NULL, true);
INSERT INTO stored_objects.commits VALUES (3, 3, '32932aeb-effe-81ba-8000-000000000003', '\x', 1795868830487733, 2, 3, '{8,12}', '{0,2}', '{Song,Song..text}', '{"\\x22000000000091303557341a7aeb0106000000be755721",NULL}', '{1,1}', '{2,1}', '{0,1}', '{"\\x536f6e672e2e6c61796f757473"}', '{1}', '{}', '{}', '{}', '{}', '{}', NULL, true);
INSERT INTO stored_objects.commits VALUES (3, 4, '32932aeb-effe-81ba-8000-000000000004', '\x', 1795868830491359, 3, 2, '{8}', '{0}', '{Song}', NULL, '{1}', '{3}', '{0}', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 8, true);
INSERT INTO stored_objects.commits VALUES (3, 5, '32932aeb-effe-81ba-8000-000000000005', '\x', 1795868830493503, 4, 2, '{8}', '{0}', '{Song}', NULL, '{1}', '{4}', '{0}', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 8, true);
INSERT INTO stored_objects.commits VALUES (3, 6, '32932aeb-effe-81ba-8000-000000000006', '\x', 1795868830494509, 5, 2, '{8}', '{0}', '{Song}', NULL, '{1}', '{5}', '{0}', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 8, true);
INSERT INTO stored_objects.commits VALUES (3, 7, '32932aeb-effe-81ba-8000-000000000007', '\x', 1795868830495505, 6, 2, '{8}', '{0}', '{Song}', NULL, '{1}', '{6}', '{0}', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 8, true);
INSERT INTO stored_objects.commits VALUES (3, 8, '32932aeb-effe-81ba-8000-000000000008', '\x', 1795868830496280, 7, 2, '{8}', '{0}', '{Song}', NULL, '{1}', '{7}', '{0}', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 8, true);

INSERT INTO stored_objects.keys VALUES (5, '\x616e74', '\x', '\x', '\x01');
INSERT INTO stored_objects.keys VALUES (5, '\x626174', '\x', '\x', '\x01');

INSERT INTO stored_objects.records VALUES (1, 1, 2, '\x2200000000009a697d5a051dcc420106000000bd6e89e6');
INSERT INTO stored_objects.records VALUES (1, 2, 2, '\x0006000000536f6e67203101000000000000009959b0d5');
INSERT INTO stored_objects.records VALUES (1, 5, 2, '\x0006000000536f6e6720340400000000000000f114b7db');
INSERT INTO stored_objects.records VALUES (1, 4, 3, '\x0006000000536f6e672033210000000000000000b0250c');
INSERT INTO stored_objects.records VALUES (9, 1, 2, '\x010000000001eb06af44c042bec40102000000cddff38c');
INSERT INTO stored_objects.records VALUES (8, 1, 3, '\x22000000000091303557341a7aeb0106000000be755721');
INSERT INTO stored_objects.records VALUES (8, 2, 3, '\x00780000004120736f6e6720776974682061207469746c652074686174206973206c6f6e6720656e6f75676820746f206d616b6520697473207265636f7264206f6e652068756e6472656420616e64207477656e74792d6569676874206279746573206c6f6e6720696e2074686520656e642c206173206f7468657273c8000000c41ed598');
INSERT INTO stored_objects.records VALUES (8, 3, 4, '\x00780000004120736f6e6720776974682061207469746c652074686174206973206c6f6e6720656e6f75676820746f206d616b6520697473207265636f7264206f6e652068756e6472656420616e64207477656e74792d6569676874206279746573206c6f6e6720696e2074686520656e642c206173206f7468657273c8000000d6603aec');
INSERT INTO stored_objects.records VALUES (8, 4, 5, '\x00780000004120736f6e6720776974682061207469746c652074686174206973206c6f6e6720656e6f75676820746f206d616b6520697473207265636f7264206f6e652068756e6472656420616e64207477656e74792d6569676874206279746573206c6f6e6720696e2074686520656e642c206173206f7468657273c8000000596c5aa7');
INSERT INTO stored_objects.records VALUES (8, 5, 6, '\x00780000004120736f6e6720776974682061207469746c652074686174206973206c6f6e6720656e6f75676820746f206d616b6520697473207265636f7264206f6e652068756e6472656420616e64207477656e74792d6569676874206279746573206c6f6e6720696e2074686520656e642c206173206f7468657273c80000004b12b5d3');
INSERT INTO stored_objects.records VALUES (8, 6, 7, '\x00780000004120736f6e6720776974682061207469746c652074686174206973206c6f6e6720656e6f75676820746f206d616b6520697473207265636f7264206f6e652068756e6472656420616e64207477656e74792d6569676874206279746573206c6f6e6720696e2074686520656e642c206173206f7468657273c80000007d90844e');
INSERT INTO stored_objects.records VALUES (8, 7, 8, '\x00780000004120736f6e6720776974682061207469746c652074686174206973206c6f6e6720656e6f75676820746f206d616b6520697473207265636f7264206f6e652068756e6472656420616e64207477656e74792d6569676874206279746573206c6f6e6720696e2074686520656e642c206173206f7468657273c80000006fee6b3a');

INSERT INTO stored_objects.schema_version VALUES (true, 7);

INSERT INTO stored_objects.stores VALUES (1, 'Music', 'c66ef6f8-793e-424d-b7c7-dbb459e497e5', 1, NULL, 5, 0, 15, NULL, false, 5);
INSERT INTO stored_objects.stores VALUES (3, 'Songs', '65796810-8bf2-41f3-b1e5-870ca067f925', 1, NULL, 3, 0, 7, NULL, false, 0);

INSERT INTO stored_objects.tables VALUES (4, 1, 2, 'Song..text', 0, 1, 0, 0);
INSERT INTO stored_objects.tables VALUES (1, 1, 0, 'Song', 4, 34, 34, 4);
INSERT INTO stored_objects.tables VALUES (5, 1, 1, 'Keys', 2, 1, 0, 5);
INSERT INTO stored_objects.tables VALUES (9, 3, 0, 'Playlist', 1, 1, 1, 2);
INSERT INTO stored_objects.tables VALUES (12, 3, 2, 'Song..text', 0, 1, 0, 0);
INSERT INTO stored_objects.tables VALUES (8, 3, 0, 'Song', 2, 34, 34, 3);

SELECT pg_catalog.setval('stored_objects.stores_id_seq', 3, true);

SELECT pg_catalog.setval('stored_objects.tables_id_seq', 12, true);

ALTER TABLE ONLY stored_objects.buffers
    ADD CONSTRAINT buffers_pkey PRIMARY KEY (store, name_hash);

ALTER TABLE ONLY stored_objects.commits
    ADD CONSTRAINT commits_pkey PRIMARY KEY (store, number);

ALTER TABLE ONLY stored_objects.commits
    ADD CONSTRAINT commits_token_store_key UNIQUE (token, store);

ALTER TABLE ONLY stored_objects.external_chunks
    ADD CONSTRAINT external_chunks_pkey PRIMARY KEY (store, id, number);

ALTER TABLE ONLY stored_objects.external_values
    ADD CONSTRAINT external_values_pkey PRIMARY KEY (store, id);

ALTER TABLE ONLY stored_objects.keys
    ADD CONSTRAINT keys_pkey PRIMARY KEY (table_id, head, tail_hash);

ALTER TABLE ONLY stored_objects.records
    ADD CONSTRAINT records_pkey PRIMARY KEY (table_id, "row");

ALTER TABLE ONLY stored_objects.schema_version
    ADD CONSTRAINT schema_version_pkey PRIMARY KEY (only_row);

ALTER TABLE ONLY stored_objects.stores
    ADD CONSTRAINT stores_name_key UNIQUE (name);

ALTER TABLE ONLY stored_objects.stores
    ADD CONSTRAINT stores_pkey PRIMARY KEY (id);

ALTER TABLE ONLY stored_objects.tables
    ADD CONSTRAINT tables_pkey PRIMARY KEY (id);

ALTER TABLE ONLY stored_objects.tables
    ADD CONSTRAINT tables_store_kind_name_key UNIQUE (store, kind, name);

CREATE INDEX external_values_unused ON stored_objects.external_values USING btree (store) WHERE ((removed IS NOT NULL) OR (dropped IS NOT NULL) OR (listed = 0));

CREATE TRIGGER stores_removed AFTER DELETE ON stored_objects.stores FOR EACH ROW EXECUTE FUNCTION stored_objects.remove_store();

CREATE TRIGGER tables_removed AFTER DELETE ON stored_objects.tables FOR EACH ROW EXECUTE FUNCTION stored_objects.remove_table();

ALTER TABLE ONLY stored_objects.buffers
    ADD CONSTRAINT buffers_store_fkey FOREIGN KEY (store) REFERENCES stored_objects.stores(id) ON DELETE CASCADE;

ALTER TABLE ONLY stored_objects.external_chunks
    ADD CONSTRAINT external_chunks_store_id_fkey FOREIGN KEY (store, id) REFERENCES stored_objects.external_values(store, id) ON DELETE CASCADE;

ALTER TABLE ONLY stored_objects.external_values
    ADD CONSTRAINT external_values_store_fkey FOREIGN KEY (store) REFERENCES stored_objects.stores(id) ON DELETE CASCADE;

ALTER TABLE ONLY stored_objects.tables
    ADD CONSTRAINT tables_store_fkey FOREIGN KEY (store) REFERENCES stored_objects.stores(id) ON DELETE CASCADE;

