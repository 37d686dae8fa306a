import CSQLCipher
public import YTKImport

extension SQLiteLibrary {
  /// The system's SQLCipher, which also reads files that are not encrypted.
  public static var sqlCipher: SQLiteLibrary {
    unsafe SQLiteLibrary(
      open: sqlite3_open_v2, close: sqlite3_close, message: sqlite3_errmsg,
      prepare: sqlite3_prepare_v2, step: sqlite3_step, finalize: sqlite3_finalize,
      columnCount: sqlite3_column_count, columnText: sqlite3_column_text,
      columnByteCount: sqlite3_column_bytes, setKey: sqlite3_key)
  }
}
