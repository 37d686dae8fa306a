#if Macros
  import SwiftSyntax

  /// A property with a position in the records of its class, as declared.
  struct StoredField {
    let declaration: VariableDeclSyntax
    /// The name as declared, perhaps in backticks.
    let name: String
    let type: TypeSyntax
    /// The value of the property before a record is read.
    let defaultValue: ExprSyntax
    /// The version in which the field was added; nil if that is not specified.
    let since: UInt8?
    /// The version in which the field was dropped.
    let droppedIn: UInt8?
    /// The field that was in the same position before.
    let predecessor: Predecessor?
    /// The earlier names of the field.
    let formerNames: [String]
    /// The arguments of each `@Converted`.
    let conversions: [String]

    /// The arguments of `@Relationship`; nil without the attribute.
    let relationship: String?
    /// The arguments of `@Unique`; nil without the attribute.
    let unique: String?
    /// The arguments of `@Indexed`; nil without the attribute.
    let indexed: Indexing?
    /// The arguments of `@FullText`; nil without the attribute.
    let fullText: String?
    /// The size in `@External`; nil without the attribute.
    let externalThreshold: String?

    /// A field of another name and type that earlier records have in the same position.
    struct Predecessor {
      let name: String
      let type: ExprSyntax
      let until: UInt8
    }

    /// The arguments of `@Indexed`.
    struct Indexing {
      let isUnique: Bool
      let isFolded: Bool

      /// Reads an attribute that has been validated.
      init(_ attribute: AttributeSyntax) {
        func isTrue(_ label: String) -> Bool {
          attribute.argument(label)?.trimmedDescription == "true"
        }
        (isUnique, isFolded) = (isTrue("unique"), isTrue("folded"))
      }
    }

    /// The name without backticks.
    var plainName: String { name.filter { $0 != "`" } }
    /// The name of the property that stores the value.
    var storage: String { "_\(plainName)" }
    /// The highest version that the field names.
    var lastVersion: UInt8 { max(since ?? 0, droppedIn ?? 0, predecessor?.until ?? 0) }
  }

  extension StoredField {
    /// The role of a member in a stored class.
    enum Role {
      case field(StoredField)
      /// A property that is in no record, a method, or a type.
      case none
    }

    private static func formerNames(_ marks: [AttributeSyntax]) throws(Finding) -> [String] {
      var names: [String] = []
      for mark in marks where !mark.isTyped { names.append(try mark.formerName()) }
      return names
    }

    /// Reads a declaration.
    ///
    /// - Throws: ``Finding`` for a property that can't be stored as declared.
    static func role(
      of member: some DeclSyntaxProtocol, in className: String? = nil
    ) throws(Finding) -> Role {
      guard let variable = member.as(VariableDeclSyntax.self) else { return .none }
      guard variable.isInstanceStored, variable.attribute("Transient") == nil else {
        try variable.checkAttributesOutsideOfRecords()
        return .none
      }
      try variable.checkIsStorable()
      let (binding, name) = try variable.soleBinding()
      let type = try binding.typeOfProperty()
      try type.checkIsStorable(in: variable)
      try MarkedProperty(variable: variable, name: name, type: type, className: className)
        .validateAttributes()
      let former = variable.attributes.all(named: "Formerly")
      return .field(
        StoredField(
          declaration: variable, name: name, type: type,
          defaultValue: try binding.defaultValue(for: type),
          since: try variable.attribute("Since")?.version(at: 0),
          droppedIn: try variable.attribute("Dropped")?.version(at: 0),
          predecessor: try former.first { $0.isTyped }?.predecessor(),
          formerNames: try formerNames(former),
          conversions: variable.attributes.all(named: "Converted").map(\.argumentText),
          relationship: variable.attribute("Relationship")?.argumentText,
          unique: variable.attribute("Unique")?.argumentText,
          indexed: variable.attribute("Indexed").map { StoredField.Indexing($0) },
          fullText: variable.attribute("FullText")?.argumentText,
          externalThreshold: variable.attribute("External")?.argument("above")?.trimmedDescription))
    }
  }

  extension VariableDeclSyntax {
    /// Whether this is a stored property of an instance; `lazy`, `let` and observed ones are.
    var isInstanceStored: Bool {
      let shared: Set<Keyword> = [.static, .class]
      if modifiers.contains(where: { shared.contains($0.keyword ?? .self) }) { return false }
      return bindings.contains { !$0.isComputed }
    }

    /// Returns the first attribute with a name.
    func attribute(_ name: String) -> AttributeSyntax? { attributes.first(named: name) }
  }

  extension AttributeListSyntax {
    /// Returns all attributes with a name.
    func all(named name: String) -> [AttributeSyntax] {
      compactMap { $0.as(AttributeSyntax.self) }.filter { $0.name == name }
    }

    /// Returns the first attribute with a name.
    func first(named name: String) -> AttributeSyntax? {
      lazy.compactMap { $0.as(AttributeSyntax.self) }.first { $0.name == name }
    }
  }

  extension DeclModifierSyntax {
    /// The keyword of the modifier, if it is one.
    var keyword: Keyword? {
      if case .keyword(let keyword) = name.tokenKind { keyword } else { nil }
    }
  }

  extension PatternBindingSyntax {
    /// Whether the binding has its own getter.
    var isComputed: Bool {
      switch accessorBlock?.accessors {
      case .getter: true
      case .accessors(let accessors): !accessors.contains(where: \.isObserver)
      case nil: false
      }
    }
  }

  extension AccessorDeclSyntax {
    /// Whether the accessor is `willSet` or `didSet`.
    var isObserver: Bool {
      [.keyword(.willSet), .keyword(.didSet)].contains(accessorSpecifier.tokenKind)
    }
  }

  extension AttributeSyntax {
    /// The name without its module.
    var name: String {
      attributeName.as(IdentifierTypeSyntax.self)?.name.text
        ?? attributeName.as(MemberTypeSyntax.self)?.name.text ?? ""
    }

    private var labeledArguments: [LabeledExprSyntax] {
      if case .argumentList(let list) = arguments { Array(list) } else { [] }
    }

    /// The arguments as written.
    fileprivate var argumentText: String { arguments?.trimmedDescription ?? "" }

    /// Returns an argument that is a version.
    ///
    /// - Throws: ``Finding`` if it is not a literal from 0 to 255.
    func version(at index: Int) throws(Finding) -> UInt8 {
      let arguments = labeledArguments
      guard index < arguments.count else { throw Finding(self, "@\(name) needs a version") }
      let text = arguments[index].expression.trimmedDescription.filter { $0 != "_" }
      guard let version = UInt8(text) else {
        throw Finding(
          arguments[index].expression, "a version is a literal from 0 to 255")
      }
      return version
    }

    /// Whether `@Formerly` has a type.
    var isTyped: Bool { labeledArguments.count == 3 }

    /// Returns the name in `@Formerly`.
    func formerName() throws(Finding) -> String {
      guard let argument = labeledArguments.first else {
        throw Finding(self, "@Formerly needs the former name")
      }
      return try formerName(argument)
    }

    private func formerName(_ argument: LabeledExprSyntax) throws(Finding) -> String {
      let name = argument.expression.trimmedDescription.filter { $0 != "\"" }
      guard name.isIdentifier else {
        throw Finding(argument.expression, "the former name must be the name of a property")
      }
      return name
    }

    /// Returns the predecessor, from a `@Formerly` with a type.
    func predecessor() throws(Finding) -> StoredField.Predecessor {
      let arguments = labeledArguments
      let name = try formerName(arguments[0])
      guard let access = arguments[1].expression.as(MemberAccessExprSyntax.self),
        access.declName.baseName.text == "self", let type = access.base
      else { throw Finding(arguments[1].expression, "write the former type as 'UInt32.self'") }
      return .init(name: name, type: type.trimmed, until: try version(at: 2))
    }
  }

  extension String {
    fileprivate var isIdentifier: Bool {
      guard let first else { return false }
      return !first.isNumber && allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
    }
  }
#endif
