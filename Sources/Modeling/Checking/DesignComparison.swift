package import RecordBrowsing
import StoredObjectsCore

extension ModelDesign {
  /// Creates the model of a store, as far as its layouts, indexes and objects show it.
  ///
  /// A store does not keep defaults, superclasses, delete rules, and which indexes are unique.
  /// Inverses show in the references of objects.
  ///
  /// Complexity: linear in the number of properties; some objects are read.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` with `ioError` or `damaged`.
  package init(of state: BrowsedState) throws {
    let layouts = ModelDesign(layoutsOf: state)
    let names = SwiftTypes(layouts)
    self.init(
      try state.classes.map {
        try DesignedClass(names.className($0.name), $0, state)
      })
  }

  /// Creates the model of the newest layouts of a store, without indexes and inverses.
  package init(layoutsOf state: BrowsedState) {
    self.init(
      state.classes.map {
        DesignedClass(
          storedName: $0.name, properties: $0.properties.map(DesignedProperty.init))
      })
  }

  /// Returns what opening a store would do if its program had the classes of this model.
  ///
  /// Complexity: linear in the number of properties of all layouts.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` with `ioError` or `damaged`.
  package func effects(on state: BrowsedState) throws -> [DesignFinding] {
    let known = Dictionary(state.classes.map { ($0.name, $0) }) { first, _ in first }
    var findings: [DesignFinding] = []
    for designed in classes {
      guard let old = known[designed.storedName] else {
        findings.append(
          .init(.change, "\(designed.name) is a new class.", in: designed.name))
        continue
      }
      findings += try ClassComparison(designed, old, state).findings
    }
    let names = Set(classes.map(\.storedName))
    findings += state.classes.filter { !names.contains($0.name) }.map(Self.missing)
    if findings.isEmpty {
      findings.append(.init(.same, "The store opens as it is, and nothing changes."))
    }
    return findings
  }

  private static func missing(_ known: BrowsedClass) -> DesignFinding {
    .init(
      .change,
      """
      \(known.name) is not in the model. Its \(objects(known.objectCount)) in the store, and the \
      program can't read them. To remove them, run stored-objects migrate --retire.
      """, in: known.name)
  }

  private static func objects(_ count: Int) -> String {
    count == 1 ? "1 object stays" : "\(count) objects stay"
  }
}

extension DesignedClass {
  fileprivate init(_ name: String, _ known: BrowsedClass, _ state: BrowsedState) throws {
    self.init(
      name, storedName: known.name,
      version: known.layouts.last?.classVersion ?? known.metadata?.classVersion ?? 0,
      properties: known.properties.map(DesignedProperty.init), note: known.note)
    let indexed = try state.indexedProperties(of: known)
    let texts = Set(try state.fullTextProperties(of: known))
    let names = known.sourceNames
    for (position, property) in properties.enumerated() {
      let folded = indexed.filter { $0.name == property.name }.map(\.isFolded)
      let index: DesignedProperty.Index =
        folded.contains(false) ? .plain : folded.contains(true) ? .folded : .none
      properties[position].index = property.type.isIndexable ? index : .none
      properties[position].isFullText = texts.contains(property.name) && property.type.isTextOrNil
      if let inverse = try state.inverse(of: property.name, known),
        let target = property.type.target, let other = try? state.browsedClass(target.className)
      {
        properties[position].inverse = other.sourceNames[inverse]
      }
      if let name = names[property.name], name != property.name {
        properties[position].name = name
        properties[position].formerNames.append(property.name)
      }
    }
    compoundIndexes = try state.compoundIndexes(of: known).map { $0.map { names[$0] ?? $0 } }
  }
}

extension BrowsedClass {
  /// The names that properties can have in the source, by their names in the store.
  fileprivate var sourceNames: [String: String] {
    var names = SwiftNames(reserved: SwiftNames.objectMembers)
    return Dictionary(properties.map { ($0.name, names.add($0.name)) }) { first, _ in first }
  }
}

/// The differences between a class of a model and a class of a store.
private struct ClassComparison {
  private let designed: DesignedClass
  private let old: BrowsedClass
  private let state: BrowsedState

