import StoreEngine

/// Where each property of one layout is found in another, earlier one.
struct LayoutMapping {
  /// For each property of the newer layout, the index of the older one; nil for a new property.
  private(set) var sources: [Int?]

  /// A layout as it is.
  init(count: Int) { sources = (0..<count).map { $0 } }

  /// Finds properties by their names: a property that has a former name comes from there, unless
  /// the older layout knows its name of today.
  init(from old: [SavedLayout.SavedProperty], to new: [SavedLayout.SavedProperty]) {
    let positions = Dictionary(old.enumerated().map { ($1.name, $0) }) { first, _ in first }
    let names = Set(new.map(\.name))
    var taken: Set<Int> = []
    sources = new.map { property in
      guard positions[property.name] == nil else { return nil }
      let candidates = property.formerNames.compactMap { positions[$0] }
      let source =
        candidates.first { old[$0].succeeds(all: candidates.map { old[$0].name }) }
        ?? candidates.first { !names.contains(old[$0].name) } ?? candidates.first
      guard let source, taken.insert(source).inserted else { return nil }
      return source
    }
    for (index, property) in new.enumerated() where sources[index] == nil {
      guard let position = positions[property.name], taken.insert(position).inserted else {
        continue
      }
      sources[index] = position
    }
  }

  /// The mapping through a layout in between.
  func following(_ earlier: LayoutMapping) -> LayoutMapping {
    var mapping = self
    mapping.sources = sources.map { $0.flatMap { earlier.sources[$0] } }
    return mapping
  }
}

extension SavedLayout.SavedProperty {
  /// Whether all names but its own are some that it had before.
  fileprivate func succeeds(all names: [String]) -> Bool {
    names.count > 1 && names.allSatisfy { $0 == name || formerNames.contains($0) }
  }
}
