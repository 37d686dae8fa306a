// The function that executes the shortest commits: those of one record.
extension Schema {
  /// Executes a commit of one record if it directly follows the last one that its writer knows.
  ///
  /// The answer is NULL if it doesn't, or if the token belongs to an earlier commit; an error means
  /// that the row is missing or exists. The token of the last commit tells that this is the store that
  /// the writer knows, with all its commits, tables and settings, also after a server was replaced.
  /// So nothing but that commit is looked at.
  static let commitRow = """
    create function stored_objects.commit_row(
      p_store integer, p_last bigint, p_previous uuid, p_token uuid, p_author bytea, p_time bigint,
      p_based_on bigint, p_table integer, p_name text, p_row bigint, p_kind smallint, p_data bytea)
    returns bigint
    language plpgsql \(plansByKeys) as $$
    #variable_conflict use_column
    declare
      v_number bigint := p_last + 1; v_total bigint; v_forgotten bigint; v_found bigint;
    begin
    \(takingLock)
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
    \(puttingRecord(kind: "p_kind", "p_table", "p_row", "p_data"))
      if v_number % 64 = 0 then
        select s.weight, s.forgotten into v_total, v_forgotten
          from stored_objects.stores s where s.id = p_store;
    \(forgetting)
        update stored_objects.stores s
          set last_commit = v_number, forgotten = v_forgotten, weight = v_total
          where s.id = p_store;
      end if;
      return v_number;
    end $$
    """
}
