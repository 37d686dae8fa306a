/// Returns " Did you mean …?", or an empty text if no name is similar.
func didYouMean(_ text: String, _ names: [String]) -> String {
  namesMeant(by: text, names).map { " Did you mean \($0)?" } ?? ""
}

/// Returns the similar names in quotation marks; nil if no name is similar.
func namesMeant(by text: String, _ names: [String]) -> String? {
  let near = nearNames(text, names).map(quoted)
  return near.isEmpty ? nil : near.joined(separator: " or ")
}

/// Returns at most three similar names, the most similar first.
func nearNames(_ text: String, _ names: [String]) -> [String] {
  let wanted = Array(text.folded)
  guard !wanted.isEmpty else { return [] }
  let limit = max(1, wanted.count / 3)
  let scored = Set(names).compactMap { name -> (distance: Int, name: String)? in
    let candidate = Array(name.folded)
    if candidate == wanted { return (0, name) }
    // A name that begins with the text is similar, whatever its length.
    if wanted.count > 2, candidate.starts(with: wanted) { return (1, name) }
    guard abs(candidate.count - wanted.count) <= limit else { return nil }
    let distance = editDistance(wanted, candidate)
    return distance <= limit ? (distance, name) : nil
  }
  return scored.sorted { ($0.distance, $0.name) < ($1.distance, $1.name) }.prefix(3).map(\.name)
}

/// Returns the number of characters to insert, delete or replace to turn one text into the other.
private func editDistance(_ first: [Character], _ second: [Character]) -> Int {
  var previous = Array(0...second.count)
  for (row, character) in first.enumerated() {
    var current = [row + 1]
    for (column, other) in second.enumerated() {
      let replaced = previous[column] + (character == other ? 0 : 1)
      current.append(min(replaced, previous[column + 1] + 1, current[column] + 1))
    }
    previous = current
  }
  return previous[second.count]
}
