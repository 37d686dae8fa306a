// The search for a commit whose answer was lost.
extension Schema {
  /// The first number of the advisory locks of stores, the letters "STOR"; the second one is the
  /// number of the store.
  static let lockClass: Int32 = 0x5354_4F52

  /// Takes the lock of a store until the end of the transaction.
  ///
  /// Commits and lookups get it in the order in which they ask for it. So the numbers of commits have
  /// no gaps, and a lookup waits for the commits that have begun. The condition makes it an
  /// expression, which takes a fifth of the time of a statement.
  static let takingLock = """
      if pg_advisory_xact_lock(\(lockClass), p_store) is null then
        null;
      end if;
    """

  /// Ends the insertion of a commit, whose number must be new.
  ///
  /// It isn't if the transaction has an isolation level at which it doesn't see what was committed
  /// while it waited for the lock, or on a server without such locks. Then it is repeated.
  static let checkingNumber = """
        on conflict (store, number) do nothing;
      if not found then
        raise exception using errcode = 'serialization_failure', message = 'not the next number';
      end if;
    """

  /// Waits for all commits to a store that the server has begun, and looks for a token.
  static let findCommit = """
    create function stored_objects.find_commit(p_store integer, p_token uuid)
    returns table (number bigint, token uuid, author bytea, "time" bigint, based_on bigint)
    language plpgsql as $$
    begin
    \(takingLock)
      return query select c.number, c.token, c.author, c."time", c.based_on
        from stored_objects.commits c where c.store = p_store and c.token = p_token;
    end $$
    """
}
