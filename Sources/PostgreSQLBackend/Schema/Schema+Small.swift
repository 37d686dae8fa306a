// The function that executes most small commits, with as few statements as possible.
extension Schema {
  /// The error of the function for a commit that it can't execute.
  static let notSmall = "SO001"

  /// The number of commits whose rows and keys are counted together.
  static let countedCommitCount = 64

  /// Executes a commit, if others have surely not changed its basis since the last commit that its
  /// writer knows.
  ///
  /// The answer is the number of the commit. It is NULL if others may have changed the basis, if the
  /// server doesn't have that last commit, or if the token belongs to an earlier commit; `commit`
  /// then judges in detail. An error means that a row is missing or exists. Tables are numbered by
  /// their position in `p_ids`, from 1, those of records first.
  ///
  /// A record has the number of the last commit that has changed it, so nothing else tells whether
  /// others have.
  ///
  /// `p_may_follow` tells whether the commit may follow commits that its writer doesn't know. Its
  /// basis is then compared with these. `p_basis_ids` and `p_basis_rows` are the rows that it is
  /// based on and doesn't change. `p_key_ids` are the ordered tables that it changes or is based on,
  /// and `p_points` are the keys that it is based on. The last three lists are ranges of keys.
  static let commitSmall = """
    create function stored_objects.commit_small(
      p_store integer, p_last bigint, p_previous uuid, p_token uuid, p_author bytea, p_time bigint,
      p_based_on bigint, p_weight bigint, p_may_follow boolean,
      p_ids integer[], p_table_kinds smallint[], p_tables text[], p_metadata bytea[],
      p_metadata_rows bigint[], p_more bigint[], p_last_rows bigint[],
      p_row_tables integer[], p_rows bigint[], p_row_kinds smallint[], p_data bytea[],
      p_key_tables integer[], p_keys bytea[], p_key_kinds smallint[], p_key_values bytea[],
      p_values bytea[],
      p_basis_ids integer[], p_basis_rows bigint[], p_key_ids integer[], p_points bytea[],
      p_range_ids integer[], p_range_from bytea[], p_range_to bytea[])
    returns bigint
    language plpgsql \(plansByKeys) as $$
    #variable_conflict use_column
    declare
      v_last bigint; v_number bigint; v_total bigint; v_forgotten bigint; v_found bigint;
    begin
    \(takingLock)
    \(findingLast)
      if v_last <> p_last then
        if not p_may_follow or p_metadata is not null then
          return null;
        end if;
        if p_based_on is not null then
    \(comparingRows)
    \(comparingKeys)
        end if;
      end if;
    \(countingKeys)
      insert into stored_objects.commits (
          store, number, token, author, "time", based_on, weight, table_ids, table_kinds,
          table_names, metadata, row_tables, rows, row_kinds, key_tables, keys, key_kinds,
          key_values, more, last_rows, is_plain)
        values (
          p_store, v_last + 1, p_token, p_author, p_time, p_based_on, p_weight, p_ids,
          p_table_kinds, p_tables, p_metadata, p_row_tables, p_rows, p_row_kinds, p_key_tables,
          p_keys, p_key_kinds, p_key_values, p_more, p_last_rows, true)
        on conflict do nothing
        returning number into v_number;
      if v_number is null then
        return null;
      end if;
    \(puttingRows)
    \(puttingKeys)
      if p_metadata is not null then
        update stored_objects.tables t set metadata_row = n.metadata_row
          from unnest(p_ids, p_metadata_rows) n(id, metadata_row)
          where t.id = n.id and n.metadata_row is not null;
      end if;
    \(forgettingTogether)
      return v_number;
    end $$
    """

