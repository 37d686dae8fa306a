import Files

/// The steps of opening a file, and the diagnosis if the library refuses it.
struct Opening {
  let handle: HashHandle
  let mode: OpenMode
  let tuning: Tuning
  /// The status of the file before; nil if it did not exist.
  let before: FileStatus?
  /// The header before; nil if there was none or it was not valid.
  let header: HashFileHeader?

  /// Opens the file.
  func run() throws {
    try checkTuning()
    try checkFileSizeLimit()
    if let before, before.size == 0, mode.options.isEmpty {
      throw error(.notADatabase, "the file is empty: it was never written as a database")
    }
    do {
      try openMapped()
    } catch let error as TokyoCabinetError where error.code == .damaged {
      throw diagnosis(error)
    }
  }

  /// Throws if the buckets of a new file exceed the limit on file sizes (`ulimit -f`).
  ///
  /// Without this check, the library would receive a signal that ends the process.
  private func checkFileSizeLimit() throws {
    guard mode.options.contains(.create),
      (before?.size ?? 0) == 0 || mode.options.contains(.truncate)
    else { return }
    do {
      try Files.checkFileSizeLimit(Int(clamping: tuning.initialSize), handle.path)
    } catch let failure {
      throw TokyoCabinetError(
        .noSpace, operation: "tchdbopen", path: handle.path,
        message: "the limit on the size of files leaves no room for its buckets",
        systemError: failure.number)
    }
  }

  /// Opens the file with a mapping in which it can grow.
  ///
  /// Beyond the mapped size every access is a system call, at a sixteenth of the speed. Addresses
  /// are plentiful, so 64 GiB are mapped. If the process is limited (`ulimit -v`), a file that has
  /// grown is accessed by system calls.
  private func openMapped() throws {
    let size = Int64(before?.size ?? 0)
    do {
      try handle.open(mode, tuning, mapSize: max(64 << 30, size * 2))
    } catch let error as TokyoCabinetError where error.code == .mapFailed {
      do {
        try handle.open(mode, tuning, mapSize: max(64 << 20, size * 2))
      } catch let error as TokyoCabinetError where error.code == .mapFailed {
        try handle.open(mode, tuning, mapSize: 0)
      }
    }
  }

  private func checkTuning() throws {
    guard (0...16).contains(tuning.alignmentPower), (0...20).contains(tuning.freeBlockPower),
      (1...Int64(1) << 32).contains(tuning.bucketCount)
    else { throw error(.invalid, "the tuning is out of range: \(tuning)") }
    let room = UInt64(1) << (32 + UInt64(tuning.alignmentPower))
    let table = UInt64(tuning.bucketCount) * 5
    guard tuning.options.contains(.large) || table < room else {
      throw error(.fileTooLarge, "so many buckets need the option large")
    }
  }

  /// Returns a precise error for a header that the library refused (`TCEMETA`).
  private func diagnosis(_ refusal: TokyoCabinetError) -> TokyoCabinetError {
    guard refusal.operation == "tchdbopen" else { return refusal }
    guard let header else {
      return error(.notADatabase, "this is not a hash database: its header is not valid")
    }
    if header.type != 0 {
      return error(.notADatabase, "this is a Tokyo Cabinet file of another kind (\(header.type))")
    }
    if let size = before?.size, size < Int(clamping: header.fileSize) {
      return error(.damaged, "the file has been cut off: \(size) of \(header.fileSize) bytes")
    }
    return error(
      .otherByteOrder,
      "the file was written on a machine of the other byte order (\(header.byteOrder)-endian),"
        + " which this build of the C library can't read: copy the records on such a machine")
  }

  private func error(_ code: TokyoCabinetError.Code, _ message: String) -> TokyoCabinetError {
    TokyoCabinetError(code, operation: "tchdbopen", path: handle.path, message: message)
  }
}
