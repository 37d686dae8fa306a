// The rows and keys that small commits have added, since version 7.
//
// Counting them in each commit would update rows of `tables` and one of `stores`, which takes as long
// as the rest of a short commit, and leaves old versions of these rows. So every 64th commit counts
// those before it, and reads add the others.
extension Schema {
  /// The columns, since version 7.
  ///
  /// `counted` is the number of the last commit that was counted. `is_plain` tells whether the store
  /// keeps no history after the commit, and follows none.
  ///
  /// An index of tokens that begins with the store would seem as good for a range of numbers as that
  /// of the numbers while there are few commits, and a session would keep the plan.
  static let countingColumns = [
    "alter table stored_objects.stores add column counted bigint not null default 0",
    """
    alter table stored_objects.commits
      add column is_plain boolean,
      drop constraint if exists commits_store_token_key, add unique (token, store)
    """,
  ]

  /// The columns, since version 8.
  ///
  /// `more` are the numbers of rows or keys that a small commit adds to each of its tables, and
  /// `last_rows` are the last rows that it writes. `tables` lacks them until they are counted.
  static let moreColumns = [
    """
    alter table stored_objects.commits
      add column more bigint[], add column last_rows bigint[],
      alter column more set storage external, alter column last_rows set storage external
    """
  ]

  /// Counts the commits that version 7 has left.
  static let countingUncounted = [
    """
    do $$
    declare v_store integer; v_number bigint; v_weight bigint;
    begin
      for v_store, v_number in select s.id, \(lastCommit) from stored_objects.stores s loop
        v_weight := stored_objects.count_rows(v_store, v_number);
        update stored_objects.stores s set weight = s.weight + v_weight where s.id = v_store;
      end loop;
    end $$
    """,
    "alter table stored_objects.commits drop column uncounted",
  ]

  /// An expression for the number of the last commit to the store `s`.
  static let lastCommit = """
    coalesce((
        select c.number from stored_objects.commits c
        where c.store = s.id order by c.number desc limit 1), s.last_commit)
    """

  /// Joins the last commit `c` to the store `s`.
  static let withLastCommit = """
    left join lateral (
      select * from stored_objects.commits c where c.store = s.id order by c.number desc limit 1
    ) c on true
    """

  /// The commits that are not counted in the table `t`.
  ///
  /// Each number that 64 divides is counted, so there are fewer than 64. Because of the upper bound,
  /// the planner expects few, too: without it, it would read all commits.
  private static let uncounted = """
    stored_objects.commits c
        where c.store = t.store and c.more is not null and t.id = any (c.table_ids)
          and c.number > \(counted) and c.number < \(countedCommitCount) + \(counted)
    """

  private static let counted =
    "(select s.counted from stored_objects.stores s where s.id = t.store)"

  /// The place of the table `t` in a commit.
  private static let place = "array_position(c.table_ids, t.id)"

  /// An expression for the number of rows or keys in the table `t`.
  static let count = """
    (t.count + coalesce((
        select sum(c.more[\(place)]) from \(uncounted)), 0)::bigint)
    """

  /// An expression for the number of the last commit that has changed the table `t`.
  static let lastChange = """
    greatest(t.changed, (
        select max(c.number) from \(uncounted)))
    """

  /// An expression for the last row of the table `t` that was assigned.
  static let lastRow = """
    greatest(t.last_row, (
        select max(c.last_rows[\(place)]) from \(uncounted)))
    """

  /// Counts the commits up to a number, and returns their weight, which the store lacks, too.
  ///
  /// The caller holds the lock of the store.
  static let countRows = """
    create function stored_objects.count_rows(p_store integer, p_number bigint)
    returns bigint language plpgsql \(plansByKeys) as $$
    #variable_conflict use_column
    declare v_counted bigint; v_weight bigint;
    begin
      select s.counted into v_counted from stored_objects.stores s where s.id = p_store;
      update stored_objects.tables t
        set count = t.count + d.more, changed = greatest(t.changed, d.number),
          last_row = greatest(t.last_row, d.last_row)
        from (
          select u.id, sum(u.more)::bigint as more, max(c.number) as number,
            max(u.last_row) as last_row
          from stored_objects.commits c, unnest(c.table_ids, c.more, c.last_rows) u(id, more, last_row)
          where c.store = p_store and c.number > v_counted and c.number <= p_number
            and c.more is not null
          group by u.id) d
        where t.id = d.id;
      select coalesce(sum(c.weight), 0) into v_weight
        from stored_objects.commits c
        where c.store = p_store and c.number > v_counted and c.number <= p_number
          and c.more is not null;
      update stored_objects.stores s set counted = p_number where s.id = p_store;
      return v_weight;
    end $$
    """
}
