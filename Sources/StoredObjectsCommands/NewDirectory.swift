import Foundation

/// A directory for a new store, which must not exist, or be empty.
struct NewDirectory {
  private let path: String

  init(_ path: String) { self.path = path }

  /// Creates the store under a temporary name, and renames it on success.
  func make<Result>(_ body: (String) throws -> Result) throws -> Result {
    let files = FileManager.default
    if let entries = try? files.contentsOfDirectory(atPath: path), !entries.isEmpty {
      throw Failure(description: "There is something in \"\(path)\": name a new directory.")
    }
    let partial = "\(path).partial-\(UInt32.random(in: 0 ... .max))"
    do {
      let result = try body(partial)
      try? files.removeItem(atPath: path)
      try files.moveItem(atPath: partial, toPath: path)
      return result
    } catch {
      try? files.removeItem(atPath: partial)
      throw error
    }
  }
}
