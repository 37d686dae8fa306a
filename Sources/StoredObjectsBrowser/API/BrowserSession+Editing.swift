import RecordBrowsing
import StoreEngine
import StoredObjectsCore

extension BrowserSession {
  private func writable() throws(BrowsingError) -> StoreEditor {
    if let editor { return editor }
    throw BrowsingError(
      .readOnly, "The store is open for reading only. Start stored-objects browse with --write.")
  }

  /// Makes the changes that a page has sent.
  func edit(_ call: APICall) throws -> StoredValue {
    let editor = try writable()
    let state = try source.state()
    return try view(of: editor.apply(EditReader(state).request(call.json())))
  }

  func undo(isRedo: Bool) throws -> StoredValue {
    let editor = try writable()
    return try view(of: isRedo ? editor.redo() : editor.undo())
  }

  private func view(of result: EditResult) throws -> StoredValue {
    let titles = editor?.titles
    return JSONView.dictionary([
      ("commit", result.commit.map { JSONView.number(Int($0)) }),
      ("title", .string(result.title)), ("ids", JSONView.list(result.ids.map { .string($0) })),
      ("cleared", JSONView.list(result.clearedIndexes.map { .string($0) })),
      ("undo", (titles?.undo).map { .string($0) }), ("redo", (titles?.redo).map { .string($0) }),
    ])
  }
}

/// Reads the changes in a request of the page.
private struct EditReader {
  private let state: BrowsedState

  init(_ state: BrowsedState) { self.state = state }

  func request(_ value: StoredValue) throws -> EditRequest {
    guard case .dictionary(let fields) = value, case .array(let actions)? = fields["actions"],
      !actions.isEmpty
    else { throw BrowsingError(.invalid, "The request has no actions.") }
    var confirmations: Set<EditRequest.Confirmation> = []
    if case .array(let texts)? = fields["confirm"] {
      for case .string(let text) in texts {
        if let known = EditRequest.Confirmation(rawValue: text) { confirmations.insert(known) }
      }
    }
    return EditRequest(try actions.map(action), confirmations: confirmations)
  }

  private func action(_ value: StoredValue) throws -> EditAction {
    guard case .dictionary(let fields) = value, let kind = fields.text("do") else {
      throw BrowsingError(.invalid, "An action has no kind.")
    }
    let version = fields.text("version")
    switch kind {
    case "insert":
      let known = try state.browsedClass(fields.text("class") ?? "")
      return .insert(className: known.name, values: try values(fields, known))
    case "delete": return .delete(try address(fields, "id"), version: version)
    case "set":
      let id = try address(fields, "id")
      return .set(
        id, version: version, values: try values(fields, state.browsedClass(id.className)))
    default: return try listAction(kind, fields, version)
    }
  }

  private func listAction(
    _ kind: String, _ fields: StoredValue.Fields, _ version: String?
  ) throws -> EditAction {
    let id = try address(fields, "id")
    guard let property = fields.text("property") else {
      throw BrowsingError(.invalid, "An action has no property.")
    }
    switch kind {
    case "add":
      return .insertReference(
        id, version: version, property: property, at: try index(fields, "at"),
        reference: try address(fields, "reference"))
    case "remove":
      return .removeReference(
        id, version: version, property: property, at: try index(fields, "at"))
    case "move":
      return .moveReference(
        id, version: version, property: property, from: try index(fields, "from"),
        to: try index(fields, "to"))
    default: throw BrowsingError(.invalid, "There is no action \"\(kind.prefix(40))\".")
    }
  }

  private func address(
    _ fields: StoredValue.Fields, _ name: String
  ) throws(BrowsingError) -> ObjectAddress {
    guard let text = fields.text(name), let address = ObjectAddress(text) else {
      throw BrowsingError(.invalid, "\"\(name)\" is not an ID, such as Song/42.")
    }
    return address
  }

  private func index(_ fields: StoredValue.Fields, _ name: String) throws(BrowsingError) -> Int {
    guard case .int(let number)? = fields[name], let index = Int(exactly: number), index >= 0 else {
      throw BrowsingError(.invalid, "\"\(name)\" is not a position in a list.")
    }
    return index
  }

  /// Returns the values of properties: null, or a text that a user has typed.
  private func values(
    _ fields: StoredValue.Fields, _ known: BrowsedClass
  ) throws -> [(name: String, value: StoredValue)] {
    guard case .dictionary(let values)? = fields["values"] else { return [] }
    return try values.map { name, value in
      guard let property = known.property(name) else {
        throw BrowsingError(.notFound, "\(known.name) has no property \"\(name)\".")
      }
      guard case .string(let text) = value else { return (name, .null) }
      return (name, try property.type.value(ofText: text, property: name))
    }
  }
}

extension StoredValue.Fields {
  fileprivate func text(_ name: String) -> String? {
    if case .string(let text)? = self[name] { text } else { nil }
  }
}
