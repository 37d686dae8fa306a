// What is typed at a terminal and is nobody else's business.

#if canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// Whether the standard input is a terminal, with somebody at it.
package var isAtTerminal: Bool { isatty(STDIN_FILENO) == 1 }

/// Reads a line that is not shown while it is typed.
///
/// What was typed before the question is dropped: it has been shown. Without a terminal it is any
/// line.
///
/// - Parameter question: Goes to the standard error.
/// - Returns: the line without its end; nil when there is none, or when the terminal would show it.
package func readHiddenLine(_ question: String) -> String? {
  guard isAtTerminal else { return readLine() }
  var shown = termios()
  guard unsafe tcgetattr(STDIN_FILENO, &shown) == 0 else { return nil }
  var hidden = shown
  hidden.c_lflag &= ~tcflag_t(ECHO)
  guard unsafe tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden) == 0 else { return nil }
  defer {
    _ = unsafe tcsetattr(STDIN_FILENO, TCSAFLUSH, &shown)
    say("\n")
  }
  say(question)
  return readLine()
}

private func say(_ text: String) {
  let bytes = Array(text.utf8)
  _ = unsafe bytes.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
}
