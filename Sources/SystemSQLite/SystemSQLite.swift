import CSQLite
public import YTKImport

extension SQLiteLibrary {
  /// The system's SQLite.
  public static var sqlite: SQLiteLibrary {
    unsafe SQLiteLibrary(
      open: sqlite3_open_v2, close: sqlite3_close, message: sqlite3_errmsg,
      prepare: sqlite3_prepare_v2, step: sqlite3_step, finalize: sqlite3_finalize,
      columnCount: sqlite3_column_count, columnText: sqlite3_column_text,
      columnByteCount: sqlite3_column_bytes)
  }
}
