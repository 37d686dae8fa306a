#if Macros
  import SwiftSyntax
  import SwiftSyntaxBuilder

  // What can be told from the text alone.

  extension ExprSyntax {
    /// The type that an expression has by its form, such as that of a literal.
    var evidentType: String? {
      switch kind {
      case .stringLiteralExpr: return "String"
      case .booleanLiteralExpr: return "Bool"
      case .floatLiteralExpr: return "Double"
      case .integerLiteralExpr: return "Int64"
      default: break
      }
      guard let call = self.as(FunctionCallExprSyntax.self) else { return nil }
      switch call.calledExpression.kind {
      case .arrayExpr, .dictionaryExpr: return call.calledExpression.trimmedDescription
      default: break
      }
      let name = call.calledExpression.trimmedDescription
      return name.first?.isUppercase == true ? name : nil
    }
  }

  extension TypeSyntax {
    /// Whether it is written as an optional.
    var isOptional: Bool {
      self.is(OptionalTypeSyntax.self)
        || self.as(IdentifierTypeSyntax.self)?.name.text == "Optional"
    }

    /// Whether the type may be a reference to an object, or to several.
    var mayRefer: Bool {
      if let optional = self.as(OptionalTypeSyntax.self) { return optional.wrappedType.mayRefer }
      if let array = self.as(ArrayTypeSyntax.self) { return array.element.mayRefer }
      guard let named = self.as(IdentifierTypeSyntax.self) else {
        return self.is(MemberTypeSyntax.self)
      }
      if case .type(let argument)? = named.genericArgumentClause?.arguments.first?.argument {
        return argument.mayRefer
      }
      return !Self.plainNames.contains(named.name.text)
    }

    private static let plainNames: Set = [
      "Bool", "Data", "Date", "Double", "Float", "Int8", "Int16", "Int32", "Int64", "String",
      "UInt8", "UInt16", "UInt32", "UInt64", "UUID",
    ]

    /// A default that everyone would choose.
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
      case "Float", "Double", "Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32",
        "UInt64":
        return "0"
      default: return nil
      }
    }
  }
#endif
