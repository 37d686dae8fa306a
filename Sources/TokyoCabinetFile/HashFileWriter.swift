package import Files

/// A writer of a whole hash file, which the C library can read and change afterwards.
///
///     var plan = try HashFilePlan(layout: HashFileLayout(bucketCount: 400_000), path: "Song")
///     for song in songs { try plan.add(key: song.key.span.bytes, valueCount: song.value.count) }
///     let writer = try HashFileWriter("Song", plan)
///     for song in songs { try writer.append(key: song.key, value: song.value) }
///     try writer.finish(synchronized: true)
///
/// You pass the records twice: to the ``HashFilePlan``, and to be written. If the layout does not
/// compress values, ``HashFilePlan/add(key:valueCount:)`` plans them by their sizes alone. The file
/// has the records in the order in which you pass them, without gaps, in balanced trees. The
/// records are written first and the header last, so an unfinished file is not a hash file.
///
/// A writer that ends before ``finish(synchronized:)`` has succeeded removes its file.
///
/// Use it from one thread at a time.
public final class HashFileWriter {
  /// The file.
  public let path: String
  /// The layout of the file.
  public let layout: HashFileLayout
  /// The number of records so far.
  @safe @exclusivity(unchecked)
  public private(set) var count = 0
  /// The final size of the file.
  public let fileSize: Int

  private let links: HashFileLinks
  // Each access ends before other code runs, and only one thread at a time is here.
  @safe @exclusivity(unchecked)
  private var image: HashFileImage

  /// Creates a new file.
  ///
  /// Complexity: O(n log k) for n records, k of them in the fullest bucket.
  ///
  /// - Parameters:
  ///   - path: The file, which must not exist.
  ///   - plan: The plan of the records to write.
  /// - Throws: ``HashFileError`` with `duplicateKey`, `noFile` (the directory does not exist),
  ///   `noPermission`, `ioError` (the file exists, or another failure), or `noSpace`.
  public convenience init(
    _ path: String, _ plan: consuming HashFilePlan
  ) throws(HashFileError) {
    try self.init(path.location, plan, rights: .anyone)
  }

  /// Creates a new file, which may be in an open directory, with the given permissions.
  package convenience init(
    _ location: FileLocation, _ plan: consuming HashFilePlan, rights: FileRights
  ) throws(HashFileError) {
    let links = try plan.links()
    let file = try hashFileErrors { () throws(SystemError) in try NewFile(location, rights: rights)
    }
    self.init(location.path, plan, links, file)
  }

  private init(
    _ path: String, _ plan: consuming HashFilePlan, _ links: consuming HashFileLinks,
    _ file: NewFile?
  ) {
    self.path = path
    layout = plan.layout
    image = HashFileImage(file, start: plan.layout.first)
    fileSize = plan.end
    self.links = links
  }

  deinit { image.abandon() }

  /// Writes a file with the given records.
  ///
  /// Complexity: linear in the size of the file.
  ///
  /// - Throws: ``HashFileError`` with `invalidLayout`, `duplicateKey`, `tooLarge`, `noFile`,
  ///   `noPermission`, `noSpace` or `ioError`.
  public static func write(
    _ path: String, layout: HashFileLayout, records: [(key: [UInt8], value: [UInt8])],
    synchronized: Bool
  ) throws(HashFileError) {
    let writer = try HashFileWriter(path, HashFilePlan(layout: layout, path: path, records))
    for (key, value) in records { try writer.append(key: key, value: value) }
    try writer.finish(synchronized: synchronized)
  }

  /// Returns the bytes of a file with the given records.
  ///
  /// Complexity: linear in the size of the file.
  ///
  /// - Throws: ``HashFileError`` with `invalidLayout`, `duplicateKey` or `tooLarge`.
  public static func bytes(
    layout: HashFileLayout, records: [(key: [UInt8], value: [UInt8])]
  ) throws(HashFileError) -> [UInt8] {
    let plan = try HashFilePlan(layout: layout, path: "memory", records)
    let links = try plan.links()
    let writer = HashFileWriter("memory", plan, links, nil)
    for (key, value) in records { try writer.append(key: key, value: value) }
    return writer.start() + writer.image.tail
  }

  /// Appends the next record of the plan.
  ///
  /// Complexity: linear in the size of the record.
  ///
  /// - Precondition: The file is not finished.
  /// - Throws: ``HashFileError`` with `notPlanned` if the plan has another record here, `noSpace`
  ///   or `ioError`.
  public func append(key: [UInt8], value: [UInt8]) throws(HashFileError) {
    try key.lend { (key) throws(HashFileError) in
      try value.lend { (value) throws(HashFileError) in try append(key: key, value: value) }
    }
  }

