#if Macros
  import SwiftDiagnostics
  import SwiftSyntax
  import SwiftSyntaxBuilder

  extension StoredClass {
    /// Returns the class's own method for earlier versions.
    ///
    /// - Throws: ``Finding`` for a method that would not be called correctly, or that is missing.
    static func hook(
      of declaration: ClassDeclSyntax, _ fields: [StoredField], _ version: UInt8
    ) throws(Finding) -> UpgradeHook? {
      let methods = declaration.memberBlock.members.lazy
        .compactMap { $0.decl.as(FunctionDeclSyntax.self) }
      guard let method = methods.first(where: \.isUpgradeHook) else {
        try demandHook(of: declaration, fields)
        return nil
      }
      try method.checkHook(version)
      let parameters = method.signature.parameterClause.parameters
      let takesFormer = parameters.contains { $0.firstName.text == "former" }
      let effects = method.signature.effectSpecifiers
      return UpgradeHook(takesFormer: takesFormer, canThrow: effects?.throwsClause != nil)
    }

    /// Throws if a field of another type has no method that fills it.
    ///
    /// A save would otherwise overwrite the old value.
    private static func demandHook(
      of declaration: ClassDeclSyntax, _ fields: [StoredField]
    ) throws(Finding) {
      for field in fields {
        guard let predecessor = field.predecessor else { continue }
        var cured = declaration
        cured.memberBlock.members.append(
          MemberBlockItemSyntax(
            decl: DeclSyntax(
              """
              \n
                private func upgrade(from version: UInt8, former: Former) {
                  if let \(raw: predecessor.name) = former.\(raw: predecessor.name) {
                    \(raw: field.name) = .init(\(raw: predecessor.name))
                  }
                }
              """)))
        throw Finding(
          field.declaration,
          """
          nothing converts '\(predecessor.name)' to '\(field.plainName)': declare 'private func \
          upgrade(from version: UInt8, former: Former)'
          """, cures: [.replace("Add 'upgrade(from:former:)'", declaration, by: cured)])
      }
    }
  }

  extension FunctionDeclSyntax {
    fileprivate var isUpgradeHook: Bool {
      name.text == "upgrade"
        && signature.parameterClause.parameters.first?.firstName.text == "from"
    }

    fileprivate func checkHook(_ version: UInt8) throws(Finding) {
      guard modifiers.contains(where: { $0.keyword == .private }) else {
        throw Finding(
          name, "upgrade(from:) is private, so that each class of a hierarchy has its own",
          cures: [.prepend("private", to: self)])
      }
      guard version > 0 else {
        throw Finding(
          name,
          "upgrade(from:) is never called: there is no version before 0; use @Stored(version: 1)")
      }
    }
  }
#endif
