#if Macros
  import SwiftSyntax
  import SwiftSyntaxBuilder

  // The types that the compiler infers, as far as the text of an expression shows them.

  extension ExprSyntax {
    /// The type of the expression, if its form leaves no doubt.
    ///
    /// Examples are a literal, `Date()`, `[Song]()` and `5 as UInt8`.
    var evidentType: String? {
      switch kind {
      case .stringLiteralExpr: return "String"
      case .booleanLiteralExpr: return "Bool"
      case .floatLiteralExpr: return "Double"
      case .integerLiteralExpr: return "Int"
      default: break
      }
      if let call = self.as(FunctionCallExprSyntax.self) { return call.constructedType }
      if let member = self.as(MemberAccessExprSyntax.self) { return member.evidentType }
      if let array = self.as(ArrayExprSyntax.self) { return array.evidentType }
      if let dictionary = self.as(DictionaryExprSyntax.self) { return dictionary.evidentType }
      if let sequence = self.as(SequenceExprSyntax.self) { return sequence.evidentType }
      if let negative = self.as(PrefixOperatorExprSyntax.self) {
        let type = negative.expression.evidentType
        return negative.operator.text == "-" && ["Int", "Double"].contains(type) ? type : nil
      }
      if let tuple = self.as(TupleExprSyntax.self), tuple.elements.count == 1 {
        return tuple.elements.first?.expression.evidentType
      }
      return nil
    }

    /// The probable type of the expression, for a fix-it: `Genre` for `Genre.jazz`.
    var likelyType: String? {
      if let call = self.as(FunctionCallExprSyntax.self) {
        if call.mayFail { return call.typeName.map { "\($0)?" } }
        return call.calledExpression.likelyType
      }
      guard let base = self.as(MemberAccessExprSyntax.self)?.base else { return nil }
      return base.typeName
    }

    /// The expression as the name of a type, if it looks like one.
    fileprivate var typeName: String? {
      switch kind {
      case .arrayExpr, .dictionaryExpr: return trimmedDescription
      case .optionalChainingExpr:
        return self.as(OptionalChainingExprSyntax.self)?.expression.typeName.map { "\($0)?" }
      case .genericSpecializationExpr:
        let base = self.as(GenericSpecializationExprSyntax.self)?.expression
        return base?.typeName == nil ? nil : trimmedDescription
      case .declReferenceExpr, .memberAccessExpr: break
      default: return nil
      }
      let last = trimmedDescription.split(separator: ".").last
      return last?.first?.isUppercase == true ? trimmedDescription : nil
    }
  }

  extension FunctionCallExprSyntax {
    /// The type that is called: `Size` for `Size()` and for `Size.init()`.
    fileprivate var typeName: String? {
      if let member = calledExpression.as(MemberAccessExprSyntax.self),
        member.declName.baseName.tokenKind == .keyword(.`init`)
      {
        return member.base?.typeName
      }
      return calledExpression.typeName
    }

    /// The type of the result of an initializer.
    fileprivate var constructedType: String? { mayFail ? nil : typeName }

    /// Whether this is a call of a well-known initializer that may return nil.
    ///
    /// Examples are `Int("5")` and `URL(string: "…")`.
    fileprivate var mayFail: Bool {
      guard let argument = arguments.first else { return false }
      guard let label = argument.label?.text else {
        let isText = argument.expression.is(StringLiteralExprSyntax.self)
        return isText && typeName != "String" && typeName.map(TypeSyntax.isPlain) == true
      }
      return ["string", "uuidString", "rawValue", "exactly", "base64Encoded"].contains(label)
    }
  }

  extension MemberAccessExprSyntax {
    /// The type of `Song?.none`, and of constants of Swift's own types, such as `Int.max`.
    fileprivate var evidentType: String? {
      guard let type = base?.typeName else { return nil }
      let name = declName.baseName.text
      if name == "none" { return type.hasSuffix("?") || type.hasPrefix("Optional<") ? type : nil }
      return TypeSyntax.isPlain(type) && Self.constants.contains(name) ? type : nil
    }

    private static let constants: Set = [
      "distantFuture", "distantPast", "infinity", "max", "min", "nan", "now", "pi", "zero",
    ]
  }

  extension ArrayExprSyntax {
    fileprivate var evidentType: String? {
      elements.map(\.expression.evidentType).soleElement.map { "[\($0)]" }
    }
  }

  extension DictionaryExprSyntax {
    fileprivate var evidentType: String? {
      guard case .elements(let elements) = content,
        let key = elements.map(\.key.evidentType).soleElement,
        let value = elements.map(\.value.evidentType).soleElement
      else { return nil }
      return "[\(key): \(value)]"
    }
  }

  extension SequenceExprSyntax {
    /// The type of `5 as UInt8`, and of arithmetic with literals.
    fileprivate var evidentType: String? {
      let parts = Array(elements)
      if parts.count == 3, let cast = parts[1].as(UnresolvedAsExprSyntax.self) {
        if cast.questionOrExclamationMark != nil { return nil }
        return parts[2].as(TypeExprSyntax.self)?.type.trimmedDescription
      }
      let operators = stride(from: 1, to: parts.count, by: 2).map { parts[$0].trimmedDescription }
      let types = stride(from: 0, to: parts.count, by: 2).map { parts[$0].evidentType }
      guard let type = types.soleElement else { return nil }
      if type == "String" { return operators.allSatisfy { $0 == "+" } ? type : nil }
      let isNumber = ["Int", "Double"].contains(type)
      return isNumber && operators.allSatisfy(["+", "-", "*", "/"].contains) ? type : nil
    }
  }

  extension TypeSyntax {
    /// Whether the name is that of a plain value type of Swift or Foundation.
    fileprivate static func isPlain(_ name: String) -> Bool {
      !TypeSyntax("\(raw: name)").mayRefer
    }
  }

  extension Array where Element == String? {
    /// The element to which all are equal; nil if they differ, are nil, or there are none.
    fileprivate var soleElement: String? {
      guard let first, allSatisfy({ $0 == first }) else { return nil }
      return first
    }
  }
#endif
