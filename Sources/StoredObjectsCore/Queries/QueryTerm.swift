import FoundationEssentials
import StoreEngine

/// A part of a predicate that has been translated: how it is read from an object, and what it is.
struct QueryTerm<Object: StoredObject, Output> {
  /// What kind of thing a term is, where an index can make something of it.
  enum Kind {
    /// A value that does not depend on the object.
    case constant(Output)
    /// A property of the object, or of one that it refers to.
    case property(IndexedProperty<Output>)
    /// The object itself.
    case object
    case computed
  }

  let read: (Object) throws -> Output
  let kind: Kind
  /// What it says, where it is true or false.
  let condition: Condition
  /// Only `explain` asks for it, so that no other query puts it together.
  private let makeText: () -> String

  init(
    read: @escaping (Object) throws -> Output, kind: Kind = .computed,
    condition: Condition = .other, text: @autoclosure @escaping () -> String
  ) {
    (self.read, self.kind, self.condition, makeText) = (read, kind, condition, text)
  }

  /// How it reads.
  var text: String { makeText() }
}
