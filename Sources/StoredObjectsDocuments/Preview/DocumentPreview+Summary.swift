import FoundationEssentials
public import StoredObjectsCore

extension DocumentPreview {
  /// Returns a preview that suits any document: the numbers of objects, and the first of them.
  ///
  /// The SVG picture is a card with the classes and their numbers of objects. The PNG picture, of
  /// 256 times 256 pixels, has bars instead of texts and numbers. The text has the strings of the
  /// objects, at most 64 KiB. Classes whose properties are not known to the library, which are
  /// those written by hand without a layout, only have their numbers.
  ///
  /// Complexity: constant, but for the counts of the classes.
  ///
  /// - Parameters:
  ///   - store: The store to read.
  ///   - type: The type of the document.
  ///   - title: The name of the document.
  /// - Returns: The preview, with all four parts.
  /// - Throws: `StoreError` for objects that can't be read.
  public static func summary(
    of store: Store, as type: DocumentType, title: String
  ) throws -> DocumentPreview {
    var classes: [ClassSummary] = []
    var text = SummaryText(title)
    for `class` in type.classes {
      classes.append(try ClassSummary(of: `class`, in: store, &text))
    }
    return DocumentPreview(
      svg: card(title, type, classes),
      png: SummaryThumbnail.png(of: type.identifier, counts: classes.map(\.count)),
      html: page(title, type, classes), text: text.text)
  }

  // MARK: SVG

  private static func card(
    _ title: String, _ type: DocumentType, _ classes: [ClassSummary]
  ) -> String {
    let lines = classes.prefix(7).enumerated().map { index, summary in
      let y = 112 + 20 * index
      return """
          <text x="36" y="\(y)">\(escaped(summary.name, limit: 20))</text>
          <text x="220" y="\(y)" text-anchor="end">\(summary.count)</text>

        """
    }
    return """
      <svg xmlns="http://www.w3.org/2000/svg" width="256" height="256" viewBox="0 0 256 256">
        <path d="M24 8h160l48 48v192H24z" fill="#fff" stroke="#8a8f98" stroke-width="2"/>
        <path d="M184 8v48h48z" fill="#e3e6ea" stroke="#8a8f98" stroke-width="2"/>
        <g font-family="sans-serif" font-size="14" fill="#2e3436">
          <text x="36" y="64" font-size="18" font-weight="bold">\(escaped(title, limit: 16))</text>
          <text x="36" y="84" fill="#6b7078">\(escaped(type.name, limit: 24))</text>
      \(lines.joined())  </g>
      </svg>

      """
  }

  // MARK: HTML

  private static func page(
    _ title: String, _ type: DocumentType, _ classes: [ClassSummary]
  ) -> String {
    """
    <!DOCTYPE html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta http-equiv="Content-Security-Policy" content="default-src 'none'">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>\(escaped(title))</title>
    </head>
    <body>
    <h1>\(escaped(title))</h1>
    <p>\(escaped(type.name))</p>
    \(classes.map(\.section).joined())</body>
    </html>

    """
  }
}

/// The number of the objects of a class, and the first of them.
private struct ClassSummary {
  static let rowCount = 20
  static let columnCount = 8

  let name: String
  let count: Int
  private var objects: [ObjectValue] = []

  init(
    of type: StoredObject.Type, in store: Store, _ text: inout SummaryText
  ) throws {
    name = type.storedName
    count = try store.count(of: type)
    var cursor = try store.cursor(over: type)
    while text.hasRoom || objects.count < Self.rowCount, let object = try cursor.next() {
      let value = try object.value()
      // The properties of such a class are not known.
      if value.bytes != nil { break }
      if objects.count < Self.rowCount { objects.append(value) }
      text.add(value)
    }
  }

  var section: String {
    let heading = "<h2>\(escaped(name)) (\(count))</h2>\n"
    let columns = Array(Set(objects.flatMap { $0.values.map(\.key) }).sorted())
      .prefix(Self.columnCount)
    if columns.isEmpty { return heading }
    let head = columns.map { "<th>\(escaped($0))</th>" }.joined()
    let rows = objects.map { object in
      let cells = columns.map { "<td>\(escaped(object[$0]?.summary ?? ""))</td>" }
      return "<tr>\(cells.joined())</tr>\n"
    }
    return """
      \(heading)<table border="1" cellpadding="4">
      <tr>\(head)</tr>
      \(rows.joined())</table>

      """
  }
}

/// The strings of a document, up to a limit.
private struct SummaryText {
  static let limit = 64 << 10

  private(set) var text: String

  init(_ title: String) { text = printable(title, limit: 1000) + "\n" }

  var hasRoom: Bool { text.utf8.count < Self.limit }

  mutating func add(_ value: ObjectValue) {
    for (_, value) in value.values.sorted(by: { $0.key < $1.key }) { add(value) }
  }

  private mutating func add(_ value: StoredValue) {
    guard hasRoom else { return }
    switch value {
    case .string(let string):
      // References are of no use to readers.
      if string.isEmpty || ObjectID<StoredObject>(string) != nil { return }
      text += String(string.unicodeScalars.prefix(Self.limit - text.utf8.count)) + "\n"
    case .array(let elements): for element in elements { add(element) }
    case .dictionary(let fields): for (_, value) in fields { add(value) }
    default: return
    }
  }
}

extension StoredValue {
  /// A short text for a table.
  fileprivate var summary: String {
    switch self {
    case .null: ""
    case .bool(let value): value ? "yes" : "no"
    case .int(let value): "\(value)"
    case .unsigned(let value): "\(value)"
    case .double(let value): "\(value)"
    case .string(let text): text
    case .data(let data): "\(data.count) bytes"
    case .date(let date): date.formatted(.iso8601)
    case .array(let elements): "\(elements.count) values"
    case .dictionary(let fields): "\(fields.count) values"
    }
  }
}
