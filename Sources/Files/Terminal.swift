// Reading secrets from a terminal.

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// Whether the standard input is a terminal.
package var isAtTerminal: Bool { isatty(STDIN_FILENO) == 1 }

/// Reads a line that is not shown while it is typed.
///
/// Text typed before the question is dropped, because it has been shown. Without a terminal the
/// function reads an ordinary line.
///
/// - Parameter question: The prompt, written to the standard error.
/// - Returns: The line without its end; nil if there is none, or if the terminal would show it.
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
