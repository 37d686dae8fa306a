import StoreEngine

/// A mapping from the properties of one layout to those of an earlier layout.
struct LayoutMapping {
  /// The index of the older property for each property of the newer layout; nil for a new one.
  private(set) var sources: [Int?]

  /// Creates an identity mapping.
  init(count: Int) { sources = (0..<count).map { $0 } }

  /// Maps properties by their names.
  ///
  /// A property with former names maps to one of them, unless the older layout has its current
  /// name.
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

  /// Returns the mapping to an earlier layout, through a layout in between.
  func following(_ earlier: LayoutMapping) -> LayoutMapping {
    var mapping = self
    mapping.sources = sources.map { $0.flatMap { earlier.sources[$0] } }
    return mapping
  }
}

extension SavedLayout.SavedProperty {
  /// Returns whether all names except its own are former names of the property.
  fileprivate func succeeds(all names: [String]) -> Bool {
    names.count > 1 && names.allSatisfy { $0 == name || formerNames.contains($0) }
  }
}
