/// What could not be done and what to do about it, in words for the person at the terminal.
struct Failure: Error, Hashable, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
