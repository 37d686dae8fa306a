#if Macros
  import SwiftDiagnostics
  import SwiftSyntax
  import SwiftSyntaxBuilder

  // The expansions of `@Indexed`, `@Unique`, `#Index` and `@FullText`.

  extension StoredClass {
    /// The override of the indexes, each of which is named by its properties.
    var indexes: DeclSyntax? {
      let single = currentFields.compactMap { field in field.indexed.map { index(of: field, $0) } }
      let compound = compoundIndexes.map { names in
        let paths = names.map(keyPath).joined(separator: ", ")
        return "AttributeIndex(\"\(indexName(names))\", \(paths))"
      }
      let unique = currentFields.compactMap { field in
        field.uniqueNames.map { names in
          let paths = names.map(keyPath).joined(separator: ", ")
          return "AttributeIndex(\"\(indexName(names))\", \(paths), isUnique: true)"
        }
      }
      return override("indexes", "AttributeIndex", single + unique + compound)
    }

    /// Returns the index of a property, according to the arguments of `@Indexed`.
    private func index(of field: StoredField, _ indexing: StoredField.Indexing) -> String {
      let label = field.type.indexForm == .list ? "toMany: " : ""
      let (prefix, suffix) = indexing.isFolded ? ("folded ", ".folded") : ("", "")
      let unique = indexing.isUnique ? ", isUnique: true" : ""
      let path = "\(label)\(keyPath(field.name))\(suffix)"
      return "AttributeIndex(\"\(prefix)\(field.plainName)\", \(path)\(unique))"
    }

    var fullTextAttributes: DeclSyntax? {
      let lines = currentFields.compactMap { field in
        field.fullText.map { words in
          let rest = words.isEmpty ? "" : ", \(words)"
          return "FullTextAttribute(\"\(field.plainName)\", \(keyPath(field.name))\(rest))"
        }
      }
      return override("fullTextAttributes", "FullTextAttribute", lines)
    }

    /// Throws for handwritten lists that the macro would also generate.
    static func checkForHandwrittenLists(
      of declaration: ClassDeclSyntax, _ fields: [StoredField], _ compoundIndexes: [[String]]
    ) throws(Finding) {
      var written: [String: String] = [:]
      if !compoundIndexes.isEmpty { written["indexes"] = "#Index" }
      if fields.contains(where: { $0.unique != nil }) { written["indexes"] = "@Unique" }
      if fields.contains(where: { $0.indexed != nil }) { written["indexes"] = "@Indexed" }
      if fields.contains(where: { $0.fullText != nil }) {
        written["fullTextAttributes"] = "@FullText"
      }
      for member in declaration.memberBlock.members {
        guard let variable = member.decl.as(VariableDeclSyntax.self), !variable.isInstanceStored,
          let name = variable.bindings.first?.pattern.trimmedDescription, let mark = written[name]
        else { continue }
        throw Finding(
          variable,
          """
          @Stored writes '\(name)' from the properties with \(mark): mark all of them, or write \
          '\(name)' by hand without the marks
          """)
      }
    }
  }

  extension StoredField {
    /// The names of the properties in `@Unique`, the field's own first.
    var uniqueNames: [String]? {
      guard let unique else { return nil }
      // Other arguments are refused, so this is a key path to a property of the class.
      let other = unique.hasPrefix("with:") ? unique.split(separator: ".").last : nil
      return [name] + (other.map { [String($0)] } ?? [])
    }
  }

  /// Returns the name of an index of some properties.
  func indexName(_ properties: [String]) -> String {
    properties.map { $0.filter { $0 != "`" } }.joined(separator: " and ")
  }

  /// The way in which a type can be indexed.
  enum IndexForm {
    /// By its value; the compiler checks whether that is possible.
    case value
    /// By each of the objects in a list.
    case list
    case none
  }

  extension TypeSyntax {
    var indexForm: IndexForm {
      if referredList != nil { return .list }
      if let optional = self.as(OptionalTypeSyntax.self) {
        return optional.wrappedType.indexForm == .value ? .value : .none
      }
      switch kind {
      case .arrayType, .dictionaryType: return .none
      default: break
      }
      let name = self.as(IdentifierTypeSyntax.self)?.name.text ?? ""
      return ["Array", "Set", "Dictionary", "ObjectList"].contains(name) ? .none : .value
    }

    /// Whether the type is a text, or may be one under another name.
    var mayBeText: Bool {
      if let optional = self.as(OptionalTypeSyntax.self) { return optional.wrappedType.mayBeText }
      guard let named = self.as(IdentifierTypeSyntax.self) else {
        return self.is(MemberTypeSyntax.self)
      }
      if named.name.text == "Optional",
        case .type(let type)? = named.genericArgumentClause?.arguments.first?.argument
      {
        return type.mayBeText
      }
      if named.name.text == "String" { return true }
      return named.genericArgumentClause == nil && isUnknown
    }
  }

  extension MarkedProperty {
    /// Throws for `@Indexed` on a type that has no order.
    func validate(indexed attribute: AttributeSyntax) throws(Finding) {
      if let list = type.as(OptionalTypeSyntax.self)?.wrappedType, list.referredList != nil {
        throw Finding(
          typeNode, "a list in an index is empty rather than nil: write '\(list.trimmed)'",
          cures: [replaceType(by: list.trimmed)])
      }
      if type.indexForm == .none {
        throw Finding(
          typeNode,
          """
          '\(type.trimmed)' has no order for an index: @Indexed is for single values, references, \
          and lists of references
          """, cures: [variable.remove(attribute)])
      }
      if try isTrue("unique", of: attribute), type.indexForm == .list {
        throw Finding(
          attribute, "what a list refers to can't be unique: write '@Indexed'",
          cures: [replaceByPlain(attribute)])
      }
      if try isTrue("folded", of: attribute), !type.mayBeText {
        throw Finding(
          attribute, "'\(type.trimmed)' is not a text, so it can't be folded: write '@Indexed'",
          cures: [replaceByPlain(attribute)])
      }
    }

    /// Whether an argument of an attribute is `true`.
    private func isTrue(_ label: String, of attribute: AttributeSyntax) throws(Finding) -> Bool {
      guard let value = attribute.argument(label) else { return false }
      guard let literal = value.as(BooleanLiteralExprSyntax.self) else {
        throw Finding(value, "a macro can't see values: write 'true' or 'false'")
      }
      return literal.literal.tokenKind == .keyword(.true)
    }

    /// Throws for `@FullText` on a type that is not a text.
    func validate(fullText attribute: AttributeSyntax) throws(Finding) {
      guard type.mayBeText else {
        throw Finding(
          typeNode,
          """
          '\(type.trimmed)' is not a text: @FullText is for String and String?; convert it to a \
          text in your own fullTextAttributes
          """, cures: [variable.remove(attribute)])
      }
      guard let weight = attribute.argument("weight") else { return }
      let text = weight.trimmedDescription
      if text.hasPrefix("-") || text.allSatisfy({ "0._".contains($0) }) {
        throw Finding(
          weight,
          "a weight must be above 0: remove @FullText from a property that searches should ignore")
      }
    }

    /// Returns a fix-it that removes the arguments of an attribute.
    func replaceByPlain(_ attribute: AttributeSyntax) -> FixIt {
      var plain = AttributeSyntax(attributeName: attribute.attributeName.trimmed)
      plain.leadingTrivia = attribute.leadingTrivia
      plain.trailingTrivia = attribute.trailingTrivia
      return .replace("Replace it by '@\(attribute.name)'", attribute, by: plain)
    }
  }
#endif
