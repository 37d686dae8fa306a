import Foundation

extension TestServer {
  /// Runs a program, waits for its end, and returns what it has written.
  ///
  /// Its output goes to a file. A pipe ends only when all processes that have it have ended, and
  /// processes that other threads start at the same moment inherit it: an exit test, for example.
  /// `Process` has the same problem with the socket by which it waits.
  ///
  /// - Throws: ``Unavailable`` if the program does not exist or fails.
  package static func output(_ program: String, _ arguments: [String]) throws -> String {
    let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: file) }
    guard let process = spawn([program] + arguments, output: file.path), wait(for: process) == 0
    else { throw Unavailable(description: "\(program) fails") }
    return try String(decoding: Data(contentsOf: file), as: UTF8.self)
      .trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// Starts a program, which is looked for in the folders of `PATH`.
  ///
  /// - Returns: The ID of its process; nil if it could not be started.
  private static func spawn(_ words: [String], output: String) -> pid_t? {
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    unsafe posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_EXCL, 0o600)
    unsafe posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    // Some threads block signals, and the program would, too.
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    unsafe sigemptyset(&none)
    unsafe posix_spawnattr_setsigmask(&attributes, &none)
    unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    let strings = unsafe words.map { unsafe strdup($0) } + [nil]
    defer { unsafe strings.forEach { unsafe free($0) } }
    var process: pid_t = 0
    let status = unsafe posix_spawnp(
      &process, words[0], &actions, &attributes, strings, environ)
    return status == 0 ? process : nil
  }

  /// Waits for the end of a process, and returns its status.
  private static func wait(for process: pid_t) -> Int32 {
    var status: Int32 = 0
    while unsafe waitpid(process, &status, 0) < 0 {
      guard errno == EINTR else { return -1 }
    }
    return status
  }
}
