extension Schema {
  /// The outcome of a commit, which is the first column of the function's answer.
  enum Outcome: Int64 {
    case committed = 0
    /// A commit with this token was made before.
    case repeated = 1
    case conflict = 2
    case rowExists = 3
    /// The commit is based on a number that is forgotten or does not exist yet.
    case expired = 4
    /// Others have committed after the required number.
    case overtaken = 5
    /// The commit is sealed and the store is not encrypted, or the other way round.
    case otherSealing = 6
    /// The commit refers to an external value that is gone.
    case valueMissing = 7
    /// The store follows another one, and only its follower may commit.
    case following = 8
    /// The store keeps a history, so the commit can't be in several pieces.
    case undivided = 9

    /// Whether the commit is in the store.
    var isMade: Bool { self == .committed || self == .repeated }
  }

  /// The kind of a commit to a store that follows another one.
  enum Replication: Int16 {
    /// A commit of the store itself.
    case none = 0
    /// A commit of the follower, which contains its entry of the history.
    case ownEntry = 1
    /// A commit of the follower that gets an entry.
    case remembered = 2
  }

  /// The other columns of an answer that has only an outcome and a number.
  static let nothing = """
    null::integer[], null::bigint[], null::integer[], null::integer[], null::bytea[],
          v_history is not null, null::integer[]
    """

  /// The number of the last commits that are remembered.
  static let rememberedCommitCount = 4096
  /// The number of changed rows and keys that are remembered.
  static let rememberedWeight = 2_000_000

  /// Executes a commit, completely or not at all.
  ///
  /// Tables are numbered by their position in `p_tables`, from 1. The lists contain all rows and
  /// keys. `put_records` and `put_keys` write the bytes of a large commit afterwards.
  static let commit = """
    create function stored_objects.commit(
      p_store integer, p_token uuid, p_author bytea, p_time bigint, p_based_on bigint,
      p_required bigint, p_is_sealed boolean,
      p_tables text[], p_table_kinds smallint[], p_metadata bytea[], p_metadata_rows bigint[],
      p_row_tables integer[], p_rows bigint[], p_row_kinds smallint[],
      p_data_tables integer[], p_data_rows bigint[], p_data bytea[],
      p_names bytea[], p_name_data bytea[],
      p_cleared integer[], p_key_tables integer[], p_keys bytea[], p_key_kinds smallint[],
      p_key_values bytea[],
      p_value_tables integer[], p_value_keys bytea[], p_values bytea[],
      p_basis_tables integer[], p_basis_rows bigint[],
      p_range_tables integer[], p_range_from bytea[], p_range_to bytea[],
      p_ranges_since bigint,
      p_point_tables integer[], p_points bytea[], p_external uuid[],
      p_dropped uuid[], p_key_ids uuid[], p_replication smallint, p_history_table integer,
      p_begins_history boolean, p_follower_table integer, p_is_in_pieces boolean)
    returns table (outcome integer, number bigint, row_tables integer[], rows bigint[],
      names integer[], key_tables integer[], kept_keys bytea[], keeps_history boolean,
      table_ids integer[])
    language plpgsql \(plansByKeys) as $$
    #variable_conflict use_column
    declare
      -- A follower repeats a commit of another store, where its basis was checked.
      v_basis bigint := case when p_replication = \(Replication.none.rawValue) then p_based_on end;
      v_last bigint; v_forgotten bigint; v_is_sealed boolean; v_found bigint; v_number bigint;
      v_ids integer[]; v_kept integer[]; v_weight bigint;
      v_total bigint;
      v_row_tables integer[]; v_rows bigint[]; v_names integer[]; v_key_tables integer[];
      v_history integer; v_follows boolean; v_is_remembered boolean;
      v_is_entry_empty boolean := false; v_records bytea[]; v_buffers bytea[]; v_values bytea[];
      v_gone_tables integer[]; v_gone_keys bytea[]; v_gone_values bytea[]; v_kept_keys bytea[];
      v_name_kinds smallint[] := '{}';
    begin
    \(takingLock)
      select \(lastCommit), s.forgotten, s.weight, s.key_file is not null, s.history, s.follows
        into v_last, v_forgotten, v_total, v_is_sealed, v_history, v_follows
        from stored_objects.stores s where s.id = p_store;
      if p_is_sealed <> v_is_sealed then
        return query select \(Outcome.otherSealing.rawValue), v_last,
          \(nothing);
        return;
      end if;
      select c.number into v_found
        from stored_objects.commits c where c.store = p_store and c.token = p_token;
      if v_found is not null then
        return query select \(Outcome.repeated.rawValue), v_found,
          \(nothing);
        return;
      end if;
      if v_follows and p_replication = \(Replication.none.rawValue) then
        return query select \(Outcome.following.rawValue), v_last, \(nothing);
        return;
      end if;
      if p_required <> v_last or p_begins_history and v_history is not null then
        return query select \(Outcome.overtaken.rawValue), v_last,
          \(nothing);
        return;
      end if;
      if v_basis < v_forgotten or v_basis > v_last then
        return query select \(Outcome.expired.rawValue), v_last,
          \(nothing);
        return;
      end if;
    \(beginningEntry)
    \(findingTables)
      if v_basis < v_last then
        select c.row_tables, c.rows, c.names, c.key_tables
          into v_row_tables, v_rows, v_names, v_key_tables
          from stored_objects.conflicts(
            p_store, v_basis, v_last, v_ids, p_row_tables, p_rows, p_basis_tables, p_basis_rows, p_names,
            p_cleared, p_key_tables, p_keys, p_range_tables, p_range_from, p_range_to,
            p_ranges_since, p_point_tables, p_points) c;
        if v_rows is not null or v_names is not null or v_key_tables is not null then
          return query select \(Outcome.conflict.rawValue), v_last, v_row_tables, v_rows, v_names,
            v_key_tables, null::bytea[], v_history is not null, v_ids;
          return;
        end if;
      end if;
    \(checkingChanges)
    \(readingEarlierStates)
    \(writing)
    \(writingEntry)
    \(remembering)
      return query select \(Outcome.committed.rawValue), v_number,
        null::integer[], null::bigint[], null::integer[], null::integer[], v_kept_keys,
        v_history is not null, v_ids;
    end $$
    """

