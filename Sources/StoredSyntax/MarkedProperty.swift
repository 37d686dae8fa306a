#if Macros
  import SwiftDiagnostics
  import SwiftSyntax
  import SwiftSyntaxBuilder

  /// A property with attributes that name other properties, and the checks of these attributes.
  struct MarkedProperty {
    let variable: VariableDeclSyntax
    let name: String
    let type: TypeSyntax
    /// The class that has the property; nil if it is not known.
    let className: String?

    /// The type as written, or the name if only the default shows the type.
    var typeNode: Syntax {
      guard let binding = variable.bindings.first else { return Syntax(variable) }
      return binding.typeAnnotation.map { Syntax($0.type) } ?? Syntax(binding.pattern)
    }

    /// Throws for attributes that are not valid.
    func validateAttributes() throws(Finding) {
      for mark in ["Relationship", "Unique", "Indexed", "FullText", "External"] {
        guard let attribute = variable.attribute(mark) else { continue }
        try checkIsOnlyOne(attribute)
        if variable.attribute("Dropped") != nil {
          throw Finding(
            attribute,
            """
            @\(mark) is for properties that the class still has, and '\(name)' is dropped: \
            remove it
            """,
            cures: [variable.remove(attribute)])
        }
      }
      if let attribute = variable.attribute("Relationship") {
        try validate(relationship: attribute)
      }
      if let attribute = variable.attribute("Unique") { try validate(unique: attribute) }
      if let attribute = variable.attribute("Indexed") { try validate(indexed: attribute) }
      if let attribute = variable.attribute("FullText") { try validate(fullText: attribute) }
      if let attribute = variable.attribute("External") { try validate(external: attribute) }
    }

    /// Throws for a duplicate attribute.
    private func checkIsOnlyOne(_ attribute: AttributeSyntax) throws(Finding) {
      let all = variable.attributes.compactMap { $0.as(AttributeSyntax.self) }
      guard let second = all.filter({ $0.name == attribute.name }).dropFirst().first else { return }
      throw Finding(
        second, "'\(name)' is @\(attribute.name) already: remove one of the two",
        cures: [variable.remove(second)])
    }

    private func validate(relationship attribute: AttributeSyntax) throws(Finding) {
      if let list = type.as(OptionalTypeSyntax.self)?.wrappedType, list.referredList != nil {
        throw Finding(
          typeNode, "a list in a relationship is empty rather than nil: write '\(list.trimmed)'",
          cures: [replaceType(by: list.trimmed)])
      }
      guard type.referredClass != nil || type.isUnknown else {
        throw Finding(
          typeNode,
          """
          '\(type.trimmed)' refers to no object: @Relationship is for Song?, [Song], \
          ObjectList<Song> and Set<Song>
          """, cures: [variable.remove(attribute)])
      }
      guard let inverse = attribute.argument("inverse"), !inverse.is(NilLiteralExprSyntax.self)
      else { return }
      try validate(inverse, "the inverse", of: type.referredClass)
    }

    private func validate(external attribute: AttributeSyntax) throws(Finding) {
      let names = type.tokens(viewMode: .sourceAccurate).map(\.text)
      guard names.contains("ExternalData") || type.isUnknown else {
        throw Finding(
          typeNode,
          "'\(type.trimmed)' is always in the record: @External is for ExternalData",
          cures: [variable.remove(attribute)])
      }
      guard let size = attribute.argument("above"), size.trimmedDescription.hasPrefix("-") else {
        return
      }
      throw Finding(size, "the size is a number of bytes: write 0 or more")
    }

    private func validate(unique attribute: AttributeSyntax) throws(Finding) {
      if type.indexForm != .value {
        throw Finding(
          typeNode,
          "'\(type.trimmed)' can't be unique: @Unique is for single values and references",
          cures: [variable.remove(attribute)])
      }
      if let index = variable.attribute("Indexed"), attribute.argument("with") == nil {
        throw Finding(
          index, "'\(name)' is @Unique, which makes an index: remove @Indexed",
          cures: [variable.remove(index)])
      }
      guard let other = attribute.argument("with") else { return }
      try validate(other, "the other property", of: className)
      guard other.as(KeyPathExprSyntax.self)?.names.last == name else { return }
      throw Finding(
        attribute, "'\(name)' is always unique with itself: write '@Unique'",
        cures: [replaceByPlain(attribute)])
    }

    /// Throws for an argument that is not the key path of a property of a class.
    private func validate(
      _ argument: ExprSyntax, _ what: String, of owner: String?
    ) throws(Finding) {
      guard let path = argument.as(KeyPathExprSyntax.self) else {
        let name = argument.as(StringLiteralExprSyntax.self)?.segments.description
        throw Finding(
          argument, "\(what) is a key path: write '\\\(owner ?? "Song").\(name ?? "property")'",
          cures: [name.flatMap { replacePath(argument, owner, $0) }])
      }
      // To the parser only the first name is the root, even of a nested class.
      let types = path.names.prefix { $0.first?.isUppercase == true }
      let properties = path.names.dropFirst(types.count)
      guard properties.count < 2 else {
        throw Finding(argument, "\(what) is a property of its own, not a path through another")
      }
      guard let owner, let property = properties.first, types.last != owner else { return }
      let cures = [replacePath(argument, owner, property)]
      guard let root = types.last else {
        throw Finding(
          argument, "a macro can't see whose property \(what) is: write '\\\(owner).\(property)'",
          cures: cures)
      }
      throw Finding(argument, "\(what) is a property of \(owner), not of \(root)", cures: cures)
    }

    private func replacePath(
      _ argument: ExprSyntax, _ owner: String?, _ property: String
    ) -> FixIt? {
      guard let owner else { return nil }
      let path: ExprSyntax = "\\\(raw: owner).\(raw: property)"
      return .replace("Replace it by '\(path)'", argument, by: path)
    }

    func replaceType(by list: TypeSyntax) -> FixIt? {
      guard let binding = variable.bindings.first else { return nil }
      var cured = binding
      cured.pattern = binding.pattern.with(\.trailingTrivia, [])
      cured.typeAnnotation = TypeAnnotationSyntax(
        colon: .colonToken(trailingTrivia: .space), type: list.with(\.trailingTrivia, .space))
      cured.initializer = InitializerClauseSyntax(
        equal: .equalToken(trailingTrivia: .space), value: ExprSyntax("[]"))
      return .replace("Replace it by '\(list) = []'", binding, by: cured)
    }
  }

  extension VariableDeclSyntax {
    /// Throws for attributes about records on a property that is in no record.
    func checkAttributesOutsideOfRecords() throws(Finding) {
      for mark in [
        "Since", "Formerly", "Converted", "Dropped", "Relationship", "Unique", "Indexed",
        "FullText", "External",
      ] {
        guard let attribute = attribute(mark) else { continue }
        let name = bindings.first?.pattern.trimmedDescription ?? ""
        throw Finding(
          attribute, "@\(mark) is for stored properties, and '\(name)' is not stored: remove it",
          cures: [remove(attribute)])
      }
    }
  }

  extension Finding {
    /// Creates the error for an attribute that is not read, because the class is not `@Stored`.
    init?(
      unread attribute: AttributeSyntax, of declaration: some DeclSyntaxProtocol,
      in enclosing: Syntax?
    ) {
      let cure = declaration.as(VariableDeclSyntax.self)?.remove(attribute)
      if enclosing?.isStoredClass == true {
        if declaration.is(VariableDeclSyntax.self) { return nil }
        self.init(attribute, "@\(attribute.name) is for stored properties: remove it")
        return
      }
      self.init(
        attribute, "@\(attribute.name) is read by @Stored, which the class does not have",
        cures: [cure])
    }
  }

  extension Syntax {
    /// Whether the declaration has the attribute `@Stored`.
    var isStoredClass: Bool {
      asProtocol((any WithAttributesSyntax).self)?.attributes.first(named: "Stored") != nil
    }
  }

  extension KeyPathExprSyntax {
    /// All names in the key path, those of types first.
    var names: [String] {
      trimmedDescription.dropFirst().split(separator: ".").map(String.init)
    }
  }

  extension AttributeSyntax {
    /// Returns the argument with a label.
    func argument(_ label: String) -> ExprSyntax? {
      guard case .argumentList(let list) = arguments else { return nil }
      return list.first { $0.label?.text == label }?.expression
    }
  }

  extension TypeSyntax {
    /// The name of the class to which the type is a reference, or a list of references.
    fileprivate var referredClass: String? {
      if let optional = self.as(OptionalTypeSyntax.self) { return optional.wrappedType.className }
      return referredList
    }

    /// The name of the class of a list's elements.
    var referredList: String? {
      if let array = self.as(ArrayTypeSyntax.self) { return array.element.className }
      guard let named = self.as(IdentifierTypeSyntax.self),
        ["Array", "Set", "ObjectList"].contains(named.name.text),
        case .type(let element)? = named.genericArgumentClause?.arguments.first?.argument
      else { return nil }
      return element.className
    }

    /// Whether the type is a name that may mean anything.
    var isUnknown: Bool {
      if self.is(MemberTypeSyntax.self) { return true }
      guard let named = self.as(IdentifierTypeSyntax.self) else { return false }
      return mayRefer && !["Set", "Array", "Dictionary"].contains(named.name.text)
    }

    private var className: String? { mayRefer ? lastName : nil }

    /// The name without that of a module or an enclosing type.
    private var lastName: String? {
      self.as(IdentifierTypeSyntax.self)?.name.text ?? self.as(MemberTypeSyntax.self)?.name.text
    }
  }
#endif
