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

  func run() throws {
    let name = name
    let trials = first..<end
    let store = SmallStore(directory: store, backend: backend)
    try withTemporaryDirectory { directory in
      let probe = try FlipProbe(store: store, copy: directory.path + "/store", name: name)
      for trial in trials {
        ChildProcess.send(try probe.verdict(of: trial).rawValue)
      }
    }
  }
}

/// A copy of a store, in which one file is spoilt in one way after the other.
///
/// Trials are numbered: each byte with all its bits turned, then with one bit, then each length, and
/// last the file removed.
struct FlipProbe {
  private let copy: SmallStore
  private let name: String
  private let files: [String: Data]
  private let original: Data
  private let lines: [String]
  /// The size of the file.
  var size: Int { original.count }

  static func trialCount(size: Int) -> Int { 3 * size + 1 }

  static func description(_ trial: Int, size: Int) -> String {
    if trial < 2 * size { return "byte \(trial % size) \(trial < size ? "inverted" : "one bit")" }
    return trial < 3 * size ? "cut at \(trial - 2 * size)" : "removed"
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

  /// Spoils the file, reads the store, and puts the file back.
  func verdict(of trial: Int) throws -> FlipVerdict {
    try spoil(trial)
    defer { try? restore([name]) }
    let check = try copy.backend.check(copy.directory)
    let isReported = !check.isSound || check.tornTailByteCount != nil
    let found = read(isReadOnly: true)
    if found == .wrong && !isReported { return .wrong }
    let isHarmless = found == .harmless && !isReported
    // Room that holds nothing is tried at every fourth byte only: a save takes the most time.
    guard trial % 4 == 0 || isHarmless && trial < 2 * size && original[trial % size] != 0 else {
      return isHarmless ? .harmless : .reported
    }
    let written = try whileWriting()
    return isHarmless || written == .torn ? written : .reported
  }

  /// What a program finds that opens the store to work with it.
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
    if trial == 3 * size { return try FileManager.default.removeItem(atPath: path) }
    var data = original
    if trial >= 2 * size {
      data = data.prefix(trial - 2 * size)
    } else {
      data[trial % size] ^= trial < size ? 0xFF : 1 << UInt8(trial % 8)
    }
    try data.write(to: URL(fileURLWithPath: path))
  }

  /// Puts files back, or all of them and no others.
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
