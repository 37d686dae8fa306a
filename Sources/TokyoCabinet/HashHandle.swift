internal import CTokyoCabinet
import Files

/// The C library's database object: a method for each call, which throws errors and hides pointers.
///
/// `@unchecked Sendable`: the pointer is set once, in `init`, and freed in `deinit`, when no call
/// can be running. The library's own locks (`tchdbsetmutex`) guard the object. ``HashDatabase``
/// reads the few fields that are read here directly only in its exclusive section, which every call
/// that changes them passes through.
@safe final class HashHandle: @unchecked Sendable {
  let handle: UnsafeMutablePointer<TCHDB>
  let path: String

  /// Creates an object that is not open yet, with `tchdbnew` and `tchdbsetmutex`.
  init(path: String) throws {
    guard let new = unsafe tchdbnew() else {
      throw TokyoCabinetError(.other, operation: "tchdbnew", path: path, message: "no memory")
    }
    unsafe handle = unsafe new
    self.path = path
    guard unsafe tchdbsetmutex(handle) else { throw failure("tchdbsetmutex") }
  }

  deinit { unsafe tchdbdel(handle) }

  /// Returns the error of the last call of this thread.
  func failure(_ operation: String) -> TokyoCabinetError {
    let number = currentSystemError()
    let raw = unsafe tchdbecode(handle)
    let known = ErrorCode(raw)
    let isFull =
      known.isSystemError && SystemError(call: operation, path: path, number: number).isFull
    return TokyoCabinetError(
      isFull ? .noSpace : known.code, operation: operation, path: path,
      message: unsafe known.message ?? String(cString: tchdberrmsg(raw)),
      systemError: known.isSystemError ? number : nil)
  }

  private func check(_ succeeded: Bool, _ operation: String) throws {
    if !succeeded { throw failure(operation) }
  }

  // MARK: Opening and closing

  /// Opens the file with `tchdbtune`, `tchdbsetxmsiz` and `tchdbopen`, without waiting for a lock.
  func open(_ mode: OpenMode, _ tuning: Tuning, mapSize: Int64) throws {
    unsafe tchdbtune(
      handle, tuning.bucketCount, tuning.alignmentPower, tuning.freeBlockPower,
      tuning.options.rawValue)
    unsafe tchdbsetxmsiz(handle, mapSize)
    var flags = mode.isReadOnly ? HDBOREADER : HDBOWRITER
    if mode.options.contains(.create) { flags |= HDBOCREAT }
    if mode.options.contains(.truncate) { flags |= HDBOTRUNC }
    try check(unsafe tchdbopen(handle, path, Int32(flags | HDBOLCKNB)), "tchdbopen")
  }

  func close() throws { try check(unsafe tchdbclose(handle), "tchdbclose") }

  // MARK: Numbers

  var count: UInt64 { unsafe tchdbrnum(handle) }
  var fileSize: UInt64 { unsafe tchdbfsiz(handle) }
  var bucketCount: UInt64 { unsafe tchdbbnum(handle) }
  var alignment: UInt32 { unsafe tchdbalign(handle) }
  var options: UInt8 { unsafe tchdbopts(handle) }
  /// The size, options and alignment.
  ///
  /// They are read without the locks that the calls above take, which would cost a third of a
  /// write. So this is only for the exclusive section, in which nothing else changes them.
  var layout: (fileSize: UInt64, options: Tuning.Options, alignment: UInt32) {
    unsafe (
      handle.pointee.fsiz, Tuning.Options(rawValue: handle.pointee.opts), handle.pointee.align
    )
  }
  /// Whether the library has the file open; false after an `optimize` that failed half-way.
  var isOpen: Bool { unsafe handle.pointee.fd >= 0 }

  // MARK: Records

  func put(_ key: RawSpan, _ value: RawSpan) throws {
    let done = unsafe withPointers(key, value) { unsafe tchdbput(handle, $0, $1, $2, $3) }
    try check(done, "tchdbput")
  }

  func putIfAbsent(_ key: RawSpan, _ value: RawSpan) throws -> Bool {
    let done = unsafe withPointers(key, value) { unsafe tchdbputkeep(handle, $0, $1, $2, $3) }
    if !done && (unsafe tchdbecode(handle)) == Int32(TCEKEEP) { return false }
    try check(done, "tchdbputkeep")
    return true
  }

  func append(_ key: RawSpan, _ value: RawSpan) throws {
    let done = unsafe withPointers(key, value) { unsafe tchdbputcat(handle, $0, $1, $2, $3) }
    try check(done, "tchdbputcat")
  }

  func remove(_ key: RawSpan) throws -> Bool {
    let done = unsafe withPointer(key) { unsafe tchdbout(handle, $0, $1) }
    if !done && hasNoRecord { return false }
    try check(done, "tchdbout")
    return true
  }

  func valueSize(_ key: RawSpan) throws -> Int? {
    let size = unsafe withPointer(key) { unsafe tchdbvsiz(handle, $0, $1) }
    if size < 0 && hasNoRecord { return nil }
    try check(size >= 0, "tchdbvsiz")
    return Int(size)
  }

  /// Calls a closure with a value; small values are on this thread's stack, so that calls may nest.
  func withValue<Result>(
    _ key: RawSpan, _ body: (RawSpan) throws -> Result
  ) throws -> Result? {
    let room = 1024
    return try unsafe withUnsafeTemporaryAllocation(byteCount: room, alignment: 16) { buffer in
      let size = unsafe withPointer(key) {
        unsafe tchdbget3(handle, $0, $1, buffer.baseAddress, Int32(room))
      }
      if size < 0 && hasNoRecord { return nil }
      try check(size >= 0, "tchdbget3")
      if size >= room { return try withLargeValue(key, body) }
      let value = unsafe UnsafeRawBufferPointer(start: buffer.baseAddress, count: Int(size))
      return try unsafe body(RawSpan(_unsafeBytes: value))
    }
  }

  private func withLargeValue<Result>(
    _ key: RawSpan, _ body: (RawSpan) throws -> Result
  ) throws -> Result? {
    var size: Int32 = 0
    let value = unsafe withPointer(key) { unsafe tchdbget(handle, $0, $1, &size) }
    guard let value = unsafe value else {
      if hasNoRecord { return nil }
      throw failure("tchdbget")
    }
    defer { unsafe tcfree(value) }
    let bytes = unsafe UnsafeRawBufferPointer(start: value, count: Int(size))
    return try unsafe body(RawSpan(_unsafeBytes: bytes))
  }

  private var hasNoRecord: Bool { (unsafe tchdbecode(handle)) == Int32(TCENOREC) }
}

// MARK: Pointers

/// Runs a C call with a pointer, which is never null, and a size.
private func withPointer<Result>(
  _ bytes: RawSpan, _ body: (UnsafeRawPointer, Int32) -> Result
) -> Result {
  unsafe bytes.withUnsafeBytes { bytes in
    if let start = bytes.baseAddress { return unsafe body(start, Int32(bytes.count)) }
    var nothing: UInt8 = 0
    return unsafe withUnsafePointer(to: &nothing) { unsafe body(UnsafeRawPointer($0), 0) }
  }
}

/// Runs a C call with a key and a value.
private func withPointers<Result>(
  _ key: RawSpan, _ value: RawSpan,
  _ body: (UnsafeRawPointer, Int32, UnsafeRawPointer, Int32) -> Result
) -> Result {
  unsafe withPointer(key) { key, keySize in
    unsafe withPointer(value) { value, valueSize in
      unsafe body(key, keySize, value, valueSize)
    }
  }
}
