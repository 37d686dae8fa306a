#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// A process that has locked a file or a directory.
///
/// `/proc/locks` lists the locks of `flock` by process ID, device and inode (proc_locks(5)).
package struct LockHolder: Sendable, Equatable, CustomStringConvertible {
  /// The process ID.
  package let processID: Int32
  /// The name of its program; empty if the system does not provide it.
  package let name: String

  /// The process ID and the name, for errors.
  package var description: String {
    if processID == getpid() { return "another backend of this process" }
    return name.isEmpty ? "process \(processID)" : "process \(processID) (\(name))"
  }

  /// Returns the processes that have locked a file; empty if the system does not provide them.
  package static func all(of address: some FileAddress) -> [LockHolder] {
    guard let status = try? FileStatus.find(address),
      let bytes = try? firstBytes(of: FileLocation("/proc/locks"), count: 1 << 20)
    else { return [] }
    let locks = String(decoding: bytes, as: UTF8.self)
    var found: [LockHolder] = []
    for line in locks.split(separator: "\n") {
      let fields = line.split(separator: " ")
      // 1: FLOCK  ADVISORY  WRITE 1234 fd:01:5678 0 EOF
      guard fields.count >= 6, fields[1] == "FLOCK", let process = Int32(fields[4]), process > 0,
        let inode = fields[5].split(separator: ":").last, UInt64(inode) == status.identity.inode,
        !found.contains(where: { $0.processID == process })
      else { continue }
      found.append(LockHolder(processID: process, name: programName(of: process)))
    }
    return found
  }

  private static func programName(of process: Int32) -> String {
    let bytes = try? firstBytes(of: FileLocation("/proc/\(process)/comm"), count: 64)
    return String(decoding: (bytes ?? []).prefix { $0 != 10 }, as: UTF8.self)
  }
}
