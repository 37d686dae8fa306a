// The function that executes most small commits, with as few statements as possible.
extension Schema {
  /// The error of the function for a commit that it can't execute.
  static let notNext = "SO001"

  /// Executes a commit if it directly follows the last one that its writer knows, in a store that
  /// keeps no history and follows no other one.
  ///
  /// No one has committed after `p_last`, so nothing conflicts, and the token is new. The answer is
  /// NULL if there is a later commit. An error means that the commit needs the function `commit`: a
  /// row is missing or exists, a table is unknown, or the token belongs to an earlier commit. Tables
  /// are numbered by their position in `p_ids`, from 1, those of records first. If `p_previous` is
  /// given, it is the token of the last commit: the previous one of the same transaction.
  static let commitNext = """
    create function stored_objects.commit_next(\(nextParameters),
      p_previous uuid)
    returns bigint
    language plpgsql \(plansByKeys) as $$
    #variable_conflict use_column
    declare
      v_number bigint; v_total bigint; v_forgotten bigint; v_found bigint; v_count bigint := 0;
    begin
    \(takingLock)
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
          and (s.key_file is not null) = p_is_sealed and \(lastCommit) = p_last
        returning s.last_commit, s.weight, s.forgotten into v_number, v_total, v_forgotten;
      if v_number is null then
        return null;
      end if;
      if p_keys is null and cardinality(p_rows) = 1 then
    \(puttingRow)
      else
    \(puttingRows)
    \(puttingKeys)
        if v_count <> cardinality(p_ids) then
          \(refusing)
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
    \(checkingNumber)
      if v_total > \(rememberedWeight) or v_number % 64 = 0 then
    \(forgetting)
        update stored_objects.stores s set forgotten = v_forgotten, weight = v_total
          where s.id = p_store;
      end if;
      return v_number;
    end $$
    """

  private static let nextParameters = """
      p_store integer, p_last bigint, p_weight bigint, p_is_sealed boolean, p_token uuid,
      p_author bytea, p_time bigint, p_based_on bigint,
      p_ids integer[], p_table_kinds smallint[], p_tables text[], p_metadata bytea[],
      p_metadata_rows bigint[], p_more bigint[], p_last_rows bigint[],
      p_row_tables integer[], p_rows bigint[], p_row_kinds smallint[], p_data bytea[],
      p_key_tables integer[], p_keys bytea[], p_key_kinds smallint[], p_key_values bytea[],
      p_values bytea[]
    """

  /// Executes a commit like `commit_next`, also if others have committed after `p_last` in the
  /// meantime, as long as they have surely not changed its basis.
  ///
  /// The answer is NULL if they may have; `commit` then judges in detail. `p_basis_ids` and
  /// `p_basis_rows` are the rows that it is based on and doesn't change, and `p_key_ids` are the
  /// ordered tables that it changes or is based on.
  static let commitAfter = """
    create function stored_objects.commit_after(\(nextParameters),
      p_basis_ids integer[], p_basis_rows bigint[], p_key_ids integer[])
    returns bigint
    language plpgsql \(plansByKeys) as $$
    #variable_conflict use_column
    declare
      v_last bigint; v_forgotten bigint;
    begin
    \(takingLock)
      select \(lastCommit), s.forgotten into v_last, v_forgotten
        from stored_objects.stores s where s.id = p_store;
      if v_last <> p_last then
        if v_last < p_last or v_last > p_last + \(comparedCommitCount) or v_forgotten > p_last
          or p_metadata is not null
        then
          return null;
        end if;
        perform 1 from stored_objects.commits c where c.store = p_store and c.token = p_token;
        if found then
          return null;
        end if;
        if p_based_on is not null then
    \(comparing)
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
    end $$
    """

  /// The maximum numbers of commits of others that are compared with one, and of their changes.
  private static let (comparedCommitCount, comparedWeight) = (64, 256)

  /// Finds a commit that may have changed the basis.
  private static let comparing = """
          perform 1 from stored_objects.commits c
            where c.store = p_store and c.number > p_last and c.number <= v_last and (
              c.rows is null or c.weight > \(comparedWeight)
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
    """