  /// Finds the numbers of the tables, and creates new ones.
  private static let findingTables = """
    \(tableNumbers)
      if cardinality(v_ids) < cardinality(p_tables) then
        insert into stored_objects.tables (store, kind, name)
          select p_store, n.kind, n.name from unnest(p_table_kinds, p_tables) n(kind, name)
          on conflict do nothing;
    \(tableNumbers)
      end if;
    """

  private static let tableNumbers = """
      select coalesce(array_agg(t.id order by n.place), '{}') into v_ids
        from unnest(p_table_kinds, p_tables) with ordinality n(kind, name, place)
          join stored_objects.tables t
            on t.store = p_store and t.kind = n.kind and t.name = n.name;
    """

  private static let checkingChanges = """
      if 0 = any (p_row_kinds) then
        select array_agg(n.table_index), array_agg(n.row) into v_row_tables, v_rows
          from (
            select n.table_index, n.row
            from unnest(p_row_tables, p_rows, p_row_kinds) n(table_index, row, kind)
              join stored_objects.records r on r.table_id = v_ids[n.table_index] and r.row = n.row
            where n.kind = 0 limit 1) n;
        if v_rows is not null then
          return query select \(Outcome.rowExists.rawValue), v_last, v_row_tables, v_rows,
            null::integer[], null::integer[], null::bytea[], v_history is not null, v_ids;
          return;
        end if;
      end if;
      v_number := v_last + 1;
    """

  private static let writing = """
      if cardinality(p_external) > 0 then
        -- Locked, so that nobody removes one meanwhile.
        select count(*) into v_found
          from (
            select 1 from stored_objects.external_values e
            where e.store = p_store and e.id = any (p_external) and e.byte_count is not null
            for update) e;
        if v_found <> cardinality(p_external) then
          return query select \(Outcome.valueMissing.rawValue), v_last, \(nothing);
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
        -- Keys that are not counted yet are removed, too.
        v_total := v_total + stored_objects.count_rows(p_store, v_last);
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
                and k.head = substring(n.key from 1 for \(keyHeadByteCount))
                and k.tail_hash = stored_objects.tail_hash(n.key)
            group by n.table_index) d
          where t.id = v_ids[d.table_index];
    \(removingKeys(of: "v_ids"))
        insert into stored_objects.keys (table_id, head, tail_hash, tail, value)
          select v_ids[n.table_index], substring(n.key from 1 for \(keyHeadByteCount)),
            stored_objects.tail_hash(n.key), substring(n.key from \(keyHeadByteCount + 1)), n.value
          from unnest(p_value_tables, p_value_keys, p_values) n(table_index, key, value)
          on conflict (table_id, head, tail_hash) do update set value = excluded.value;
      end if;
    """

  /// Stores the commit under its number, and forgets old ones.
  private static let remembering = """
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
    \(checkingNumber)
      v_total := v_total + v_weight;
    \(forgetting)
      update stored_objects.stores s set last_commit = v_number, forgotten = v_forgotten,
          weight = v_total, history = v_history, follows = v_follows
        where s.id = p_store;
    """

  /// Forgets the changes of old commits if there is no room for them, and every 64th time old commits.
  ///
  /// Rows and keys are counted before.
  static let forgetting = """
      if v_total > \(rememberedWeight) or v_number % \(countedCommitCount) = 0 then
        v_total := v_total + stored_objects.count_rows(p_store, v_number);
      end if;
      if v_total > \(rememberedWeight) then
        select coalesce(max(w.number), 0) into v_found
          from (
            select c.number, sum(c.weight) over (order by c.number desc) as total
            from stored_objects.commits c where c.store = p_store and c.rows is not null) w
          where w.total > \(rememberedWeight / 2) and w.number < v_number;
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
      if v_number % \(countedCommitCount) = 0 then
        with gone as (
          delete from stored_objects.commits c
            where c.store = p_store and c.number <= v_number - \(rememberedCommitCount)
            returning case when c.rows is not null then c.weight else 0 end as weight)
          select v_total - coalesce(sum(g.weight), 0) into v_total from gone g;
        v_forgotten := greatest(v_forgotten, v_number - \(rememberedCommitCount));
      end if;
    """
}
