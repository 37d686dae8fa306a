// The functions that find what others have committed, and how the server plans functions.
extension Schema {
  /// Settings of functions whose statements find all rows by keys.
  ///
  /// Planning statements for each call would cost more than executing them, so a session plans each
  /// statement once. The plan must also be right when a table has grown that was empty then.
  static let plansByKeys = """
    set plan_cache_mode = force_generic_plan set enable_seqscan = off
      set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
    """

  /// Settings of functions that join lists of any size.
  ///
  /// Nested loops would compare each element with each other one. The estimated cost of those that
  /// can't be avoided would start the compiler of queries for each call.
  private static let plansWithoutLoops = """
    set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_nestloop = off
      set enable_hashjoin = on set enable_mergejoin = on set jit = off
    """

  /// Returns the tables, rows, names and keys of a commit that others have changed after its basis;
  /// NULL if there are none.
  ///
  /// With an upper bound, the planner expects few commits, and finds them by their numbers.
  static let conflicts = """
    create function stored_objects.conflicts(
      p_store integer, p_basis bigint, p_last bigint, p_ids integer[],
      p_row_tables integer[], p_rows bigint[], p_basis_tables integer[], p_basis_rows bigint[],
      p_names bytea[], p_cleared integer[], p_key_tables integer[], p_keys bytea[],
      p_range_tables integer[], p_range_from bytea[], p_range_to bytea[],
      p_ranges_since bigint, p_point_tables integer[], p_points bytea[],
      out row_tables integer[], out rows bigint[], out names integer[], out key_tables integer[])
    language plpgsql \(plansWithoutLoops) as $$
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
    end $$
    """

  /// Returns the last commit, with the commits after a number that are not among some own ones.
  ///
  /// If there are none, it returns one row without a commit, and no row for a store that does not
  /// exist. Both statements see the snapshot of the caller.
  static let news = """
    create function stored_objects.commits_after(
      p_store integer, p_known bigint, p_own uuid[])
    returns table (last_commit bigint, number bigint, token uuid, author bytea, "time" bigint,
      based_on bigint, table_kinds smallint[], table_names text[], metadata bytea[],
      row_tables integer[], rows bigint[], row_kinds smallint[], names bytea[],
      name_kinds smallint[], cleared integer[], key_tables integer[], keys bytea[],
      key_kinds smallint[], key_values bytea[])
    language plpgsql stable \(plansByKeys) as $$
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
            and c.number <= v_last and v_last - p_known <= \(fetchedCommitCount) and c.token <> all (p_own)
        where s.id = p_store order by c.number;
    end $$
    """

  /// The maximum number of commits in one answer.
  ///
  /// A backend that is further behind has lost track.
  private static let fetchedCommitCount = 1024
}
