import Foundation

/// Writes a whole file, so that the old one is there until the new one is complete.
enum FileWriter {
  static func write(_ data: Data, to path: String) throws {
    do {
      try data.write(
        to: URL(fileURLWithPath: path), options: mayReplace(path) ? .atomic : [])
    } catch {
      throw Failure("\(quoted(path)) can't be written: \(error.localizedDescription)")
    }
  }

  /// Whether another file may take the place of what is there.
  ///
  /// A link or a device such as /dev/stdout must stay, and is written through.
  private static func mayReplace(_ path: String) -> Bool {
    guard let attributes = try? FileManager.default.attributesOfItem(atPath: path) else {
      return true
    }
    return attributes[.type] as? FileAttributeType == .typeRegular
  }
}
