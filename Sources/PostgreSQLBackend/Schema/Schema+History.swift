// The history of a store: the ordered table `CommitHistory`, as in every backend. The function that
// executes a commit also writes its entry, because only the server knows the state that it changes.
extension Schema {
  /// The maximum size of an entry, which is that of a key with its value.
  private static let maximumEntryByteCount = PostgreSQLBackend.maximumByteCount
  /// The first bytes of an entry in an encrypted store.
  enum EntryForm {
    /// An entry that a program has written, sealed like any other value.
    static let sealed: UInt8 = 0
    /// An entry that the server has written, of sealed parts.
    static let ofSealedParts: UInt8 = 1
  }

  /// The columns of the history, since version 3.
  ///
  /// `history` is the number of the table `CommitHistory`; NULL if no history is kept. `follows`
  /// tells whether the store follows another one.
  static let historyColumns = """
    alter table stored_objects.stores
      add column history integer, add column follows boolean not null default false
    """

  /// The functions that encode and write entries, since version 3.
  static let historyFunctions = [littleEndian, sized, changeOfBytes, header, remember]

  // MARK: Encoding

  /// Returns the bytes of a number, the lowest first.
  private static let littleEndian = """
    create function stored_objects.le4(n bigint) returns bytea
    language sql immutable parallel safe as $$
      select substring(int8send(((n & 255) << 24) | ((n & 65280) << 8) | ((n >> 8) & 65280)
        | ((n >> 24) & 255)) from 5 for 4)
    $$
    """

  /// Returns bytes after their count.
  private static let sized = """
    create function stored_objects.sized(bytes bytea) returns bytea
    language sql immutable parallel safe as $$
      select stored_objects.le4(octet_length(bytes)) || bytes
    $$
    """

  /// Returns an encoded change, see `HistoryFormat`.
  ///
  /// The new bytes are complete: looking for unchanged ends would cost more than it saves.
  private static let changeOfBytes = """
    create function stored_objects.change(before bytea, after bytea) returns bytea
    language sql immutable parallel safe as $$
      select case
        when before is null and after is null then '\\x03'::bytea
        when before is null then '\\x00'::bytea || stored_objects.sized(after)
        when after is null then '\\x02'::bytea || stored_objects.sized(before)
        else '\\x01'::bytea || stored_objects.sized(before) || '\\x0000000000000000'::bytea
          || stored_objects.sized(after)
      end
    $$
    """

  /// Returns the beginning of an entry: the version and the commit.
  ///
  /// In an encrypted store, the sealed author comes first.
  private static let header = """
    create function stored_objects.entry_header(
      p_number bigint, p_token uuid, p_author bytea, p_time bigint, p_based_on bigint,
      p_is_sealed boolean)
    returns bytea language plpgsql as $$
    declare
      v_time bigint := coalesce(p_time, '-9223372036854775808'::bigint);
      v_based_on bigint := coalesce(p_based_on, -1);
    begin
      return case when p_is_sealed then '\\x01'::bytea || stored_objects.sized(p_author)
          else ''::bytea end
        || '\\x02'::bytea || stored_objects.le4(p_number) || stored_objects.le4(p_number >> 32)
        || uuid_send(p_token)
        || stored_objects.le4(v_time) || stored_objects.le4(v_time >> 32)
        || stored_objects.le4(v_based_on) || stored_objects.le4(v_based_on >> 32)
        || stored_objects.sized(case when p_is_sealed then ''::bytea else p_author end);
    end $$
    """

  // MARK: Entries

