#if Macros
  import SwiftSyntax

  /// A property that has a place in the records of its class, as its declaration says.
  struct StoredField {
    let declaration: VariableDeclSyntax
    /// As declared, perhaps in backticks.
    let name: String
    let type: TypeSyntax
    /// What the property is before anything is read.
    let defaultValue: ExprSyntax
    /// The version that brought the field; nil where nothing is said.
    let since: UInt8?
    /// The version that dropped the field.
    let droppedIn: UInt8?
    /// What stood in the field's place before.
    let predecessor: Predecessor?
    /// Names that the field had before.
    let formerNames: [String]
    /// What each `@Converted` says in its parentheses.
    let conversions: [String]

    /// What `@Relationship` says in its parentheses; nil where there is none.
    let relationship: String?
    /// What `@Unique` says in its parentheses; nil where there is none.
    let unique: String?
    /// What `@Indexed` says; nil where there is none.
    let indexed: Indexing?
    /// What `@FullText` says in its parentheses; nil where there is none.
    let fullText: String?
    /// The size that `@External` says; nil where there is none.
    let externalThreshold: String?

    /// A field of another name and type that earlier records have in the place.
    struct Predecessor {
      let name: String
      let type: ExprSyntax
      let until: UInt8
    }

    /// What `@Indexed` says of a property.
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
    /// The property that holds the value.
    var storage: String { "_\(plainName)" }
    /// The highest version that the field speaks of.
    var lastVersion: UInt8 { max(since ?? 0, droppedIn ?? 0, predecessor?.until ?? 0) }
  }

  extension StoredField {
    /// What is done with a member of a stored class.
    enum Role {
      case field(StoredField)
      /// A property that is in no record, a method, a type.
      case none
    }

    private static func formerNames(_ marks: [AttributeSyntax]) throws(Finding) -> [String] {
      var names: [String] = []
      for mark in marks where !mark.isTyped { names.append(try mark.formerName()) }
      return names
    }

    /// Reads a declaration.
    ///
    /// - Throws: ``Finding`` for a property that can't be stored as it is.
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
    /// Whether it is a stored property of an instance; `lazy`, `let` and observed ones are.
    var isInstanceStored: Bool {
      let shared: Set<Keyword> = [.static, .class]
      if modifiers.contains(where: { shared.contains($0.keyword ?? .self) }) { return false }
      return bindings.contains { !$0.isComputed }
    }

    /// An attribute by its name.
    func attribute(_ name: String) -> AttributeSyntax? { attributes.first(named: name) }
  }

  extension AttributeListSyntax {
    /// All attributes of a name.
    func all(named name: String) -> [AttributeSyntax] {
      compactMap { $0.as(AttributeSyntax.self) }.filter { $0.name == name }
    }

    /// An attribute by its name.
    func first(named name: String) -> AttributeSyntax? {
      lazy.compactMap { $0.as(AttributeSyntax.self) }.first { $0.name == name }
    }
  }

  extension DeclModifierSyntax {
    /// The keyword, if it is one.
    var keyword: Keyword? {
      if case .keyword(let keyword) = name.tokenKind { keyword } else { nil }
    }
  }

  extension PatternBindingSyntax {
    /// Whether the binding has a getter of its own.
    var isComputed: Bool {
      switch accessorBlock?.accessors {
      case .getter: true
      case .accessors(let accessors): !accessors.contains(where: \.isObserver)
      case nil: false
      }
    }
  }

  extension AccessorDeclSyntax {
    /// Whether it is `willSet` or `didSet`.
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

    /// The arguments as they are written.
    fileprivate var argumentText: String { arguments?.trimmedDescription ?? "" }

    /// An argument that is a version.
    ///
    /// - Throws: ``Finding`` when it is no literal from 0 to 255.
    func version(at index: Int) throws(Finding) -> UInt8 {
      let arguments = labeledArguments
      guard index < arguments.count else { throw Finding(self, "@\(name) needs a version") }
      let text = arguments[index].expression.trimmedDescription.filter { $0 != "_" }
      guard let version = UInt8(text) else {
        throw Finding(
          arguments[index].expression, "a version is a number from 0 to 255, written as such")
      }
      return version
    }

    /// Whether `@Formerly` says a type.
    var isTyped: Bool { labeledArguments.count == 3 }

    /// The name that `@Formerly` says.
    func formerName() throws(Finding) -> String {
      guard let argument = labeledArguments.first else {
        throw Finding(self, "@Formerly needs the former name")
      }
      return try formerName(argument)
    }

    private func formerName(_ argument: LabeledExprSyntax) throws(Finding) -> String {
      let name = argument.expression.trimmedDescription.filter { $0 != "\"" }
      guard name.isIdentifier else {
        throw Finding(argument.expression, "the former name is that of a property")
      }
      return name
    }

    /// What `@Formerly` says with a type.
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
