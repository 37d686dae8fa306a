import StoredObjectsCore

/// The differences between the cases of an enumeration in a store and in a model.
struct CaseComparison {
  private let old: StoredEnumeration
  private let new: StoredEnumeration

  /// Returns the comparisons of the enumerations in two types; none if one type has more of them.
  static func all(from old: StoredType, to new: StoredType) -> [CaseComparison] {
    let (first, second) = (old.enumerations, new.enumerations)
    guard first.count == second.count else { return [] }
    return zip(first, second).map { CaseComparison(old: $0, new: $1) }
  }

  /// The changes, each with its kind and a description.
  var changes: [(kind: DesignFinding.Kind, text: String)] {
    guard !old.cases.isEmpty, !new.cases.isEmpty else {
      return old.rawType == new.rawType
        ? [] : [(.change, "\(new.name) has other raw values. Values are converted.")]
    }
    var changes: [(DesignFinding.Kind, String)] = []
    let added = added
    if !added.isEmpty {
      changes.append((.change, "\(new.name) has the new \(Self.counted("case", added))."))
    }
    changes += renamed.map { (.change, "\($0) is now \($1).") }
    let removed = removed
    if !removed.isEmpty {
      changes.append(
        (
          .loss,
          """
          \(new.name) has lost the \(Self.counted("case", removed)). Objects with such a value \
          can't be read.
          """
        ))
    }
    let converted = converted
    if !converted.isEmpty {
      changes.append(
        (.change, "Other raw values: \(converted.joined(separator: ", ")). Values are converted."))
    }
    if changes.isEmpty, old.cases.map(\.name) != new.cases.map(\.name) {
      changes.append((.change, "The cases of \(new.name) have another order."))
    }
    return changes
  }

  /// The name in the model of a case of the store.
  private func present(_ name: String) -> String { new.formerNames[name] ?? name }

  private var added: [String] {
    let known = Set(old.cases.map { present($0.name) })
    return new.cases.map(\.name).filter { !known.contains($0) }
  }

  private var removed: [String] {
    let names = Set(new.cases.map(\.name))
    return old.cases.map(\.name).filter { !names.contains(present($0)) }
  }

  private var renamed: [(String, String)] {
    old.cases.compactMap { item in new.formerNames[item.name].map { (item.name, $0) } }
  }

  private var converted: [String] {
    let bytes = Dictionary(new.cases.map { ($0.name, $0.bytes) }) { first, _ in first }
    return old.cases.compactMap { item in
      let name = present(item.name)
      guard let new = bytes[name] else { return nil }
      return old.rawType == self.new.rawType && new == item.bytes ? nil : name
    }
  }

  private static func counted(_ noun: String, _ names: [String]) -> String {
    "\(names.count == 1 ? noun : noun + "s") \(names.joined(separator: ", "))"
  }
}

extension StoredType {
  /// The enumerations of the type, in order.
  fileprivate var enumerations: [StoredEnumeration] {
    parts.compactMap { if case .enumeration(let enumeration) = $0 { enumeration } else { nil } }
  }

  /// The type without the cases and raw values of its enumerations, and without names.
  var withoutCases: StoredType {
    switch self {
    case .optional(let wrapped): .optional(wrapped.withoutCases)
    case .array(let element): .array(element.withoutCases)
    case .set(let element): .set(element.withoutCases)
    case .dictionary(let key, let value):
      .dictionary(key: key.withoutCases, value: value.withoutCases)
    case .enumeration: .enumeration(StoredEnumeration(name: "", rawType: .bool, cases: []))
    default: withoutNames
    }
  }
}
