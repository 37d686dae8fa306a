internal import CFiles

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// A file in memory, with a path during the lifetime of this object.
///
/// It is gone when the process ends, however it ends.
package final class MemoryFile: Sendable {
  /// The path for this process.
  package let path: String
  private let descriptor: Int32

  /// The file, which is open for writing.
  var opened: OpenFile { OpenFile(descriptor, FileLocation(path)) }

  private init(_ descriptor: Int32) {
    (self.descriptor, path) = (descriptor, "/proc/self/fd/\(descriptor)")
  }

  /// Creates an empty file; nil if the system does not support it.
  ///
  /// - Parameter name: The name by which other processes of the same user find the file, of at most
  ///   200 bytes; see ``bytes(of:in:atMost:)``.
  package convenience init?(named name: String = "memory") {
    let descriptor = unsafe files_open_memory(name)
    if descriptor < 0 { return nil }
    self.init(descriptor)
    if (try? exists(path)) != true { return nil }
  }

  /// Sets the size; new bytes are 0.
  ///
  /// Memory needs no space to be reserved on a disk, so nothing is written.
  func resize(to size: Int) throws(SystemError) {
    if ftruncate(descriptor, size) != 0 { throw .last(FileCall.truncate.rawValue, path) }
  }

  deinit { closeFile(descriptor) }

  /// Returns the first bytes of a file in the memory of another process.
  ///
  /// Complexity: linear in the number of files that the process has open.
  ///
  /// - Parameters:
  ///   - name: The name of the file.
  ///   - process: The process ID.
  ///   - count: The maximum number of bytes.
  /// - Returns: nil if the process has no such file, or belongs to another user. See proc_pid_fd(5).
  package static func bytes(of name: String, in process: Int32, atMost count: Int) -> [UInt8]? {
    let directory = "/proc/\(process)/fd"
    let wanted = "/memfd:\(name) (deleted)"
    for entry in (try? directoryEntries(directory)) ?? [] {
      let path = directory + "/" + entry
      if readLink(path) == wanted { return try? firstBytes(of: path, count: count) }
    }
    return nil
  }
}
