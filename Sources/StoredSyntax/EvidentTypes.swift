#if Macros
  import SwiftSyntax
  import SwiftSyntaxBuilder

  // Properties of types that the text alone shows.

  extension TypeSyntax {
    /// Whether the type is written as an optional.
    var isOptional: Bool {
      self.is(OptionalTypeSyntax.self)
        || self.as(IdentifierTypeSyntax.self)?.name.text == "Optional"
    }

    /// Whether the type is written as a protocol type, an optional of one or a list.
    ///
    /// An example is `(any Playable)?`.
    var isExistential: Bool {
      if let optional = self.as(OptionalTypeSyntax.self) {
        return optional.wrappedType.isExistential
      }
      if let array = self.as(ArrayTypeSyntax.self) { return array.element.isExistential }
      if let tuple = self.as(TupleTypeSyntax.self), tuple.elements.count == 1 {
        return tuple.elements.first?.type.isExistential == true
      }
      return self.as(SomeOrAnyTypeSyntax.self)?.someOrAnySpecifier.tokenKind == .keyword(.any)
    }

    /// Whether the type may be a reference to an object, or to several.
    var mayRefer: Bool {
      if let optional = self.as(OptionalTypeSyntax.self) { return optional.wrappedType.mayRefer }
      if let array = self.as(ArrayTypeSyntax.self) { return array.element.mayRefer }
      if isExistential { return true }
      guard let named = self.as(IdentifierTypeSyntax.self) else {
        return self.is(MemberTypeSyntax.self)
      }
      if case .type(let argument)? = named.genericArgumentClause?.arguments.first?.argument {
        return argument.mayRefer
      }
      return !Self.plainNames.contains(named.name.text)
    }

    private static let plainNames: Set = [
      "Bool", "Data", "Date", "Double", "Float", "Int", "Int8", "Int16", "Int32", "Int64", "String",
      "UInt", "UInt8", "UInt16", "UInt32", "UInt64", "UUID",
    ]

    /// The default that is obvious for the type, if there is one.
    var evidentDefault: ExprSyntax? {
      switch kind {
      case .arrayType: return "[]"
      case .dictionaryType: return "[:]"
      default: break
      }
      switch self.as(IdentifierTypeSyntax.self)?.name.text {
      case "String": return "\"\""
      case "Bool": return "false"
      case "Set", "Array", "ObjectList": return "[]"
      case "Dictionary": return "[:]"
      case "Data", "UUID": return "\(self)()"
      case "Float", "Double", "Int", "Int8", "Int16", "Int32", "Int64", "UInt", "UInt8", "UInt16",
        "UInt32", "UInt64":
        return "0"
      default: return nil
      }
    }
  }
#endif
