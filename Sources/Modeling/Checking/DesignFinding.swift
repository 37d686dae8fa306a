/// A remark on a model: an error in it, or what happens to a store with it.
package struct DesignFinding: Hashable, Sendable {
  /// The kinds of findings.
  package enum Kind: String, Sendable {
    /// The source would not compile, or the store would not open.
    case error
    /// The store would lose values.
    case loss
    /// The store would change, and lose nothing.
    case change
    /// Nothing would happen.
    case same
  }

  /// The kind.
  package let kind: Kind
  /// The name of the class or the enumeration in the source; nil for the whole model.
  package let className: String?
  /// The name of the property; nil for the whole class.
  package let property: String?
  /// A description for the designer.
  package let text: String

  /// Creates a finding.
  package init(
    _ kind: Kind, _ text: String, in className: String? = nil, property: String? = nil
  ) {
    (self.kind, self.text) = (kind, text)
    (self.className, self.property) = (className, property)
  }
}
