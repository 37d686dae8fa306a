/// The attributes and values that a program's conditions can have.
package protocol ConditionVocabulary {
  /// An attribute of an object.
  associatedtype Attribute
  /// A value with which an attribute can be compared.
  associatedtype Value: Equatable

  /// The value of an object without the attribute.
  var none: Value { get }

  /// Returns a text for messages, in quotation marks.
  func quoted(_ text: String) -> String

  /// Returns the attribute that a token names.
  ///
  /// - Throws: ``ConditionError`` if it is none.
  func attribute(_ token: ConditionToken) throws(ConditionError) -> Attribute

  /// Returns the reason why an attribute can't be compared in this way; nil if it can.
  func refusal(of comparison: ConditionOperator, for attribute: Attribute) -> String?

  /// Whether the word `none` is the value of an object without the attribute.
  func canBeMissing(_ attribute: Attribute) -> Bool

  /// Returns the value of a word or a text.
  ///
  /// - Throws: ``ConditionError`` if it is not a value of the attribute.
  func value(
    _ token: ConditionToken, of attribute: Attribute, _ comparison: ConditionOperator
  ) throws(ConditionError) -> Value
}

extension ConditionVocabulary {
  /// Returns a token for messages.
  package func name(of token: ConditionToken) -> String {
    token.kind == .end ? "the end" : quoted(token.text)
  }
}
