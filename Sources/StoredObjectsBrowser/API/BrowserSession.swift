import Locks
package import RecordBrowsing
package import StoreEngine

/// A store that is shown: its states, its edits, and what the page has asked for.
///
/// Safe on any thread.
package final class BrowserSession: Sendable {
  /// The options of a session.
  package struct Options: Sendable {
    /// The name of the store for its user.
    package var name: String
    /// The format, such as "tokyo-cabinet".
    package var format: String
    /// Reads everything and returns what is wrong; nil if the store can't be checked.
    package var check: (@Sendable () throws -> StoreCheck)?

    /// Creates options.
    package init(
      name: String, format: String, check: (@Sendable () throws -> StoreCheck)? = nil
    ) { (self.name, self.format, self.check) = (name, format, check) }
  }

  let options: Options
  let source: any StateSource
  let editor: StoreEditor?
  let samples = Locked(LiveSamples())
  let checking = SharedLock(Checking.idle)
  private let past = Locked<[(number: UInt64, state: BrowsedState)]>([])

  /// The state of a check.
  enum Checking: Sendable {
    case idle
    case running
    case done(StoreCheck, at: Double)
    case failed(String)
  }

  /// Creates a session.
  ///
  /// - Parameters:
  ///   - source: The store.
  ///   - editor: The editor of the store; nil to show it only.
  ///   - options: The options.
  package init(_ source: any StateSource, editor: StoreEditor?, options: Options) {
    (self.source, self.editor, self.options) = (source, editor, options)
  }

  /// Releases the files of the store.
  package func close() { source.close() }

  /// The number of earlier states that are kept.
  private static let pastCount = 2

  /// Returns the newest state, or the one that a call names.
  func state(_ call: APICall) throws -> BrowsedState {
    let newest = try source.state()
    guard let text = call.query["asOf"], !text.isEmpty else { return newest }
    guard let number = UInt64(text) else {
      throw BrowsingError(.invalid, "\"\(text.prefix(40))\" is not the number of a commit.")
    }
    if let known = past.withLock({ $0.first { $0.number == number }?.state }) { return known }
    let state = try newest.state(asOf: number)
    past.withLock { past in
      past.append((number, state))
      if past.count > Self.pastCount { past.removeFirst() }
    }
    return state
  }

  /// Answers a call.
  package func respond(to call: APICall) -> APIResponse {
    do {
      return APIResponse(try value(for: call))
    } catch let error as BrowsingError {
      return response(to: error)
    } catch let error as StoreError {
      let status = error.code == .conflict ? 409 : 500
      return .error("\(error)", kind: "\(error.code)", status: status)
    } catch {
      return .error("\(error)", status: 500)
    }
  }

  private func response(to error: BrowsingError) -> APIResponse {
    var more: [String: StoredValue] = [:]
    if let position = error.position { more["position"] = .int(Int64(position)) }
    if let confirmation = error.confirmation { more["confirmation"] = .string(confirmation) }
    if error.kind == .conflict, let id = error.id {
      more["id"] = .string(id)
      if let address = ObjectAddress(id), let state = try? source.state(),
        let view = try? state.object(address)
      {
        more["object"] = JSONView.object(view)
      }
    }
    let status =
      switch error.kind {
      case .notFound: 404
      case .invalid: 400
      case .readOnly: 403
      case .conflict, .unconfirmed, .refused: 409
      }
    return .error(error.description, kind: error.kind.rawValue, status: status, more)
  }

  private func value(for call: APICall) throws -> StoredValue {
    if call.isPost {
      switch call.path {
      case "edit": return try edit(call)
      case "undo": return try undo(isRedo: false)
      case "redo": return try undo(isRedo: true)
      case "check": return try startCheck()
      case "design": return try examine(call)
      default: break
      }
    } else {
      switch call.path {
      case "store": return try store(call)
      case "rows": return try rows(call)
      case "object": return JSONView.object(try state(call).object(call.address()))
      case "list": return try list(call)
      case "text": return try text(call)
      case "referrers": return try referrers(call)
      case "search": return try search(call)
      case "history": return try history(call)
      case "commit": return try commit(call)
      case "health": return try health(call)
      case "live": return try live()
      case "design": return try design(call)
      default: break
      }
    }
    throw BrowsingError(.notFound, "There is nothing at this address.")
  }
}