  /// Writes the entry of a commit that has been executed.
  ///
  /// `p_records`, `p_buffers` and `p_values` are the states before it, in the order of the rows,
  /// names and keys; `p_gone_…` are the keys of tables that it has cleared. The states after it are
  /// read. Planning these statements for each call would cost more than executing them.
  private static let remember = """
    create function stored_objects.remember(
      p_store integer, p_history integer, p_number bigint, p_header bytea,
      p_ids integer[], p_tables text[], p_table_kinds smallint[],
      p_row_tables integer[], p_rows bigint[], p_records bytea[],
      p_names bytea[], p_buffers bytea[],
      p_cleared integer[], p_key_tables integer[], p_keys bytea[], p_key_kinds smallint[],
      p_values bytea[],
      p_gone_tables integer[], p_gone_keys bytea[], p_gone_values bytea[])
    returns void language plpgsql set plan_cache_mode = force_generic_plan as $$
    declare
      v_nothing bytea := '\\x00000000';
      v_records bytea := v_nothing; v_buffers bytea := v_nothing; v_ordered bytea := v_nothing;
      v_value bytea;
    begin
      if cardinality(p_rows) > 0 then
    \(records)
      end if;
      if cardinality(p_names) > 0 then
    \(buffers)
      end if;
      if cardinality(p_keys) > 0 or cardinality(p_cleared) > 0 then
    \(orderedTables)
      end if;
      v_value := p_header || v_records || v_buffers || v_ordered;
      if octet_length(v_value) > \(maximumEntryByteCount) then
        raise exception 'an entry of the history has % bytes', octet_length(v_value)
          using errcode = 'program_limit_exceeded';
      end if;
      insert into stored_objects.keys (table_id, head, tail_hash, tail, value)
        values (p_history, '\\x01'::bytea || int8send(p_number), '', '', v_value)
        on conflict (table_id, head, tail_hash) do update set value = excluded.value;
      update stored_objects.tables t set count = t.count + 1, changed = p_number
        where t.id = p_history;
    end $$
    """

  private static let records = """
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
    """

  private static let buffers = """
      select stored_objects.le4(count(*))
          || coalesce(string_agg(
            stored_objects.sized(n.name) || stored_objects.change(n.before, b.data),
            ''::bytea order by n.place), ''::bytea)
        into v_buffers
        from unnest(p_names, p_buffers) with ordinality n(name, before, place)
          left join stored_objects.buffers b
            on b.store = p_store and b.name_hash = sha256(n.name)
        where n.before is distinct from b.data;
    """

  /// An index has the changes as they were made, and any other table has its changed keys in order.
  private static let orderedTables = """
      select stored_objects.le4(count(*))
          || coalesce(string_agg(t.part, ''::bytea order by t.table_index), ''::bytea)
        into v_ordered
        from (
          select u.table_index,
            stored_objects.sized(convert_to(p_tables[u.table_index] || case
                when p_table_kinds[u.table_index] = \(TableKind.index.rawValue) then '.index'
                else '.ordered' end, 'UTF8'))
              || case
                when p_table_kinds[u.table_index] = \(TableKind.index.rawValue)
                  and u.table_index = any (p_cleared) then '\\x01'::bytea
                else '\\x00'::bytea end
              || stored_objects.le4(count(u.key))
              || coalesce(string_agg(
                stored_objects.sized(u.key) || stored_objects.change(u.before, u.after), ''::bytea
                order by case when p_table_kinds[u.table_index] = \(TableKind.data.rawValue)
                  then u.key end, u.place), ''::bytea) as part
          from (
            select n.table_index, n.key, n.before, k.value as after, n.place
              from unnest(p_key_tables, p_keys, p_key_kinds, p_values) with ordinality
                  n(table_index, key, kind, before, place)
                left join stored_objects.keys k on k.table_id = p_ids[n.table_index]
                  and k.head = substring(n.key from 1 for \(keyHeadByteCount))
                  and k.tail_hash = stored_objects.tail_hash(n.key)
              where p_table_kinds[n.table_index] = \(TableKind.index.rawValue)
                or n.before is distinct from k.value
                  and not (n.kind = \(removal) and n.table_index = any (p_cleared))
            union all
            select n.table_index, n.key, n.before, null, 0
              from unnest(p_gone_tables, p_gone_keys, p_gone_values) n(table_index, key, before)
                left join stored_objects.keys k on k.table_id = p_ids[n.table_index]
                  and k.head = substring(n.key from 1 for \(keyHeadByteCount))
                  and k.tail_hash = stored_objects.tail_hash(n.key)
              where k.table_id is null
            union all
            select n, null, null, null, 0 from unnest(p_cleared) n
              where p_table_kinds[n] = \(TableKind.index.rawValue)
          ) u group by u.table_index) t;
    """
}

