package import StoredObjectsCore

/// A reader of the cases that a user types, such as `calm, loud = "LOUD"`.
package struct CaseReader {
  package typealias Failure = TypeReader.Failure

  private let rawType: StoredType

  /// Creates a reader of cases with raw values of a type: a text or a number.
  package init(rawType: StoredType) { self.rawType = rawType }

  private static let maximumCount = 1000
  private static let maximumLength = 100_000

  /// Returns the cases that a text names, in order.
  ///
  /// A case without a raw value has its name as the raw value. If raw values are integers, it has
  /// the one after that of the case before, starting with 0.
  ///
  /// Complexity: linear in the length of the text, at most 100,000 bytes.
  ///
  /// - Throws: ``TypeReader/Failure``.
  package func cases(_ text: String) throws(Failure) -> [StoredEnumeration.Case] {
    guard text.utf8.count <= Self.maximumLength else {
      throw Failure(description: "The cases have at most \(Self.maximumLength) characters.")
    }
    var scanner = CaseScanner(text)
    var cases: [StoredEnumeration.Case] = []
    var names: Set<String> = []
    var values: [RawValue: String] = [:]
    var last: RawValue?
    while let item = try scanner.next() {
      try check(item.name, &names)
      let value =
        if let token = item.value { try read(token, item.name) } else {
          try next(after: last, item.name)
        }
      if let other = values.updateValue(item.name, forKey: value) {
        throw Failure(description: "\(other) and \(item.name) have the same raw value \(value).")
      }
      cases.append(.init(name: item.name, bytes: value.bytes(rawType)))
      last = value
      guard cases.count <= Self.maximumCount else {
        throw Failure(description: "An enumeration has at most \(Self.maximumCount) cases.")
      }
    }
    guard !cases.isEmpty else {
      throw Failure(
        description: """
          The enumeration has no cases. Write their names with commas, such as calm, loud.
          """)
    }
    return cases
  }

  private func check(_ name: String, _ names: inout Set<String>) throws(Failure) {
    guard SwiftNames.isIdentifier(name) else {
      throw Failure(
        description: """
          "\(name)" can't be the name of a case. Write a letter, and then letters, digits and \
          underscores, and a comma between two cases.
          """)
    }
    guard !SwiftNames.enumerationMembers.contains(name) else {
      throw Failure(
        description: "Every enumeration has a member \(name), so no case can have this name.")
    }
    guard names.insert(name).inserted else {
      throw Failure(description: "Two cases are named \(name).")
    }
  }

  /// Returns the raw value of a case that has none in the text.
  private func next(after last: RawValue?, _ name: String) throws(Failure) -> RawValue {
    switch (rawType, last) {
    case (.string, _): return .text(name)
    case (.integer, .integer(let value)?): return try integer(value + 1, name)
    case (.integer, _): return .integer(0)
    default: throw Failure(description: "\(name) needs a raw value, such as \(name) = 0.5.")
    }
  }

  private func read(_ token: CaseScanner.Token, _ name: String) throws(Failure) -> RawValue {
    switch (rawType, token) {
    case (.string, .quoted(let text)): return .text(text)
    case (.string, .plain):
      throw Failure(
        description: "The raw value of \(name) needs quotation marks, such as \(name) = \"A\".")
    case (.integer, .plain(let text)):
      guard let value = Int128(text) else { break }
      return try integer(value, name)
    case (.float, .plain(let text)):
      guard let value = Float(text), value.isFinite else { break }
      return .number(Double(value))
    case (.double, .plain(let text)):
      guard let value = Double(text), value.isFinite else { break }
      return .number(value)
    default: break
    }
    throw Failure(description: "The raw value of \(name) is not a number of \(rawType).")
  }

  private func integer(_ value: Int128, _ name: String) throws(Failure) -> RawValue {
    guard rawType.holds(value) else {
      throw Failure(
        description: "\(rawType) has no value \(value), which would be the raw value of \(name).")
    }
    return .integer(value)
  }
}

extension StoredEnumeration {
  /// The cases with their raw values, as ``CaseReader`` reads them; nil if it can't.
  package var caseText: String? {
    guard let swift = SwiftEnumeration(self) else { return nil }
    let text = swift.cases.map { "\($0.name) = \($0.literal)" }.joined(separator: ", ")
    let read = try? CaseReader(rawType: rawType).cases(text)
    return read == cases ? text : nil
  }

  /// Returns the enumeration with the names that its cases had in an earlier one.
  ///
  /// A case with another name and the same raw value is the same case.
  package func renamingCases(of old: StoredEnumeration) -> StoredEnumeration {
    guard rawType == old.rawType else { return self }
    let names = Set(cases.map(\.name))
    let known = Set(old.cases.map(\.name))
    let fresh = Dictionary(
      cases.filter { !known.contains($0.name) }.map { ($0.bytes, $0.name) }
    ) { first, _ in first }
    var renamed = self
    for item in old.cases where !names.contains(item.name) {
      renamed.formerNames[item.name] = fresh[item.bytes]
    }
    return renamed
  }
}
