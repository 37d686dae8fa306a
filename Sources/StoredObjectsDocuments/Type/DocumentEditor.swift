import Files
public import FoundationEssentials

/// The process that has a document open for editing.
public struct DocumentEditor: Hashable, Sendable {
  /// The process ID on its machine.
  public var processID: Int32
  /// The name of the machine; nil if unknown.
  public var host: String?
  /// The name of the program; nil if unknown.
  public var program: String?
  /// The time at which the document was opened; nil if unknown.
  public var since: Date?

  /// Creates the description of a process.
  public init(
    processID: Int32, host: String? = nil, program: String? = nil, since: Date? = nil
  ) {
    (self.processID, self.host, self.program) = (processID, host, program)
    self.since = since
  }

  /// The calling process.
  static var current: DocumentEditor {
    let process = ProcessInfo.processInfo
    return DocumentEditor(
      processID: process.processIdentifier, host: hostName, program: process.processName,
      since: .now)
  }

  private static var hostName: String? {
    let bytes = try? firstBytes(of: "/proc/sys/kernel/hostname", count: 256)
    let name = String(decoding: (bytes ?? []).prefix { $0 > 32 }, as: UTF8.self)
    return name.isEmpty ? nil : name
  }
}

extension DocumentEditor: Codable {}

extension DocumentEditor: CustomStringConvertible {
  /// The process, as in "sketch (process 1234 on ann-laptop)".
  public var description: String {
    let place = host.map { " on \($0)" } ?? ""
    guard let program else { return "process \(processID)\(place)" }
    return "\(program) (process \(processID)\(place))"
  }
}
