import Foundation
import RecordBrowsing
import StoreEngine
import StoredObjectsCore

extension BrowserSession {
  /// Returns the classes of the store.
  func store(_ call: APICall) throws -> StoredValue {
    let state = try state(call)
    let titles = editor?.titles
    return JSONView.dictionary([
      ("name", .string(options.name)), ("location", .string(state.backend.location)),
      ("format", .string(options.format)), ("canWrite", .bool(editor != nil)),
      ("canCheck", .bool(options.check != nil)),
      ("commit", JSONView.number(Int(state.number))), ("hasHistory", .bool(state.hasHistory)),
      ("undo", (titles?.undo).map { .string($0) }), ("redo", (titles?.redo).map { .string($0) }),
      ("classes", JSONView.list(try state.classes.map { try description(of: $0, state) })),
    ])
  }

  private func description(of known: BrowsedClass, _ state: BrowsedState) throws -> StoredValue {
    let indexes = try state.indexNames(of: known)
    return JSONView.dictionary([
      ("name", .string(known.name)), ("count", JSONView.number(known.objectCount)),
      ("bytes", state.fileSize(of: known).map(JSONView.number)),
      ("id", known.metadata.map { JSONView.number(Int($0.classID)) }),
      ("lastRow", known.metadata.map { JSONView.number(Int($0.lastRowID)) }),
      ("note", known.note.map { .string($0) }), ("isDamaged", .bool(known.damage != nil)),
      ("layouts", JSONView.number(known.layouts.count)),
      ("title", known.titleProperty.map { .string($0) }),
      ("hasTexts", .bool(try state.hasTextIndex(known))),
      (
        "properties",
        JSONView.list(known.properties.map { JSONView.property($0, index: indexes[$0.name]) })
      ),
    ])
  }

  /// Returns a page of a table.
  func rows(_ call: APICall) throws -> StoredValue {
    let state = try state(call)
    var query = BrowsedQuery(try call.text("class"))
    query.condition = call.query["where"]
    query.limit = call.number("limit", in: 1...1000, default: 100)
    query.cursor = call.query["cursor"].flatMap { $0.isEmpty ? nil : $0 }
    if let order = call.query["sort"], !order.isEmpty {
      query.isDescending = order.hasPrefix("-")
      query.order = query.isDescending ? String(order.dropFirst()) : order
    }
    let page = try state.page(query)
    return JSONView.dictionary([
      ("commit", JSONView.number(Int(state.number))),
      (
        "rows",
        JSONView.list(
          page.rows.map { row in
            JSONView.dictionary([
              ("id", .string(row.id)), ("row", JSONView.number(Int(row.rowID))),
              ("damage", row.damage.map { .string($0) }),
              ("cells", JSONView.list(row.cells.map(JSONView.cell))),
            ])
          })
      ),
      ("cursor", page.cursor.map { .string($0) }), ("lookedAt", JSONView.number(page.lookedAt)),
      ("isInterrupted", .bool(page.isInterrupted)), ("plan", .string(page.plan)),
    ])
  }

  func list(_ call: APICall) throws -> StoredValue {
    let (items, count) = try state(call).list(
      call.address(), call.text("property"), from: call.number("from", in: 0...Int.max, default: 0),
      limit: call.number("limit", in: 1...500, default: 50))
    return JSONView.dictionary([
      ("items", JSONView.list(items.map(JSONView.cell))), ("count", JSONView.number(count)),
    ])
  }

  func text(_ call: APICall) throws -> StoredValue {
    let part = try state(call).text(
      call.address(), call.text("property"), from: call.number("from", in: 0...Int.max, default: 0),
      limit: call.number("limit", in: 1...1_048_576, default: 65_536))
    return JSONView.dictionary([
      ("text", .string(part.text)), ("next", part.next.map(JSONView.number)),
      ("bytes", JSONView.number(part.byteCount)),
    ])
  }

