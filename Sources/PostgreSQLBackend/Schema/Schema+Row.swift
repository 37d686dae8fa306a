// The function that executes the shortest commits: those of one record.
extension Schema {
  /// Executes a commit of one record, if others have surely not changed its basis since the last
  /// commit that its writer knows.
  ///
  /// The answer is as that of ``commitSmall``. `p_follows` tells whether there probably are commits
  /// that the writer doesn't know, and `p_key_ids` are the ordered tables that the commit is based
  /// on. If they are NULL, the commit must not follow unknown commits.
  static let commitRow = """
    create function stored_objects.commit_row(
      p_store integer, p_last bigint, p_previous uuid, p_token uuid, p_author bytea, p_time bigint,
      p_based_on bigint, p_table integer, p_name text, p_row bigint, p_kind smallint, p_data bytea,
      p_follows boolean, p_key_ids integer[])
    returns bigint
    language plpgsql \(plansByKeys) as $$
    #variable_conflict use_column
    declare
      v_number bigint; v_total bigint; v_forgotten bigint; v_found bigint;
    begin
    \(takingLock)
      if not p_follows then
        -- If there is another commit, its number is taken.
    \(addingCommit("p_last + 1", from: "stored_objects.commits c"))
            and c.is_plain
    \(unlessItExists)
      end if;
      if v_number is null then
        if p_key_ids is null then
          return null;
        end if;
        if p_based_on is not null then
    \(comparingRow)
        end if;
    \(addingCommit("l.number + 1", from: "stored_objects.commits c, \(lastOfStore)"))
            and l.is_plain
    \(unlessItExists)
        if v_number is null then
          return null;
        end if;
      end if;
    \(puttingRecord(kind: "p_kind", "p_table", "p_row", "p_data"))
    \(forgettingTogether)
      return v_number;
    end $$
    """

  private static func addingCommit(_ number: String, from source: String) -> String {
    """
        insert into stored_objects.commits (
            store, number, token, author, "time", based_on, weight, table_ids, table_kinds,
            table_names, row_tables, rows, row_kinds, more, last_rows, is_plain)
          select p_store, \(number), p_token, p_author, p_time, p_based_on, 2, array[p_table], '{0}',
            array[p_name], '{1}', array[p_row], array[p_kind],
            array[case p_kind when 0 then 1 when \(removal) then -1 else 0 end],
            array[case when p_kind <> \(removal) then p_row end], true
          from \(source)
          where \(isKnown)
    """
  }

  private static let unlessItExists = """
          on conflict do nothing
          returning number into v_number;
    """

  /// The last commit of the store.
  private static let lastOfStore = """
    (
          select n.number, n.is_plain from stored_objects.commits n
          where n.store = p_store order by n.number desc limit 1) l
    """

  /// The condition of the last commit that the writer knows.
  ///
  /// Its token tells that this is the store that the writer knows, with all its commits, tables and
  /// settings, also after a server was replaced.
  private static let isKnown =
    "c.store = p_store and c.number = p_last and c.token = p_previous"

  /// Ends the function if others may have changed the record, or one of the ordered tables.
  private static let comparingRow = """
          if p_kind <> 0 then
            perform 1 from stored_objects.records r
              where r.table_id = p_table and r.row = p_row and r.commit <= p_last;
            if not found then
              return null;
            end if;
          end if;
          -- A new record may have been there meanwhile.
          if p_kind = 0 or cardinality(p_key_ids) > 0 then
            perform 1 from stored_objects.commits c
              where c.store = p_store and c.number > p_last
                and c.number <= p_last + \(rememberedCommitCount) and (
                  c.rows is null
                  or p_kind = 0 and \(removal) = any (c.row_kinds) and p_row = any (c.rows)
                  or p_key_ids && c.table_ids
                    and (cardinality(c.cleared) > 0 or cardinality(c.keys) > 0))
              limit 1;
            if found then
              return null;
            end if;
          end if;
    """

  /// Finds the last commit, in a store that keeps no history and follows no other one, if the server
  /// has the last commit that the writer knows.
  static let findingLast = """
      select l.number into v_last
        from stored_objects.commits c, \(lastOfStore)
        where \(isKnown) and l.is_plain;
      if v_last is null then
        return null;
      end if;
    """

  /// Counts rows and forgets old commits with every 64th commit.
  static let forgettingTogether = """
      if v_number % \(countedCommitCount) = 0 then
        select s.weight, s.forgotten into v_total, v_forgotten
          from stored_objects.stores s where s.id = p_store;
    \(forgetting)
        update stored_objects.stores s
          set last_commit = v_number, forgotten = v_forgotten, weight = v_total
          where s.id = p_store;
      end if;
    """
}
