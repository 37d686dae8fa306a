#if Macros
  import SwiftDiagnostics
  import SwiftSyntax
  import SwiftSyntaxBuilder

  // Declarations that can't be stored as they are, each with fix-its.

  extension VariableDeclSyntax {
    private static let ownAttributes: Set = [
      "Since", "Formerly", "Converted", "Dropped", "StoredField", "Relationship", "Unique",
      "Indexed", "FullText", "External",
    ]

    private var transient: FixIt { .prepend("@Transient", to: self) }

    /// Throws for `let`, `lazy`, `weak`, property wrappers and observers.
    func checkIsStorable() throws(Finding) {
      try checkIsVariable()
      try checkModifiers()
      try checkWrappers()
      for accessors in bindings.compactMap(\.accessorBlock) {
        throw Finding(
          accessors,
          """
          @Stored writes the accessors, so the property can have no observers; make the change in \
          a method, or mark the property @Transient
          """, cures: [transient])
      }
    }

    private func checkIsVariable() throws(Finding) {
      guard bindingSpecifier.tokenKind == .keyword(.let) else { return }
      let specifier = bindingSpecifier.with(\.tokenKind, .keyword(.var))
      throw Finding(
        bindingSpecifier,
        "a 'let' can't be read from a record; make it 'private(set) var', or mark it @Transient",
        cures: [.replace("Replace 'let' by 'var'", bindingSpecifier, by: specifier), transient])
    }

    private func checkModifiers() throws(Finding) {
      for modifier in modifiers {
        switch modifier.keyword {
        case .lazy:
          throw Finding(
            modifier,
            "a lazy property is computed from others, so it is not stored: mark it @Transient",
            cures: [transient])
        case .weak, .unowned:
          throw Finding(
            modifier,
            "a stored reference is strong; remove '\(modifier.name.text)', or mark it @Transient",
            cures: [remove(modifier), transient])
        default: break
        }
      }
    }

    private func remove(_ modifier: DeclModifierSyntax) -> FixIt {
      var new = self
      new.modifiers = modifiers.filter { $0.id != modifier.id }
      new.leadingTrivia = leadingTrivia
      return .replace("Remove '\(modifier.name.text)'", self, by: new)
    }

    private func checkWrappers() throws(Finding) {
      for attribute in attributes.compactMap({ $0.as(AttributeSyntax.self) }) {
        let name = attribute.name
        guard name.first?.isUppercase == true, !Self.ownAttributes.contains(name) else { continue }
        if name == "Content" {
          throw Finding(
            attribute, "@Stored does what @Content does: remove @Content",
            cures: [remove(attribute)])
        }
        throw Finding(
          attribute,
          "@Stored does not know @\(name): remove it, or mark the property @Transient",
          cures: [remove(attribute), transient])
      }
    }

    func remove(_ attribute: AttributeSyntax) -> FixIt {
      var new = self
      new.attributes = attributes.filter { $0.id != attribute.id }
      new.leadingTrivia = leadingTrivia
      return .replace("Remove '@\(attribute.name)'", self, by: new)
    }

    /// Returns the only property of the declaration, and its name.
    func soleBinding() throws(Finding) -> (PatternBindingSyntax, String) {
      guard bindings.count == 1, let binding = bindings.first,
        let pattern = binding.pattern.as(IdentifierPatternSyntax.self)
      else {
        throw Finding(
          self, "declare each stored property separately, in the order of the record",
          cures: [transient])
      }
      return (binding, pattern.identifier.text)
    }
  }

  extension PatternBindingSyntax {
    /// Returns the type as written, or as the default shows it.
    ///
    /// - Throws: ``Finding`` if neither shows the type.
    func typeOfProperty() throws(Finding) -> TypeSyntax {
      if let type = typeAnnotation?.type { return type }
      if let type = initializer?.value.evidentType { return "\(raw: type)" }
      let cure = initializer?.value.likelyType.map { type in
        var new = self
        new.pattern = pattern.with(\.trailingTrivia, [])
        new.typeAnnotation = TypeAnnotationSyntax(
          colon: .colonToken(trailingTrivia: .space), type: TypeSyntax("\(raw: type)"),
          trailingTrivia: .space)
        return FixIt.replace("Add ': \(type)'", self, by: new)
      }
      throw Finding(
        pattern,
        """
        a macro can't see the type of this default: write the type, as in 'var title: String = \
        makeTitle()'
        """, cures: [cure])
    }

    /// Returns the default of the property.
    ///
    /// - Throws: ``Finding`` if it has none.
    func defaultValue(for type: TypeSyntax) throws(Finding) -> ExprSyntax {
      if let value = initializer?.value { return value }
      if type.isOptional { return "nil" }
      var cured = self
      if let value = type.evidentDefault {
        cured.initializer = InitializerClauseSyntax(
          equal: .equalToken(leadingTrivia: .space, trailingTrivia: .space), value: value)
        throw Finding(
          self, "a stored property needs a default, because the store makes objects by init()",
          cures: [.replace("Add '= \(value)'", self, by: cured)])
      }
      cured.typeAnnotation?.type = "\(type.trimmed)?"
      throw Finding(
        self,
        """
        a stored property needs a default, because the store makes objects by init(); a reference \
        is optional
        """, cures: [.replace("Make it optional", self, by: cured)])
    }
  }

  extension TypeSyntax {
    /// Throws for types that are known to have no form on disk.
    func checkIsStorable(in variable: VariableDeclSyntax) throws(Finding) {
      if let forced = self.as(ImplicitlyUnwrappedOptionalTypeSyntax.self) {
        let optional = TypeSyntax("\(forced.wrappedType)?")
        throw Finding(
          self, "a stored property can't be implicitly unwrapped: write '\(optional)'",
          cures: [.replace("Replace '!' by '?'", self, by: optional.withTrivia(of: self))])
      }
      if self.is(SomeOrAnyTypeSyntax.self), isExistential {
        let optional = TypeSyntax("(\(trimmed))?")
        throw Finding(
          self,
          """
          '\(trimmed)' is stored only as a reference to an object, which is optional: write \
          '\(optional)', or mark the property @Transient
          """,
          cures: [
            .replace("Make it optional", self, by: optional.withTrivia(of: self)),
            .prepend("@Transient", to: variable),
          ])
      }
      guard hasNoForm else { return }
      // A type that only the default shows is written nowhere.
      let written = variable.bindings.first?.typeAnnotation.map { Syntax($0.type) }
      throw Finding(
        written ?? Syntax(variable),
        """
        '\(trimmed)' can't be stored; use a type that is DataBufferValue or Codable, or mark the \
        property @Transient
        """, cures: [.prepend("@Transient", to: variable)])
    }

    private var hasNoForm: Bool {
      switch kind {
      case .functionType, .tupleType, .metatypeType, .someOrAnyType, .compositionType: true
      default: ["Any", "AnyObject"].contains(trimmedDescription)
      }
    }

    private func withTrivia(of other: TypeSyntax) -> TypeSyntax {
      with(\.leadingTrivia, other.leadingTrivia).with(\.trailingTrivia, other.trailingTrivia)
    }
  }
#endif
