import Foundation

/// Writes a file, and replaces an existing one when the new one is complete.
enum FileWriter {
  static func write(_ data: Data, to path: String) throws {
    do {
      try data.write(
        to: URL(fileURLWithPath: path), options: mayReplace(path) ? .atomic : [])
    } catch {
      throw Failure("\(quoted(path)) can't be written: \(error.localizedDescription)")
    }
  }

  /// Whether a new file can replace the existing one.
  ///
  /// A link or a device such as /dev/stdout is not replaced but written to.
  private static func mayReplace(_ path: String) -> Bool {
    guard let attributes = try? FileManager.default.attributesOfItem(atPath: path) else {
      return true
    }
    return attributes[.type] as? FileAttributeType == .typeRegular
  }
}
