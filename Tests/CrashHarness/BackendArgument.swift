import ArgumentParser
import TestedBackends

/// Every backend that a crash leaves something of.
extension TestedBackend: ExpressibleByArgument {
  package static var allValueStrings: [String] { onDisk.map(\.rawValue) }

  package init?(argument: String) {
    guard let backend = Self.onDisk.first(where: { $0.rawValue == argument }) else { return nil }
    self = backend
  }
}
