import Foundation

/// A small file system in memory, which a test fills.
///
/// Only root can mount one.
package final class SmallDisk: Sendable {
  /// The directory of the file system, which belongs to the user of the server.
  package let directory: String
  private var filler: String { directory + "/filler" }

  /// Whether this process can mount a file system; otherwise tests are skipped.
  package static let isAvailable = (try? SmallDisk(megabytes: 1, name: "-try").close()) != nil

  /// Mounts a file system.
  ///
  /// - Parameters:
  ///   - megabytes: Its size.
  ///   - name: The end of the directory's name, which no other disk of the process has.
  /// - Throws: `TestServer.Unavailable` if this process can't mount one.
  package init(megabytes: Int, name: String) throws {
    let user = try TestServer.output("id", ["-u", "postgres"])
    directory = try TestServer.newDirectory(name)
    do {
      _ = try TestServer.output(
        "mount",
        ["-t", "tmpfs", "-o", "size=\(megabytes)m,uid=\(user),mode=0700", "tmpfs", directory])
    } catch {
      try? FileManager.default.removeItem(atPath: directory)
      throw error
    }
  }

  /// Takes the room, except for some of it.
  package func fill(leaving megabytes: Double) throws {
    let attributes = try FileManager.default.attributesOfFileSystem(forPath: directory)
    let free = (attributes[.systemFreeSize] as? NSNumber)?.doubleValue ?? 0
    let size = Int(free - megabytes * 1_048_576)
    try Data(count: max(0, size)).write(to: URL(filePath: filler))
  }

  /// Makes the room free again.
  package func makeRoom() throws { try FileManager.default.removeItem(atPath: filler) }

  /// Unmounts the file system, also if something still uses it.
  package func close() {
    _ = try? TestServer.output("umount", ["-l", directory])
    try? FileManager.default.removeItem(atPath: directory)
  }
}
