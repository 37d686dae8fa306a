/// The functions of SQLite that an import calls.
///
/// SQLCipher has the same functions under the same names, so a program links one of both, and hands
/// it to the import.
@safe public struct SQLiteLibrary {
  /// The type of `sqlite3_open_v2`.
  public typealias Open =
    @convention(c) (
      UnsafePointer<CChar>?, UnsafeMutablePointer<OpaquePointer?>?, Int32, UnsafePointer<CChar>?
    ) -> Int32
  /// The type of `sqlite3_prepare_v2`.
  public typealias Prepare =
    @convention(c) (
      OpaquePointer?, UnsafePointer<CChar>?, Int32, UnsafeMutablePointer<OpaquePointer?>?,
      UnsafeMutablePointer<UnsafePointer<CChar>?>?
    ) -> Int32
  /// The type of `sqlite3_close`, `sqlite3_step` and `sqlite3_finalize`.
  public typealias Action = @convention(c) (OpaquePointer?) -> Int32
  /// The type of `sqlite3_key`.
  public typealias SetKey = @convention(c) (OpaquePointer?, UnsafeRawPointer?, Int32) -> Int32

  let open: Open
  let close: Action
  let message: @convention(c) (OpaquePointer?) -> UnsafePointer<CChar>?
  let prepare: Prepare
  let step: Action
  let finalize: Action
  let columnCount: Action
  let columnText: @convention(c) (OpaquePointer?, Int32) -> UnsafePointer<UInt8>?
  let columnByteCount: @convention(c) (OpaquePointer?, Int32) -> Int32
  /// Nil for a library that can't open encrypted files.
  let setKey: SetKey?

  /// Creates a library from its functions; only SQLCipher has one that sets a key.
  public init(
    open: @escaping Open, close: @escaping Action,
    message: @escaping @convention(c) (OpaquePointer?) -> UnsafePointer<CChar>?,
    prepare: @escaping Prepare, step: @escaping Action, finalize: @escaping Action,
    columnCount: @escaping Action,
    columnText: @escaping @convention(c) (OpaquePointer?, Int32) -> UnsafePointer<UInt8>?,
    columnByteCount: @escaping @convention(c) (OpaquePointer?, Int32) -> Int32,
    setKey: SetKey? = nil
  ) {
    unsafe (self.open, self.close, self.message) = unsafe (open, close, message)
    unsafe (self.prepare, self.step, self.finalize) = unsafe (prepare, step, finalize)
    unsafe (self.columnCount, self.columnText) = unsafe (columnCount, columnText)
    unsafe (self.columnByteCount, self.setKey) = unsafe (columnByteCount, setKey)
  }

  // The codes of https://www.sqlite.org/rescode.html
  static let ok: Int32 = 0
  static let notADatabase: Int32 = 26
  static let row: Int32 = 100
  static let done: Int32 = 101
  /// The flags `SQLITE_OPEN_READONLY` and `SQLITE_OPEN_URI`.
  static let readingURI: Int32 = 0x41
}
