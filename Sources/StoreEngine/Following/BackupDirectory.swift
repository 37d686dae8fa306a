import Files

/// The files of a continuous backup.
///
///     base-<number>/                     a complete store as of a commit
///     base-<number>.history              an empty stream; its header has the position of the base
///     segments/<first>-<last>.history    a stream with the entries of these commits
///
/// Numbers have 20 digits, so that names sort in the order of the commits. A file is renamed to its
/// final name after it has been synced.
struct BackupDirectory: Sendable {
  let path: String
  private static let suffix = ".history"
  private static let basePrefix = "base-"
  private static let newSegment = ".new" + suffix

  /// A segment file, identified by the first and last commit in its name.
  struct Segment: Sendable, Equatable {
    let first: UInt64
    let last: UInt64
    var name: String {
      BackupDirectory.digits(first) + "-" + BackupDirectory.digits(last) + BackupDirectory.suffix
    }
  }

  var segmentsPath: String { path + "/segments" }
  func basePath(_ number: UInt64) -> String { path + "/" + Self.basePrefix + Self.digits(number) }
  func placePath(_ number: UInt64) -> String { basePath(number) + Self.suffix }
  func path(of segment: Segment) -> String { segmentsPath + "/" + segment.name }

  private static func digits(_ number: UInt64) -> String {
    let text = String(number)
    return String(repeating: "0", count: 20 - text.utf8.count) + text
  }

  private static func number(_ digits: some StringProtocol) -> UInt64? {
    digits.utf8.count == 20 ? UInt64(digits) : nil
  }

  // MARK: Listing

  /// Whether the directory has at least one base.
  var isBackup: Bool { (try? bases().isEmpty) == false }

  /// The numbers of the bases, in order.
  func bases() throws(StoreError) -> [UInt64] {
    let names = try entries(path)
    return names.compactMap { name in
      guard name.hasPrefix(Self.basePrefix), names.contains(name + Self.suffix) else { return nil }
      return Self.number(name.dropFirst(Self.basePrefix.count))
    }.sorted()
  }

  /// The segments, in order.
  func segments() throws(StoreError) -> [Segment] {
    try entries(segmentsPath).compactMap { name in
      let parts = name.dropLast(Self.suffix.count).split(separator: "-")
      guard name.hasSuffix(Self.suffix), parts.count == 2, let first = Self.number(parts[0]),
        let last = Self.number(parts[1]), first <= last
      else { return nil }
      return Segment(first: first, last: last)
    }.sorted { $0.first < $1.first }
  }

  private func entries(_ path: String) throws(StoreError) -> [String] {
    try systemErrors(at: path) {
      guard try exists(path) else { return [] }
      return try DirectoryHandle(path).entries()
    }
  }

  /// Passes the bytes of a file to a closure, a megabyte at a time, until the closure returns
  /// false.
  static func read(
    _ path: String, _ body: ([UInt8]) throws(StoreError) -> Bool
  ) throws(StoreError) {
    let file = try systemErrors(at: path) { try openFile(path, writable: false) }
    defer { file.close() }
    var offset = 0
    while true {
      let bytes = try systemErrors(at: path) { try file.read(1 << 20, at: offset) }
      if bytes.isEmpty { return }
      guard try body(bytes) else { return }
      offset += bytes.count
    }
  }

  // MARK: Writing

  /// Creates the directories.
  func make() throws(StoreError) {
    try systemErrors(at: path) {
      // Segments hold records, so only the owner gets access. The user can grant more.
      try makeDirectories(segmentsPath, mode: 0o700)
    }
  }

  /// Creates the file of a segment, and removes an unfinished one.
  func beginSegment() throws(StoreError) -> NewFile {
    let file = FileLocation(segmentsPath + "/" + Self.newSegment)
    return try systemErrors(at: file.path) {
      try removeFile(file)
      return try NewFile(file)
    }
  }

  /// Syncs a segment, and renames it to its final name.
  func finish(_ file: NewFile, as segment: Segment) throws(StoreError) {
    try finish(file, as: path(of: segment))
  }

  /// Writes the position of a base.
  func writePlace(_ bytes: [UInt8], of number: UInt64) throws(StoreError) {
    let file = try beginSegment()
    try systemErrors(at: file.location.path) { try file.write(bytes, at: 0) }
    try finish(file, as: placePath(number))
  }

  private func finish(_ file: NewFile, as path: String) throws(StoreError) {
    let name = FileLocation(path)
    try systemErrors(at: path) {
      try file.synchronize()
      try renameFile(file.location, name)
      try name.synchronizeDirectory()
    }
  }
}
