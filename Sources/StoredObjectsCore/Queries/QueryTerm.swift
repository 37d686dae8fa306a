import FoundationEssentials
import StoreEngine

/// A translated part of a predicate: how to read it from an object, and its kind.
struct QueryTerm<Object: StoredObject, Output> {
  /// The kind of a term, as far as an index can use it.
  enum Kind {
    /// A value that does not depend on the object.
    case constant(Output)
    /// A property of the object, or of an object that it refers to.
    case property(IndexedProperty<Output>)
    /// The object itself.
    case object
    case computed
  }

  let read: (Object) throws -> Output
  let kind: Kind
  /// The condition of the term, if it is a Boolean.
  let condition: Condition
  /// Called by `explain` only, so that other queries don't build the text.
  private let makeText: () -> String

  init(
    read: @escaping (Object) throws -> Output, kind: Kind = .computed,
    condition: Condition = .other, text: @autoclosure @escaping () -> String
  ) {
    (self.read, self.kind, self.condition, makeText) = (read, kind, condition, text)
  }

  /// A description of the term.
  var text: String { makeText() }
}