// MARK: - Parts of the function that executes a commit

extension Schema {
  /// Finds out whether the commit gets an entry, and whether that entry is empty.
  ///
  /// A commit that shortens the history has an empty entry, and one that begins or ends the history
  /// has none.
  static let beginningEntry = """
      v_is_remembered := v_history is not null and p_replication <> \(Replication.ownEntry.rawValue);
      if v_is_remembered and p_history_table > 0 then
        v_is_remembered := not p_history_table = any (p_cleared) and not exists (
          select 1 from unnest(p_key_tables, p_keys, p_key_kinds) n(table_index, key, kind)
          where n.table_index = p_history_table and n.kind <> \(removal)
            and octet_length(n.key) = 9 and substring(n.key from 1 for 1) = '\\x01'::bytea);
        v_is_entry_empty := true;
      end if;
      if p_is_in_pieces and v_is_remembered and not v_is_entry_empty then
        return query select \(Outcome.undivided.rawValue), v_last, \(nothing);
        return;
      end if;
      if p_begins_history then
        p_values[1] := substring(p_values[1] from 1 for 1) || stored_objects.le4(v_last + 1)
          || stored_objects.le4((v_last + 1) >> 32) || substring(p_values[1] from 10);
      end if;
    """

  /// Reads the states that the commit is about to change.
  static let readingEarlierStates = """
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
                on p_table_kinds[n.table_index] = \(TableKind.data.rawValue)
                  and k.table_id = v_ids[n.table_index]
                  and k.head = substring(n.key from 1 for \(keyHeadByteCount))
                  and k.tail_hash = stored_objects.tail_hash(n.key);
        end if;
        if cardinality(p_cleared) > 0 then
          select array_agg(n.table_index), array_agg(k.head || k.tail), array_agg(k.value)
            into v_gone_tables, v_gone_keys, v_gone_values
            from unnest(p_cleared) n(table_index)
              join stored_objects.keys k on k.table_id = v_ids[n.table_index]
            where p_table_kinds[n.table_index] = \(TableKind.data.rawValue);
        end if;
      end if;
    """

  /// Writes the entry, and keeps the external values to which the commit removes a reference.
  static let writingEntry = """
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
    \(keepingValues)
          end if;
        end if;
      end if;
      if p_history_table > 0 then
        select max(n.kind) into v_found
          from unnest(p_key_tables, p_keys, p_key_kinds) n(table_index, key, kind)
          where n.table_index = p_history_table and n.key = '\\x00'::bytea;
        if v_found <> \(removal) then
          v_history := v_ids[p_history_table];
        elsif v_found is not null or p_history_table = any (p_cleared) then
          v_history := null;
        end if;
      end if;
      if p_follower_table > 0 then
        v_follows := exists (
          select 1 from unnest(p_key_tables, p_key_kinds) n(table_index, kind)
          where n.table_index = p_follower_table and n.kind <> \(removal));
      end if;
    """

  /// Adds the keys that keep values for the history, see `ExternalCatalogue`, to the list of values
  /// and to the changes of the commit.
  private static let keepingValues = """
            select array_agg(n.key), array_agg(n.value), min(n.table_index)
              into v_kept_keys, v_gone_values, v_found
              from (
                select distinct on (n.id) n.table_index, n.before as value,
                  '\\x00'::bytea || uuid_send(n.id) || '\\xff'::bytea
                    || substring(int8send(greatest(v_number & 4294967295, 1)) from 5 for 4) as key
                from unnest(p_key_tables, p_key_kinds, v_values, p_key_ids)
                  n(table_index, kind, before, id)
                where n.kind = \(removal) and n.id is not null and n.before is not null) n;
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
    """
}
