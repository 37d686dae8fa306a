import ArgumentParser
import Foundation
import StoredObjectsCore

/// A commit on the command line, given by its number or by a moment.
enum CommitArgument: ExpressibleByArgument {
  case number(UInt64)
  case moment(Date)

  init?(argument: String) {
    if let number = UInt64(argument) {
      self = .number(number)
    } else if let moment = try? Date(argument, strategy: .iso8601) {
      self = .moment(moment)
    } else {
      return nil
    }
  }

  /// Returns the number of the commit, or of the last one up to the moment.
  func number(in backend: any StoreBackend) throws -> UInt64 {
    switch self {
    case .number(let number): number
    case .moment(let moment): try backend.commitNumber(at: moment)
    }
  }
}
