#if Macros
  import SwiftSyntax
  import SwiftSyntaxBuilder

  extension StoredClass {
    /// Whether creating, reading and writing an object evidently runs no other code.
    ///
    /// That is so if the content is plain values, the defaults are literals, and the class has no
    /// initializer without parameters and no deinitializer.
    var isThreadNeutral: Bool {
      hook == nil && !fields.contains(where: \.mayUseStore)
        && declaration.memberBlock.members.allSatisfy(\.decl.isThreadNeutral)
    }
  }

  extension StoredField {
    /// Whether values of the type may run other code, or be references.
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
    /// Whether the expression is a literal, or a plain value made of literals.
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