  init(_ designed: DesignedClass, _ old: BrowsedClass, _ state: BrowsedState) {
    (self.designed, self.old, self.state) = (designed, old, state)
  }

  var findings: [DesignFinding] {
    get throws {
      if let damage = old.damage { return [finding(.error, nil, damage)] }
      do throws(StoreError) {
        let preview = try LayoutPreview(
          of: old.name, version: designed.version,
          properties: designed.properties.map(SavedLayout.SavedProperty.init),
          metadata: old.metadata, saved: old.layouts)
        return changes(preview) + (try indexChanges())
      } catch {
        guard error.code == .changedLayout else { throw error }
        return [finding(.error, nil, error.message)]
      }
    }
  }

  private func finding(
    _ kind: DesignFinding.Kind, _ property: String?, _ text: String
  ) -> DesignFinding { .init(kind, text, in: designed.name, property: property) }

  private func changes(_ preview: LayoutPreview) -> [DesignFinding] {
    var findings: [DesignFinding] = []
    if preview.isOutdated {
      let next = Int(old.layouts.map(\.classVersion).max() ?? designed.version) + 1
      findings.append(
        finding(
          .error, nil,
          """
          The store already has other properties of \(designed.name) after these, so a save would \
          throw newerVersion. If you want to go back to them, use version \(next).
          """))
    }
    guard let difference = preview.difference else { return findings }
    for (property, source) in zip(designed.properties, difference.sources) {
      if let text = Self.change(property, source) {
        findings.append(finding(.change, property.name, text))
      }
      for cases in source.map({ CaseComparison.all(from: $0.type, to: property.type) }) ?? [] {
        findings += cases.changes.map { kind, text in
          finding(kind, property.name, "\(property.name): \(text)")
        }
      }
    }
    findings += difference.removed.map {
      finding(
        .loss, $0.name,
        "\($0.name) is gone. Each object loses its value when it is saved the next time.")
    }
    if preview.addsLayout, !preview.isOutdated, !preview.convertedNumbers.isEmpty {
      let count = old.objectCount
      findings.append(
        finding(
          .change, nil,
          """
          The \(count == 1 ? "object is" : "\(count) objects are") converted when read, and written \
          in the new form when saved. The store needs no migration.
          """))
    }
    return findings
  }

  private static func change(
    _ property: DesignedProperty, _ source: SavedLayout.SavedProperty?
  ) -> String? {
    guard let source else {
      return "\(property.name) is new. Objects of the store have the default of the class."
    }
    var changes: [String] = []
    if source.name != property.name { changes.append("was named \(source.name)") }
    if source.type.withoutCases != property.type.withoutCases {
      changes.append("was \(source.type); values are converted")
    }
    return changes.isEmpty ? nil : "\(property.name) \(changes.joined(separator: ", and "))."
  }

  private func indexChanges() throws(StoreError) -> [DesignFinding] {
    let indexed = try state.indexedProperties(of: old)
    var existing = Set(indexed.map { $0.isFolded ? "folded \($0.name)" : $0.name })
    existing.formUnion(try state.compoundIndexes(of: old).map(DesignedClass.indexName))
    let named = designed.properties.compactMap { property in
      property.indexName.map { (name: $0, property: Optional(property.name)) }
    }
    let compound = designed.compoundIndexes.map {
      (name: DesignedClass.indexName($0), property: String?.none)
    }
    var findings = (named + compound).filter { !existing.contains($0.name) }.map { index in
      finding(
        .change, index.property,
        "The index \"\(index.name)\" is new. The first search or save builds it from all objects.")
    }
    let texts = Set(try state.fullTextProperties(of: old))
    let wanted = Set(designed.properties.filter(\.isFullText).map(\.name))
    if texts != wanted, !wanted.isEmpty {
      findings.append(
        finding(
          .change, nil,
          "The full-text index is new. The first search or save builds it from all objects."))
    }
    return findings
  }
}

extension SavedLayout.SavedProperty {
  fileprivate init(_ property: DesignedProperty) {
    self.init(name: property.name, type: property.type, formerNames: property.formerNames)
  }
}