  /// Ends the function with an error.
  static let refusing = """
    raise exception using errcode = '\(notNext)', message = 'not next';
    """

  /// Changes a record with a table, a row and data; a new one must not exist, and others must.
  static func puttingRecord(
    kind: String, _ table: String, _ row: String, _ data: String
  ) -> String {
    """
          if \(kind) = 0 then
            insert into stored_objects.records (table_id, row, commit, data)
              values (\(table), \(row), v_number, \(data));
          elsif \(kind) = 1 then
            update stored_objects.records r set commit = v_number, data = \(data)
              where r.table_id = \(table) and r.row = \(row);
          else
            delete from stored_objects.records r where r.table_id = \(table) and r.row = \(row);
          end if;
          if not found then
            \(refusing)
          end if;
    """
  }

  /// Changes one record, which is not worth a list, and counts its table.
  private static let puttingRow = """
    \(puttingRecord(kind: "p_row_kinds[1]", "p_ids[1]", "p_rows[1]", "p_data[1]"))
        update stored_objects.tables t
          set count = t.count + p_more[1], changed = v_number,
            last_row = greatest(t.last_row, p_last_rows[1]),
            metadata_row = coalesce(p_metadata_rows[1], t.metadata_row)
          where t.id = p_ids[1] and t.store = p_store and t.kind = p_table_kinds[1]
            and t.name = p_tables[1];
        if not found then
          \(refusing)
        end if;
    """

  /// Changes any number of records, as ``puttingRow`` does one, and counts their tables.
  private static let puttingRows = """
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
            \(refusing)
          end if;
        end if;
        if \(removal) = any (p_row_kinds) then
          delete from stored_objects.records r
            using unnest(p_row_tables, p_rows, p_row_kinds) n(table_index, row, kind)
            where n.kind = \(removal) and r.table_id = p_ids[n.table_index] and r.row = n.row;
          get diagnostics v_count = row_count;
          if v_count <> cardinality(array_positions(p_row_kinds, \(removal)::smallint)) then
            \(refusing)
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
    """

  /// Changes keys, and counts their tables.
  private static let puttingKeys = """
      if cardinality(p_keys) > 0 then
        update stored_objects.tables t set count = t.count + d.more, changed = v_number
          from (
            select n.table_index,
              count(*) filter (where n.kind <> \(removal) and k.table_id is null)
                - count(*) filter (where n.kind = \(removal) and k.table_id is not null) as more
            from unnest(p_key_tables, p_keys, p_key_kinds) n(table_index, key, kind)
              left join stored_objects.keys k on k.table_id = p_ids[n.table_index]
                and k.head = substring(n.key from 1 for \(keyHeadByteCount))
                and k.tail_hash = stored_objects.tail_hash(n.key)
            group by n.table_index) d
          where t.id = p_ids[d.table_index] and t.store = p_store
            and t.kind = p_table_kinds[d.table_index] and t.name = p_tables[d.table_index];
        get diagnostics v_found = row_count;
        v_count := v_count + v_found;
        if \(removal) = any (p_key_kinds) then
          delete from stored_objects.keys k
            using unnest(p_key_tables, p_keys, p_key_kinds) n(table_index, key, kind)
            where n.kind = \(removal) and k.table_id = p_ids[n.table_index]
              and k.head = substring(n.key from 1 for \(keyHeadByteCount))
              and k.tail_hash = stored_objects.tail_hash(n.key);
        end if;
        insert into stored_objects.keys (table_id, head, tail_hash, tail, value)
          select p_ids[n.table_index], substring(n.key from 1 for \(keyHeadByteCount)),
            stored_objects.tail_hash(n.key), substring(n.key from \(keyHeadByteCount + 1)), n.value
          from unnest(p_key_tables, p_keys, p_key_kinds, p_values)
            n(table_index, key, kind, value)
          where n.kind <> \(removal)
          on conflict (table_id, head, tail_hash) do update set value = excluded.value;
      end if;
    """
}
