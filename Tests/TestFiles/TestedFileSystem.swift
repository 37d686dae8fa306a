package import Files

/// A file system that calls a test before each call, and reports each call that was made.
///
///     let files = TestedFileSystem { call, path in call == .sync ? EIO : nil }
///     let backend = try kind.open(directory, in: files)
///
/// Safe on any thread.
package final class TestedFileSystem: FileSystem {
  /// A closure that is called before a call; if it returns an `errno`, the call fails without being
  /// made.
  package typealias Plan = @Sendable (_ call: FileCall, _ path: String) -> Int32?
  /// A closure that is called after a call that has not failed.
  package typealias Witness = @Sendable (_ call: FileCall, _ path: String) -> Void

  private let plan: Plan
  private let witness: Witness?

  package init(witness: Witness? = nil, _ plan: @escaping Plan) {
    (self.plan, self.witness) = (plan, witness)
  }

  package func perform(
    _ call: FileCall, _ range: Range<Int>?, on path: @autoclosure () -> String, _ body: () -> Int
  ) throws(SystemError) -> Int {
    let path = path()
    if let number = plan(call, path) {
      throw SystemError(call: call.rawValue, path: path, number: number)
    }
    let result = try SystemFiles.shared.perform(call, range, on: path, body)
    witness?(call, path)
    return result
  }
}
