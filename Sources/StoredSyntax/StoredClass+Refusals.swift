#if Macros
  import SwiftDiagnostics
  import SwiftSyntax
  import SwiftSyntaxBuilder

  extension StoredClass {
    /// Returns the class and the name of its superclass.
    static func subclass(
      _ declaration: some DeclGroupSyntax
    ) throws(Finding) -> (ClassDeclSyntax, String) {
      guard let subclass = declaration.as(ClassDeclSyntax.self) else {
        throw Finding(
          declaration.introducer, "@Stored is for classes: objects have identity, values do not")
      }
      let inherited = subclass.inheritanceClause?.inheritedTypes.first
      if let inherited, !strangers.contains(inherited.type.trimmedDescription) {
        return (subclass, inherited.type.trimmedDescription)
      }
      throw Finding(
        subclass.name, "a stored class is a subclass of StoredObject",
        cures: [
          .replace("Add 'StoredObject'", subclass, by: subclass.inheritingFromStoredObject)
        ])
    }

    /// Types that are often inherited from and are not stored classes.
    private static let strangers: Set = [
      "AnyObject", "Codable", "Comparable", "CustomStringConvertible", "Decodable", "Encodable",
      "Equatable", "Hashable", "Identifiable", "NSObject", "Observable", "Sendable",
    ]

    /// Throws for members that the macro generates itself, and for those that it can't see into.
    static func validateMember(_ member: DeclSyntax) throws(Finding) {
      if let method = member.as(FunctionDeclSyntax.self),
        ["readContent", "writeContent"].contains(method.name.text)
      {
        throw Finding(
          method.name,
          """
          @Stored writes \(method.name.text); remove this one, or remove @Stored and keep the \
          class hand-written
          """)
      }
      if let variable = member.as(VariableDeclSyntax.self),
        variable.bindings.first?.pattern.trimmedDescription == "classVersion"
      {
        throw Finding(variable, "write the version in the attribute: @Stored(version: 1)")
      }
      try checkIsUnconditional(member)
    }

    private static func checkIsUnconditional(_ member: DeclSyntax) throws(Finding) {
      guard let condition = member.as(IfConfigDeclSyntax.self) else { return }
      let members = condition.clauses.lazy.compactMap { clause -> MemberBlockItemListSyntax? in
        if case .decls(let members) = clause.elements { members } else { nil }
      }
      for member in members.joined() {
        guard case .field = try StoredField.role(of: member.decl) else { continue }
        throw Finding(
          member.decl,
          """
          a stored property can't depend on a condition, because the record would; mark it \
          @Transient, or move it out of #if
          """)
      }
    }

    /// Returns the version in the attribute, or the highest version that a field names.
    static func version(
      _ attribute: AttributeSyntax, _ fields: [StoredField]
    ) throws(Finding) -> UInt8 {
      let last = fields.map(\.lastVersion).max() ?? 0
      guard case .argumentList(let arguments) = attribute.arguments, let argument = arguments.first
      else { return last }
      let version = try attribute.version(at: 0)
      if version >= last { return version }
      let newest = fields.first { $0.lastVersion == last }
      throw Finding(
        argument.expression,
        "'\(newest?.plainName ?? "")' names version \(last), which the class has not reached yet",
        cures: [
          .replace(
            "Raise the version to \(last)", argument.expression, by: ExprSyntax("\(raw: last)"))
        ])
    }
  }

  extension ClassDeclSyntax {
    /// The class with `StoredObject` before everything to which it conforms.
    fileprivate var inheritingFromStoredObject: ClassDeclSyntax {
      var cured = self
      let superclass = InheritedTypeSyntax(type: TypeSyntax("StoredObject"))
      if let clause = inheritanceClause {
        let others = clause.inheritedTypes.filter { $0.type.trimmedDescription != "NSObject" }
        let first = superclass.with(
          \.trailingComma, others.isEmpty ? nil : .commaToken(trailingTrivia: .space))
        cured.inheritanceClause?.inheritedTypes = [first] + others
        if others.isEmpty { cured.inheritanceClause?.trailingTrivia = .space }
      } else {
        cured.inheritanceClause = InheritanceClauseSyntax(
          colon: .colonToken(trailingTrivia: .space), inheritedTypes: [superclass],
          trailingTrivia: .space)
        cured.name.trailingTrivia = []
      }
      return cured
    }
  }

  extension StoredField {
    /// Throws for a field that is dropped before it is added.
    func checkVersions() throws(Finding) {
      let since = since ?? 0
      if let droppedIn, droppedIn <= since {
        throw Finding(
          declaration,
          "'\(plainName)' is dropped in version \(droppedIn), and was added in \(since)")
      }
      guard let predecessor else { return }
      if droppedIn != nil {
        throw Finding(declaration, "a property can't both be @Dropped and have a predecessor")
      }
      if predecessor.until <= since {
        throw Finding(
          declaration,
          """
          '\(predecessor.name)' was here until version \(predecessor.until), so the property is \
          older than @Since(\(since))
          """)
      }
    }
  }
#endif
