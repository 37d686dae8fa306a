import ConditionSyntax

/// The attributes of songs, and their values.
struct SongVocabulary: ConditionVocabulary {
  var none: SongValue { .none }

  func quoted(_ text: String) -> String { JukeboxCommands.quoted(text) }

  func attribute(_ token: ConditionToken) throws(ConditionError) -> SongAttribute {
    if token.kind == .word, let attribute = SongAttribute(token.text) { return attribute }
    let near =
      token.kind == .word
      ? namesMeant(by: token.text, SongAttribute.allCases.map(\.rawValue)) : nil
    let hint = near.map { "; did you mean \($0)" } ?? ""
    throw ConditionError(
      at: token.position, "expected one of \(SongAttribute.names), not \(name(of: token))\(hint)")
  }

  func refusal(of comparison: ConditionOperator, for attribute: SongAttribute) -> String? {
    guard [.contains, .starts].contains(comparison), !attribute.isText else { return nil }
    return "\(attribute.rawValue) is a number; compare it by = != < <= > >= or in"
  }

  func canBeMissing(_ attribute: SongAttribute) -> Bool { attribute != .id }

  func value(
    _ token: ConditionToken, of attribute: SongAttribute, _ comparison: ConditionOperator
  ) throws(ConditionError) -> SongValue {
    switch attribute {
    case .id: .number(try number(token))
    case .time: .time(try seconds(token))
    default: .text(token.text)
    }
  }

  private func number(_ token: ConditionToken) throws(ConditionError) -> Int64 {
    let digits = token.text.hasPrefix("#") ? token.text.dropFirst() : token.text[...]
    guard let number = Int64(digits) else {
      throw ConditionError(
        at: token.position, "\(name(of: token)) is not an ID; write 42 or #42")
    }
    return number
  }

  /// Parses a time: seconds, minutes and seconds, or hours, minutes and seconds.
  private func seconds(_ token: ConditionToken) throws(ConditionError) -> Int64 {
    let parts = token.text.split(separator: ":", omittingEmptySubsequences: false)
    let numbers = parts.compactMap { part in
      part.allSatisfy { "0"..."9" ~= $0 } && part.count < 10 ? Int64(part) : nil
    }
    guard !numbers.isEmpty, numbers.count == parts.count, numbers.count <= 3 else {
      throw ConditionError(
        at: token.position, "\(name(of: token)) is not a time; write 210, 3:30 or 1:03:30")
    }
    return numbers.reduce(0) { $0 * 60 + $1 }
  }
}