  /// Ends the function if others may have changed one of the records of the basis.
  private static let comparingRows = """
          select count(*) into v_found
            from (
              select p_ids[n.table_index] as id, n.row
                from unnest(p_row_tables, p_rows, p_row_kinds) n(table_index, row, kind)
                where n.kind <> 0
              union all
              select * from unnest(p_basis_ids, p_basis_rows)) n
              join stored_objects.records r
                on r.table_id = n.id and r.row = n.row and r.commit <= p_last;
          if v_found <> cardinality(p_rows) + cardinality(p_basis_rows)
            - cardinality(array_positions(p_row_kinds, 0::smallint))
          then
            return null;
          end if;
          -- A new record may have been there meanwhile.
          if 0 = any (p_row_kinds) then
            perform 1 from stored_objects.commits c
              where c.store = p_store and c.number > p_last and c.number <= v_last and (
                c.rows is null or \(removal) = any (c.row_kinds) and (
                  cardinality(p_rows) > \(comparedCommitCount) or c.weight > \(comparedWeight)
                  or c.rows && p_rows))
              limit 1;
            if found then
              return null;
            end if;
          end if;
    """

  /// The maximum numbers of commits of others that are compared with one, and of their changes.
  private static let (comparedCommitCount, comparedWeight) = (64, 1024)

  /// Ends the function if others may have changed one of the keys of the basis.
  private static let comparingKeys = """
          if cardinality(p_key_ids) > 0 then
            perform 1 from stored_objects.commits c
              where c.store = p_store and c.number > p_last and c.number <= v_last and (
                v_last > p_last + \(comparedCommitCount) or c.rows is null
                or p_key_ids && c.table_ids and (
                  c.weight > \(comparedWeight) or cardinality(c.cleared) > 0
                  or exists (
                    select 1 from unnest(c.key_tables, c.keys) u(table_index, key)
                    where c.table_ids[u.table_index] = any (p_key_ids) and (
                      u.key = any (p_keys) or u.key = any (p_points)
                      or exists (
                        select 1 from unnest(p_range_ids, p_range_from, p_range_to)
                          g(id, first, past)
                        where g.id = c.table_ids[u.table_index] and u.key >= g.first
                          and (g.past is null or u.key < g.past))))))
              limit 1;
            if found then
              return null;
            end if;
          end if;
    """

  /// Ends the function with an error.
  static let refusing = """
    raise exception using errcode = '\(notSmall)', message = 'not a small commit';
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

  /// Changes any number of records, as ``puttingRecord(kind:_:_:_:)`` does one.
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
          get diagnostics v_found = row_count;
          if v_found <> cardinality(array_positions(p_row_kinds, 1::smallint)) then
            \(refusing)
          end if;
        end if;
        if \(removal) = any (p_row_kinds) then
          delete from stored_objects.records r
            using unnest(p_row_tables, p_rows, p_row_kinds) n(table_index, row, kind)
            where n.kind = \(removal) and r.table_id = p_ids[n.table_index] and r.row = n.row;
          get diagnostics v_found = row_count;
          if v_found <> cardinality(array_positions(p_row_kinds, \(removal)::smallint)) then
            \(refusing)
          end if;
        end if;
      end if;
    """

  /// Counts the keys that the commit adds to each table, and those that it removes.
  private static let countingKeys = """
      if cardinality(p_keys) > 0 then
        select array_agg(t.more order by t.place) into p_more
          from (
            select m.place, sum(m.more)::bigint as more
            from (
              select * from unnest(p_more) with ordinality m(more, place)
              union all
              select
                case when n.kind = \(removal) then (k.table_id is null)::integer - 1
                  else (k.table_id is null)::integer end, n.table_index
              from unnest(p_key_tables, p_keys, p_key_kinds) n(table_index, key, kind)
                left join stored_objects.keys k on k.table_id = p_ids[n.table_index]
                  and k.head = substring(n.key from 1 for \(keyHeadByteCount))
                  and k.tail_hash = stored_objects.tail_hash(n.key)) m
            group by m.place) t;
      end if;
    """

  /// Removes the keys that a commit removes from the tables in a list.
  static func removingKeys(of ids: String) -> String {
    """
        if \(removal) = any (p_key_kinds) then
          delete from stored_objects.keys k
            using unnest(p_key_tables, p_keys, p_key_kinds) n(table_index, key, kind)
            where n.kind = \(removal) and k.table_id = \(ids)[n.table_index]
              and k.head = substring(n.key from 1 for \(keyHeadByteCount))
              and k.tail_hash = stored_objects.tail_hash(n.key);
        end if;
    """
  }

  /// Changes keys.
  private static let puttingKeys = """
      if cardinality(p_keys) > 0 then
    \(removingKeys(of: "p_ids"))
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
