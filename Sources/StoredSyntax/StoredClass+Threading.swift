#if Macros
  import SwiftSyntax
  import SwiftSyntaxBuilder

  extension StoredClass {
    /// Whether making, reading and writing an object is evidently nobody else's business: the
    /// content is plain values, defaults are literals, and there is no initializer or deinitializer
    /// of its own.
    var isThreadNeutral: Bool {
      hook == nil && !fields.contains(where: \.mayUseStore)
        && declaration.memberBlock.members.allSatisfy(\.decl.isThreadNeutral)
    }
  }

  extension StoredField {
    /// A value of a type that is not evident may run code of others, or be a reference.
    fileprivate var mayUseStore: Bool { type.mayRefer || predecessor != nil }
  }

  extension DeclSyntax {
    fileprivate var isThreadNeutral: Bool {
      if self.is(DeinitializerDeclSyntax.self) || self.is(IfConfigDeclSyntax.self) { return false }
      if let initializer = self.as(InitializerDeclSyntax.self) {
        // The store calls only the one without parameters.
        return !initializer.signature.parameterClause.parameters.isEmpty
      }
      guard let variable = self.as(VariableDeclSyntax.self) else { return true }
      let isOverridden = variable.bindings.contains {
        $0.pattern.trimmedDescription == "isCodedOnAnyThread"
      }
      let isOfType = variable.modifiers.contains {
        [.keyword(.static), .keyword(.class)].contains($0.name.tokenKind)
      }
      if isOverridden || isOfType { return !isOverridden }
      return variable.bindings.allSatisfy { $0.initializer?.value.isThreadNeutral ?? true }
    }
  }

  extension ExprSyntax {
    /// Whether it is a literal, or a plain value made of literals.
    fileprivate var isThreadNeutral: Bool {
      if let call = self.as(FunctionCallExprSyntax.self) {
        let type = TypeSyntax(stringLiteral: call.calledExpression.trimmedDescription)
        return !type.mayRefer && call.arguments.allSatisfy(\.expression.isThreadNeutral)
      }
      if let array = self.as(ArrayExprSyntax.self) {
        return array.elements.allSatisfy(\.expression.isThreadNeutral)
      }
      if let negative = self.as(PrefixOperatorExprSyntax.self) {
        return negative.expression.isThreadNeutral
      }
      switch kind {
      case .stringLiteralExpr: return self.as(StringLiteralExprSyntax.self)?.segments.count == 1
      case .booleanLiteralExpr, .integerLiteralExpr, .floatLiteralExpr, .nilLiteralExpr: return true
      default: return false
      }
    }
  }
#endif
