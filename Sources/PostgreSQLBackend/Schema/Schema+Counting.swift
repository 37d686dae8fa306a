// The rows that the shortest commits have added, since version 7.
//
// Counting them in each commit would update a row of `tables` and one of `stores`, which takes as long
// as the rest of the commit. So every 64th commit counts those before it, and reads add the others.
extension Schema {
  /// The columns, since version 7.
  ///
  /// `uncounted` is the table whose count lacks the commit, and `counted` is the number of the last
  /// commit that was counted. `is_plain` tells whether the store keeps no history after the commit,
  /// and follows none.
  ///
  /// An index of tokens that begins with the store would seem as good for a range of numbers as that
  /// of the numbers while there are few commits, and a session would keep the plan.
  static let countingColumns = [
    "alter table stored_objects.stores add column counted bigint not null default 0",
    """
    alter table stored_objects.commits
      add column uncounted integer, add column is_plain boolean,
      drop constraint if exists commits_store_token_key, add unique (token, store)
    """,
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
        where c.store = t.store and c.uncounted = t.id
          and c.number > \(counted) and c.number < 64 + \(counted)
    """

  private static let counted =
    "(select s.counted from stored_objects.stores s where s.id = t.store)"

  /// The number of rows that a commit adds.
  private static let more = "case c.row_kinds[1] when 0 then 1 when \(removal) then -1 else 0 end"

  /// The row of a commit that doesn't remove it.
  private static let keptRow = "case when c.row_kinds[1] <> \(removal) then c.rows[1] end"

  /// An expression for the number of rows or keys in the table `t`.
  static let count = """
    (t.count + coalesce((
        select sum(\(more)) from \(uncounted)), 0))
    """

  /// An expression for the number of the last commit that has changed the table `t`.
  static let lastChange = """
    greatest(t.changed, (
        select max(c.number) from \(uncounted)))
    """

  /// An expression for the last row of the table `t` that was assigned.
  static let lastRow = """
    greatest(t.last_row, (
        select max(\(keptRow)) from \(uncounted)))
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
          select c.uncounted as id, sum(\(more)) as more, max(c.number) as number,
            max(\(keptRow)) as last_row
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
    end $$
    """
}
