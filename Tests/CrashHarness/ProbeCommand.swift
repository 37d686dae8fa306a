import ArgumentParser
import Foundation
import StoredObjectsCore

/// Runs the trials of one file, and sends a verdict for each.
struct ProbeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "probe", shouldDisplay: false)

  @Argument var store: String
  @Argument var name: String
  @Option var backend: BackendName
  @Option var first: Int
  @Option var end: Int
  @Option var every: Int
  @Flag(help: "All changes must be reported.") var strict = false

  func run() throws {
    let name = name
    let trials = stride(from: first, to: end, by: every)
    let store = SmallStore(directory: store, backend: backend)
    // Beside the store, so that it is removed with the store however this process ends.
    let copy = "\(store.directory).\(ProcessInfo.processInfo.processIdentifier)"
    let probe = try FlipProbe(store: store, copy: copy, name: name)
    for trial in trials {
      var verdict = try probe.verdict(of: trial)
      if strict, verdict == .harmless, !probe.isRoom(trial) { verdict = .untold }
      ChildProcess.send(verdict.rawValue)
    }
    try FileManager.default.removeItem(atPath: copy)
  }
}

/// A copy of a store in which one file is damaged in one way after another.
///
/// Trials are numbered: each byte with all bits inverted, with one bit inverted, and with every
/// other bit inverted; then each length, some bytes after the end, and finally the removal of the
/// file.
struct FlipProbe {
  private let copy: SmallStore
  private let name: String
  private let files: [String: Data]
  private let original: Data
  private let lines: [String]
  /// The size of the file.
  var size: Int { original.count }

  /// Returns the mask by which a byte is changed.
  private static func mask(_ trial: Int, size: Int) -> UInt8 {
    [0xFF, 1 << UInt8(trial % size % 8), 0x55][trial / size]
  }

  private static let maskCount = 3
  /// The bytes that are appended.
  private static let tails: [[UInt8]] = [
    [0], [0xFF], [UInt8](repeating: 0, count: 64), [UInt8](repeating: 0xFF, count: 64),
  ]

  static func trialCount(size: Int) -> Int { (maskCount + 1) * size + tails.count + 1 }

  static func description(_ trial: Int, size: Int) -> String {
    let cut = trial - maskCount * size
    if cut < 0 { return "byte \(trial % size) changed by \(mask(trial, size: size))" }
    if cut < size { return "cut at \(cut)" }
    return cut - size < tails.count ? "lengthened by \(tails[cut - size].count)" : "removed"
  }

  /// Whether a trial only extends the log.
  func isRoom(_ trial: Int) -> Bool {
    let tail = trial - (Self.maskCount + 1) * size
    return name == "Commit.log" && Self.tails.indices.contains(tail)
      && Self.tails[tail].allSatisfy { $0 == 0 }
  }

  init(store: SmallStore, copy: String, name: String) throws {
    self.copy = SmallStore(directory: copy, backend: store.backend)
    self.name = name
    try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: true)
    var files: [String: Data] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: store.directory) {
      files[name] = try Data(contentsOf: URL(fileURLWithPath: "\(store.directory)/\(name)"))
    }
    self.files = files
    original = files[name] ?? Data()
    for (name, data) in files { try data.write(to: URL(fileURLWithPath: "\(copy)/\(name)")) }
    lines = try self.copy.contents(isReadOnly: true).lines
    guard lines.count > 8, try store.backend.check(copy).isSound else {
      throw HarnessError("the store is not sound to begin with")
    }
  }

  /// Damages the file, reads the store, and restores the file.
  func verdict(of trial: Int) throws -> FlipVerdict {
    try spoil(trial)
    defer { try? restore([name]) }
    // A check that can't even begin counts as a report.
    let check = try? copy.backend.check(copy.directory)
    let isReported = check.map { !$0.isSound || $0.tornTailByteCount != nil } ?? true
    let found = read(isReadOnly: true)
    if found == .wrong && !isReported { return .wrong }
    let isHarmless = found == .harmless && !isReported
    // Unused space is tried with a save at every fourth byte only, because a save takes the most
    // time.
    let isByte = trial < Self.maskCount * size
    guard trial % 4 == 0 || isHarmless && isByte && original[trial % size] != 0 else {
      return isHarmless ? .harmless : .reported
    }
    let written = try whileWriting()
    return isHarmless || written == .torn ? written : .reported
  }

  /// Returns the result for a program that opens the store for writing.
  private func whileWriting() throws -> FlipVerdict {
    defer { try? restore(nil) }
    return read(isReadOnly: false)
  }

  private func read(isReadOnly: Bool) -> FlipVerdict {
    do {
      let found = try copy.contents(isReadOnly: isReadOnly)
      if found.lines == lines { return .harmless }
      return found.tornTailByteCount == nil ? .wrong : .reported
    } catch is HarnessError {
      return .torn
    } catch {
      return .reported
    }
  }

  private func spoil(_ trial: Int) throws {
    let path = "\(copy.directory)/\(name)"
    var data = original
    let cut = trial - Self.maskCount * size
    if cut < 0 {
      data[trial % size] ^= Self.mask(trial, size: size)
    } else if cut < size {
      data = data.prefix(cut)
    } else if cut - size < Self.tails.count {
      data += Self.tails[cut - size]
    } else {
      return try FileManager.default.removeItem(atPath: path)
    }
    try data.write(to: URL(fileURLWithPath: path))
  }

  /// Restores some files, or all of them and no others.
  private func restore(_ names: [String]?) throws {
    if names == nil {
      for name in try FileManager.default.contentsOfDirectory(atPath: copy.directory)
      where files[name] == nil {
        try FileManager.default.removeItem(atPath: "\(copy.directory)/\(name)")
      }
    }
    for name in names ?? Array(files.keys) {
      try files[name]?.write(to: URL(fileURLWithPath: "\(copy.directory)/\(name)"))
    }
  }
}
