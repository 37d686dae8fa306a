import Foundation

/// A program in the same directory, which is built separately because of a library that it needs.
package struct SiblingProgram: Sendable {
  private let name: String
  private let need: (what: String, package: String)

  /// Creates a program with a name.
  ///
  /// - Parameters:
  ///   - name: The name of the program's file, and of its product.
  ///   - need: The library that the program needs, and its Debian package.
  package init(name: String, need: (what: String, package: String)) {
    (self.name, self.need) = (name, need)
  }

  /// A program that opens stores on PostgreSQL.
  package static func postgreSQL(_ name: String) -> SiblingProgram {
    SiblingProgram(name: name, need: ("libpq", "libpq-dev"))
  }

  private var missing: AddressFailure {
    AddressFailure(
      description: """
        \(name) is not in the directory of this program. It needs \(need.what), and is built \
        separately: apt-get install \(need.package), then swift build --product \(name)
        """)
  }

  /// Runs the program, and exits with its exit code.
  ///
  /// - Throws: ``AddressFailure`` if the program is missing, and errors of starting it.
  package func run(_ arguments: [String]) throws -> Never {
    let own = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    let program = own.deletingLastPathComponent().appendingPathComponent(name)
    guard FileManager.default.isExecutableFile(atPath: program.path) else { throw missing }
    let process = Process()
    process.executableURL = program
    process.arguments = arguments
    try process.run()
    process.waitUntilExit()
    exit(process.terminationReason == .exit ? process.terminationStatus : 1)
  }
}
