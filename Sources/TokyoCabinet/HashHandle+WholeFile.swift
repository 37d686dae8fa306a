internal import CTokyoCabinet
import Files

// The calls of the C library on the whole file. All of them run exclusively, see `HashDatabase`.
extension HashHandle {
  private func check(_ succeeded: Bool, _ operation: String) throws {
    if !succeeded { throw failure(operation) }
  }

  func removeAll() throws { try check(unsafe tchdbvanish(handle), "tchdbvanish") }
  func synchronize() throws { try check(unsafe tchdbsync(handle), "tchdbsync") }
  func copy(to path: String) throws { try check(unsafe tchdbcopy(handle, path), "tchdbcopy") }
  func begin() throws { try check(unsafe tchdbtranbegin(handle), "tchdbtranbegin") }
  func commit() throws { try check(unsafe tchdbtrancommit(handle), "tchdbtrancommit") }
  func abort() throws { try check(unsafe tchdbtranabort(handle), "tchdbtranabort") }

  func optimize(_ tuning: Tuning) throws {
    let done = unsafe tchdboptimize(
      handle, tuning.bucketCount, tuning.alignmentPower, tuning.freeBlockPower,
      tuning.options.rawValue)
    try check(done, "tchdboptimize")
  }

  // MARK: Room

  /// Reserves room for the file to grow, including disk space.
  ///
  /// The library writes through a memory map into a sparse file. On a full disk that raises a
  /// signal that kills the process. So the blocks are allocated beforehand, many at a time. The
  /// library learns about them by its own field `xfsiz`, which stores how far it has extended the
  /// file.
  func reserve(_ growth: UInt64) throws {
    let size = unsafe handle.pointee.fsiz
    let end = size + growth
    guard unsafe end > handle.pointee.xfsiz else { return }
    let generous = growth + min(max(size / 4, 256 << 10), 32 << 20)
    for length in [generous, growth + 64 << 10] {
      do {
        try allocate(
          unsafe handle.pointee.fd, path, from: Int(clamping: size), count: Int(clamping: length))
        unsafe handle.pointee.xfsiz = size + length
        return
      } catch  where !error.isFull {
        return
      } catch {}
    }
    throw TokyoCabinetError(
      .noSpace, operation: "posix_fallocate", path: path,
      message: "no room for \(growth) more bytes: free some space and try again")
  }

  // MARK: Iterating

  /// Copies records from an offset on, until the batch is full or the file ends.
  ///
  /// The library has one iterator for each database object, a file offset. Each step here sets it
  /// before and reads it afterwards, so that any number of scans can have their own.
  func fill(_ batch: inout RecordBatch, from offset: UInt64?, atLeast bytes: Int) throws {
    guard let key = unsafe tcxstrnew(), let value = unsafe tcxstrnew() else {
      throw TokyoCabinetError(.other, operation: "tcxstrnew", path: path, message: "no memory")
    }
    defer {
      unsafe tcxstrdel(key)
      unsafe tcxstrdel(value)
    }
    unsafe handle.pointee.iter = unsafe offset ?? handle.pointee.frec
    while batch.byteCount < bytes {
      guard unsafe tchdbiternext3(handle, key, value) else {
        if (unsafe tchdbecode(handle)) == Int32(TCENOREC) {
          batch.isLast = true
          return
        }
        throw failure("tchdbiternext3")
      }
      unsafe batch.append(
        key: UnsafeRawBufferPointer(start: tcxstrptr(key), count: Int(tcxstrsize(key))),
        value: UnsafeRawBufferPointer(start: tcxstrptr(value), count: Int(tcxstrsize(value))),
        next: handle.pointee.iter)
    }
  }

  /// Passes the pointers of `tchdbforeach` to a closure.
  func forEach(_ body: (_ key: RawSpan, _ value: RawSpan) throws -> Void) throws {
    let thrown = try withoutActuallyEscaping(body) { body -> (any Error)? in
      var visit = Visit(body: body)
      let done = unsafe withUnsafeMutablePointer(to: &visit) { visit in
        unsafe tchdbforeach(
          handle,
          { key, keySize, value, valueSize, context in
            guard let visit = unsafe context?.assumingMemoryBound(to: Visit.self) else {
              return false
            }
            return unsafe visit.pointee.lend(
              UnsafeRawBufferPointer(start: key, count: Int(keySize)),
              UnsafeRawBufferPointer(start: value, count: Int(valueSize)))
          }, visit)
      }
      if let error = visit.error { return error }
      try check(done, "tchdbforeach")
      return nil
    }
    if let thrown { throw thrown }
  }
}

/// The context of the C callback: the closure, and the error that it threw.
private struct Visit {
  let body: (RawSpan, RawSpan) throws -> Void
  var error: (any Error)?

  /// Calls the closure; returns false to end the iteration.
  mutating func lend(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Bool {
    do {
      try unsafe body(RawSpan(_unsafeBytes: key), RawSpan(_unsafeBytes: value))
      return true
    } catch {
      self.error = error
      return false
    }
  }
}
