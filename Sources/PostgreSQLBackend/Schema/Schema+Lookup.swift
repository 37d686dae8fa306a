// The search for a commit whose answer was lost.
extension Schema {
  /// The first number of the advisory locks of stores, the letters "STOR"; the second one is the
  /// number of the store.
  static let lockClass: Int32 = 0x5354_4F52

  /// Announces a commit until the end of its transaction, since version 6.
  ///
  /// Any number of commits announce themselves at the same time. A lookup excludes them all.
  static let announcing = """
      perform pg_advisory_xact_lock_shared(\(lockClass), p_store);
    """

  /// Waits for all commits to a store that the server has begun, and looks for a token.
  ///
  /// The lock of the row would not be enough: if several transactions wait for it, a later one can
  /// get it before a commit.
  static let findCommit = """
    create function stored_objects.find_commit(p_store integer, p_token uuid)
    returns table (number bigint, token uuid, author bytea, "time" bigint, based_on bigint)
    language plpgsql as $$
    begin
      perform pg_advisory_xact_lock(\(lockClass), p_store);
      perform 1 from stored_objects.stores s where s.id = p_store for update;
      return query select c.number, c.token, c.author, c."time", c.based_on
        from stored_objects.commits c where c.store = p_store and c.token = p_token;
    end $$
    """
}
