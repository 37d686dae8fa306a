/// A table of text in aligned columns.
struct Table {
  struct Column {
    var title: String
    var isNumeric = false
  }

  /// The maximum width of a column.
  ///
  /// A longer text shifts the rest of its row only, so one long title does not widen all rows.
  private static let widthLimit = 44

  private let columns: [Column]
  private var rows: [[String]] = []

  init(_ columns: Column...) { self.columns = columns }

  /// Adds a row with a text for each column.
  mutating func add(_ texts: String...) { rows.append(texts.map(\.forTerminal)) }

  /// The lines of the table; the first has the titles.
  var lines: [String] {
    let all = [columns.map(\.title)] + rows
    let widths = columns.indices.map { index in
      all.reduce(0) { max($0, min(Self.widthLimit, $1[index].columnCount)) }
    }
    return all.map { line($0, widths) }
  }

  private func line(_ texts: [String], _ widths: [Int]) -> String {
    var line = columns.indices.map { index in
      columns[index].isNumeric
        ? texts[index].paddedInFront(to: widths[index]) : texts[index].padded(to: widths[index])
    }.joined(separator: "  ")
    while line.hasSuffix(" ") { line.removeLast() }
    return line
  }
}