  /// Appends the next record of the plan.
  ///
  /// Complexity: linear in the size of the record.
  ///
  /// - Precondition: The file is not finished.
  /// - Throws: ``HashFileError`` with `notPlanned` if the plan has another record here, `noSpace`
  ///   or `ioError`.
  public func append(key: RawSpan, value: RawSpan) throws(HashFileError) {
    precondition(!image.isFinished, "a record for a file that is finished")
    guard layout.options.contains(.deflate) else { return try appendPlain(key, value) }
    try Deflate.deflated(value, path, image.end).lend { (small) throws(HashFileError) in
      try appendPlain(key, small)
    }
  }

  private func appendPlain(_ key: RawSpan, _ value: RawSpan) throws(HashFileError) {
    guard count < links.children.count else { throw notPlanned("The plan has no further record.") }
    let room = links.offsets[count + 1] - links.offsets[count]
    let padding = room - layout.recordSize(key.byteCount, value.byteCount)
    guard padding >= 0, padding < layout.alignment else {
      throw notPlanned(
        "The plan has a record of another size here: plan it by its compressed value.")
    }
    assert(image.end == links.offsets[count], "a record is not where the links lead")
    let children = links.children[count]
    let head = HashFileRecordHead(
      hash: HashFileFormat.hashes(of: key).second, left: offset(children.left),
      right: offset(children.right), padding: padding)
    image.tail.append(head, key, value, layout, size: room)
    count += 1
    assert(image.end == links.offsets[count], "a record has another size than was planned")
    try image.flushIfFull()
  }

  private func notPlanned(_ message: String) -> HashFileError {
    HashFileError(.notPlanned, message, path: path, offset: image.end)
  }

  /// Returns the offset of a record in the form of a link; 0 for none.
  @inline(__always)
  private func offset(_ number: UInt32) -> UInt64 {
    number == 0 ? 0 : UInt64(links.offsets.units(Int(number) - 1))
  }

  /// Writes the rest of the file, with the header last.
  ///
  /// If you rename the file or rely on it, pass true for `synchronized`, and sync the directory
  /// yourself.
  ///
  /// Complexity: linear in the number of buckets.
  ///
  /// - Parameter synchronized: Whether the file is synced before the method returns.
  /// - Precondition: The file is not finished.
  /// - Throws: ``HashFileError`` with `notPlanned` if records of the plan are missing; `noSpace` or
  ///   `ioError`, with the file removed.
  public func finish(synchronized: Bool) throws(HashFileError) {
    precondition(!image.isFinished, "a file that is finished already")
    guard count == links.children.count else {
      throw notPlanned("\(links.children.count - count) records of the plan are missing.")
    }
    do {
      try image.finish(start(), synchronized: synchronized)
    } catch {
      image.abandon()
      throw error
    }
  }

  /// Returns the part before the first record.
  private func start() -> [UInt8] {
    var start = HashFileHeader.bytes(layout, recordCount: count, fileSize: fileSize)
    start.reserveCapacity(layout.first)
    start += [UInt8](repeating: 0, count: layout.first - start.count)
    for (bucket, root) in links.roots.enumerated() where root != 0 {
      start.store(
        offset(root), width: layout.width, at: HashFileHeader.size + bucket * layout.width,
        layout.byteOrder)
    }
    return start
  }
}

extension HashFilePlan {
  /// Creates the plan of a file with the given records.
  init(
    layout: HashFileLayout, path: String, _ records: [(key: [UInt8], value: [UInt8])]
  ) throws(HashFileError) {
    try self.init(layout: layout, path: path)
    for (key, value) in records {
      try key.lend { (key) throws(HashFileError) in
        try value.lend { (value) throws(HashFileError) in try add(key: key, value: value) }
      }
    }
  }

  /// Adds a record to the plan; if values are compressed, compresses it to find its size.
  ///
  /// Complexity: linear in the size of the key; if values are compressed, also in that of the
  /// value.
  ///
  /// - Throws: ``HashFileError`` with `tooLarge`.
  public mutating func add(key: RawSpan, value: RawSpan) throws(HashFileError) {
    guard layout.options.contains(.deflate) else {
      return try add(key: key, valueCount: value.byteCount)
    }
    try add(key: key, valueCount: Deflate.deflated(value, path, end).count)
  }
}

extension Deflate {
  /// Returns a compressed value; the offset is for errors.
  fileprivate static func deflated(
    _ value: RawSpan, _ path: String, _ offset: Int
  ) throws(HashFileError) -> [UInt8] {
    guard value.byteCount <= HashFileFormat.recordLimit, let small = deflated(value) else {
      throw HashFileError(.tooLarge, "a value can't be compressed", path: path, offset: offset)
    }
    return small
  }
}