  func referrers(_ call: APICall) throws -> StoredValue {
    let page = try state(call).referrers(
      of: call.address(), cursor: call.query["cursor"],
      limit: call.number("limit", in: 1...500, default: 50), time: .milliseconds(400))
    return JSONView.dictionary([
      (
        "referrers",
        JSONView.list(
          page.referrers.map {
            JSONView.dictionary([
              ("property", .string($0.property)), ("value", JSONView.cell($0.cell)),
            ])
          })
      ),
      ("cursor", page.cursor.map { .string($0) }), ("done", JSONView.number(page.progress.done)),
      ("of", JSONView.number(page.progress.of)),
    ])
  }

  func search(_ call: APICall) throws -> StoredValue {
    let page = try state(call).search(
      call.query["q"] ?? "", in: call.query["class"].flatMap { $0.isEmpty ? nil : $0 },
      cursor: call.query["cursor"], limit: call.number("limit", in: 1...500, default: 50),
      time: .milliseconds(400))
    return JSONView.dictionary([
      (
        "hits",
        JSONView.list(
          page.hits.map { hit in
            JSONView.dictionary([
              ("id", .string(hit.id)), ("title", .string(hit.title)),
              ("property", hit.property.map { .string($0) }),
              ("snippet", hit.snippet.map { .string($0) }),
            ])
          })
      ),
      ("cursor", page.cursor.map { .string($0) }), ("done", JSONView.number(page.progress.done)),
      ("of", JSONView.number(page.progress.of)),
      ("indexed", JSONView.list(page.indexed.map { .string($0) })),
      ("indexedCount", JSONView.number(page.indexedCount)),
    ])
  }

  // MARK: History

  func history(_ call: APICall) throws -> StoredValue {
    let (commits, next) = try state(call).commits(
      before: call.query["before"].flatMap { UInt64($0) },
      limit: call.number("limit", in: 1...500, default: 50))
    return JSONView.dictionary([
      (
        "commits",
        JSONView.list(
          commits.map { commit in
            JSONView.dictionary([
              ("number", JSONView.number(Int(commit.number))),
              ("time", JSONView.time(commit.time)), ("author", .string(commit.author)),
              ("counts", JSONView.list(commit.counts.map(Self.counts))),
            ])
          })
      ), ("next", next.map { JSONView.number(Int($0)) }),
    ])
  }

  private static func counts(
    _ counts: (className: String, inserted: Int, updated: Int, deleted: Int)
  ) -> StoredValue {
    JSONView.dictionary([
      ("class", .string(counts.className)), ("inserted", JSONView.number(counts.inserted)),
      ("updated", JSONView.number(counts.updated)), ("deleted", JSONView.number(counts.deleted)),
    ])
  }

  /// The number of objects, and of characters of a value, that are shown of a commit.
  private static let shownChanges = 200
  private static let shownCharacters = 300

  func commit(_ call: APICall) throws -> StoredValue {
    guard let number = UInt64(try call.text("number")) else {
      throw BrowsingError(.invalid, "The number of a commit is missing.")
    }
    let commit = try state(call).commit(number)
    return JSONView.dictionary([
      ("number", JSONView.number(Int(commit.commit.number))),
      ("time", JSONView.time(commit.commit.time)), ("author", .string(commit.commit.author)),
      ("count", JSONView.number(commit.changes.count)),
      ("changes", JSONView.list(commit.changes.prefix(Self.shownChanges).map(Self.change))),
    ])
  }

  private static func change(_ change: HistoryChange) -> StoredValue {
    let properties = change.changedProperties.map { name in
      JSONView.dictionary([
        ("name", .string(name)), ("old", (change.old?[name]).map(shortened)),
        ("new", (change.new?[name]).map(shortened)),
      ])
    }
    return JSONView.dictionary([
      ("id", .string("\(change.id)")), ("kind", .string(change.kind.rawValue)),
      ("properties", JSONView.list(properties)),
    ])
  }

  private static func shortened(_ value: StoredValue) -> StoredValue {
    var bytes: [UInt8] = []
    let text: String
    if case .string(let string) = value {
      text = string
    } else {
      try? JSONWriter.append(value, to: &bytes)
      text = String(decoding: bytes, as: UTF8.self)
    }
    return .string(text.prefix(shownCharacters) + (text.count > shownCharacters ? "…" : ""))
  }
}
