#if Macros
  import SwiftDiagnostics
  import SwiftSyntax
  import SwiftSyntaxBuilder

  /// The `#Index` declarations of a class.
  struct CompoundIndexes {
    let declaration: ClassDeclSyntax
    let fields: [StoredField]
    /// Whether all stored properties are visible to the macro.
    let isRoot: Bool

    init(_ declaration: ClassDeclSyntax, _ fields: [StoredField], isRoot: Bool) {
      (self.declaration, self.fields, self.isRoot) = (declaration, fields, isRoot)
    }

    private var className: String { declaration.name.text }

    /// Returns the names of the properties of each index.
    ///
    /// - Throws: ``Finding`` for an index that is not possible.
    func read() throws(Finding) -> [[String]] {
      var known = Set(fields.filter { $0.indexed?.isFolded == false }.map { indexName([$0.name]) })
      known.formUnion(fields.compactMap(\.uniqueNames).map(indexName))
      var all: [[String]] = []
      for member in declaration.memberBlock.members {
        guard let expansion = member.decl.as(MacroExpansionDeclSyntax.self),
          expansion.macroName.text == "Index"
        else { continue }
        try checkIndexedClass(expansion)
        if expansion.arguments.isEmpty { throw Self.needsList(expansion) }
        for argument in expansion.arguments {
          let names = try properties(of: argument.expression)
          guard known.insert(indexName(names)).inserted else {
            throw Finding(
              argument.expression,
              "there is an index of '\(indexName(names))' already: remove one of the two")
          }
          all.append(names)
        }
      }
      return all
    }

    private static func needsList(_ node: some SyntaxProtocol) -> Finding {
      Finding(node, "write the properties of an index as '[\\.artist, \\.title]'")
    }

    /// Throws for `#Index<Album>` in another class.
    private func checkIndexedClass(_ expansion: MacroExpansionDeclSyntax) throws(Finding) {
      guard let arguments = expansion.genericArgumentClause?.arguments,
        case .type(let type)? = arguments.first?.argument
      else { return }
      let name = type.trimmedDescription.split(separator: ".").last.map(String.init)
      if name == className { return }
      throw Finding(
        type, "an index in \(className) is an index of \(className), not of \(type.trimmed)",
        cures: [
          .replace("Replace it by '\(className)'", type, by: TypeSyntax("\(raw: className)"))
        ])
    }

    private func properties(of argument: ExprSyntax) throws(Finding) -> [String] {
      guard let list = argument.as(ArrayExprSyntax.self), !list.elements.isEmpty else {
        throw Self.needsList(argument)
      }
      if list.elements.count > 3 {
        throw Finding(list, "an index has at most three properties: leave out the last ones")
      }
      var names: [String] = []
      for element in list.elements {
        let name = try property(element.expression)
        if names.contains(name) {
          throw Finding(element.expression, "'\(name)' is in the index already: remove it")
        }
        names.append(name)
      }
      return names
    }

    private func property(_ element: ExprSyntax) throws(Finding) -> String {
      guard let path = element.as(KeyPathExprSyntax.self) else {
        throw Finding(element, "a property of an index is a key path: write '\\.title'")
      }
      // To the parser only the first name is the root, even of a nested class.
      let types = path.names.prefix { $0.first?.isUppercase == true }
      let names = path.names.dropFirst(types.count)
      if let type = types.last, type != className {
        throw Finding(element, "an index is of properties of \(className), not of \(type)")
      }
      guard let name = names.first, names.count == 1 else {
        throw Finding(
          element,
          """
          an index is of the object's own properties, not of those of other objects, which can \
          change without a save of the object
          """)
      }
      try checkIsIndexable(name, element)
      return name
    }

    private func checkIsIndexable(_ name: String, _ element: ExprSyntax) throws(Finding) {
      guard let field = fields.first(where: { $0.plainName == name.filter { $0 != "`" } }) else {
        return try checkIsKnown(name, element)
      }
      if field.droppedIn != nil {
        throw Finding(element, "'\(name)' is dropped: remove it from the index")
      }
      switch field.type.indexForm {
      case .value: return
      case .list:
        throw Finding(
          element, "a list can't be a part of an index: mark '\(name)' @Indexed, by itself")
      case .none:
        let type = field.type.trimmed
        throw Finding(
          element, "'\(type)' has no order for an index: remove '\(name)'")
      }
    }

    /// Throws for an unknown property, unless it may be one of the superclass.
    ///
    /// A macro can't see properties of the superclass; the compiler reports it if there is none.
    private func checkIsKnown(_ name: String, _ element: ExprSyntax) throws(Finding) {
      let isDeclared = declaration.memberBlock.members.contains { member in
        member.decl.as(VariableDeclSyntax.self)?.bindings.contains {
          $0.pattern.trimmedDescription == name
        } == true
      }
      if isDeclared {
        throw Finding(
          element, "an index is of stored properties, and '\(name)' is not stored: remove it")
      }
      guard isRoot else { return }
      let known = fields.filter { $0.droppedIn == nil }.map(\.plainName).joined(separator: ", ")
      throw Finding(
        element,
        """
        \(className) has no stored property '\(name)'\
        \(known.isEmpty ? "" : ": it has \(known)")
        """)
    }
  }
#endif
