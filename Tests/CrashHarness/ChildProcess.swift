import Foundation
import Glibc

/// Another process of this program, with a pipe from its standard output.
///
/// It is started by `posix_spawn`, which is several times faster than `Foundation.Process`.
final class ChildProcess {
  private let process: pid_t
  private let output: Int32
  private var isReaped = false

  /// Starts this program with arguments.
  init(_ arguments: [String]) throws {
    var ends: [Int32] = [0, 0]
    guard unsafe pipe(&ends) == 0 else { throw HarnessError("pipe: errno \(errno)") }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    unsafe posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
    var words = unsafe ([CommandLine.arguments[0]] + arguments).map { unsafe strdup($0) } + [nil]
    var child: pid_t = 0
    let number = unsafe posix_spawn(&child, "/proc/self/exe", &actions, nil, &words, environ)
    unsafe words.forEach { unsafe free($0) }
    unsafe posix_spawn_file_actions_destroy(&actions)
    Glibc.close(ends[1])
    guard number == 0 else { throw HarnessError("posix_spawn: errno \(number)") }
    (process, output) = (child, ends[0])
  }

  deinit {
    if !isReaped { _ = kill() }
    Glibc.close(output)
  }

  /// Returns the next number that the child has sent; nil if it has ended, or after a timeout in
  /// seconds.
  func next(timeout seconds: Int32 = 60) -> Int64? {
    var poll = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
    guard unsafe Glibc.poll(&poll, 1, seconds * 1000) > 0 else { return nil }
    var number: Int64 = 0
    return unsafe read(output, &number, 8) == 8 ? number : nil
  }

  /// Ends the child with SIGKILL, and returns the exit status of `waitpid`.
  func kill() -> Int32 {
    _ = Glibc.kill(process, SIGKILL)
    return wait()
  }

  /// Waits for the end of the child.
  func wait() -> Int32 {
    var status: Int32 = 0
    _ = unsafe waitpid(process, &status, 0)
    isReaped = true
    return status
  }

  /// Sends a number to the parent without buffering.
  static func send(_ number: Int64) {
    var number = number
    _ = unsafe write(1, &number, 8)
  }
}

struct HarnessError: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

/// Writes a line to the standard error, to explain a failure.
func note(_ text: String) { FileHandle.standardError.write(Data((text + "\n").utf8)) }

/// Runs a closure with a temporary directory, in memory if possible, which is removed at the end.
func withTemporaryDirectory<Result>(_ body: (URL) throws -> Result) throws -> Result {
  let memory = "/dev/shm"
  let location =
    FileManager.default.isWritableFile(atPath: memory)
    ? URL(filePath: memory) : FileManager.default.temporaryDirectory
  let directory = location.appending(path: "crash-harness-\(UUID().uuidString)")
  try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
  defer { try? FileManager.default.removeItem(at: directory) }
  return try body(directory)
}
