#if Macros
  import SwiftSyntax
  import SwiftSyntaxBuilder

  extension StoredField {
    /// The accessors of the property, which read the content first and report changes.
    var accessors: [AccessorDeclSyntax] {
      [
        """
        @storageRestrictions(initializes: \(raw: storage))
        init(initialValue) {
          \(raw: storage) = initialValue
        }
        """,
        """
        get {
          if !isReadable {
            willRead("\(raw: plainName)")
          }
          return \(raw: storage)
        }
        """,
        """
        _modify {
          if isPlain {
            willChange()
          } else {
            willModify("\(raw: plainName)")
          }
          defer {
            if !isPlain {
              didModify("\(raw: plainName)")
            }
          }
          yield &\(raw: storage)
        }
        """,
      ]
    }

    /// The metatype of the field's type.
    var metatype: String { type.trimmed.metatype }

    /// The property that stores the value.
    var storageDeclaration: DeclSyntax {
      "private nonisolated var \(raw: storage): \(type.trimmed) = \(defaultValue.trimmed)"
    }

    /// Returns the statements that read the field.
    ///
    /// Every record sets every field: a field that an old record lacks gets its default.
    func reading(keepingFormer: Bool) -> String {
      let value = "buffer.readValue(\(type.isExistential ? "ofAny" : "of"): \(metatype))"
      let from = since ?? 0
      if let droppedIn {
        let target = keepingFormer ? "former.\(name)" : "_"
        let old =
          from > 0 ? "\(from)..<\(droppedIn) ~= buffer.version" : "buffer.version < \(droppedIn)"
        return "if \(old) { \(target) = try \(value) }"
      }
      guard let predecessor else {
        if from == 0 { return "\(storage) = try \(value)" }
        return """
          \(storage) = try buffer.version >= \(from) ? \(value) : \(defaultValue.trimmed)
          """
      }
      return """
        if buffer.version >= \(predecessor.until) {
          \(storage) = try \(value)
        } else {
          \(storage) = \(defaultValue.trimmed)
          \(reading(predecessor, keeping: keepingFormer))
        }
        """
    }

    /// Returns the statement that reads the field's predecessor.
    private func reading(_ predecessor: Predecessor, keeping: Bool) -> String {
      let target = keeping ? "former.\(predecessor.name)" : "_"
      let reading = "\(target) = try buffer.readValue(of: \(predecessor.type).self)"
      guard let since, since > 0 else { return reading }
      return "if buffer.version >= \(since) { \(reading) }"
    }
  }

  extension StoredClass {
    /// The members that are added to the class.
    var members: [DeclSyntax] {
      var members = [codingGuard, readContent, writeContent, layout]
      if version > 0 { members.append(classVersion) }
      members += [relationships, indexes, fullTextAttributes].compactMap(\.self)
      members += [dissolving, threading, initializer].compactMap(\.self)
      if !formerValues.isEmpty { members.append(former) }
      return members
    }

    private var keepsFormer: Bool { hook?.takesFormer == true && !formerValues.isEmpty }

    private var readContent: DeclSyntax {
      var lines: [String] = []
      if !isRoot { lines.append("try StoredExpansion.run(super.readContent(from: &buffer))") }
      if keepsFormer { lines.append("var former = Former()") }
      lines += fields.map { $0.reading(keepingFormer: keepsFormer) }
      if let hook {
        let call = (hook.canThrow ? "try " : "") + "upgrade(from: buffer.version"
        let former = hook.takesFormer ? ", former: former)" : ")"
        lines.append("if buffer.version < \(version) { \(call)\(former) }")
      }
      return """
        \(raw: modifiers)override func readContent(from buffer: inout DataBuffer) throws {
        \(raw: lines.joined(separator: "\n"))
        }
        """
    }

    private var writeContent: DeclSyntax {
      var lines: [String] = []
      if !isRoot { lines.append("try StoredExpansion.run(super.writeContent(to: &buffer))") }
      lines += currentFields.map { field in
        let label = field.type.isExistential ? "asAny" : "as"
        let call = "writeValue(\(field.storage), \(label): \(field.metatype))"
        guard let size = field.externalThreshold else { return "buffer.\(call)" }
        return "buffer.storingExternals(above: \(size)) { $0.\(call) }"
      }
      return """
        \(raw: modifiers)override func writeContent(to buffer: inout DataBuffer) throws {
        \(raw: lines.joined(separator: "\n"))
        }
        """
    }

    private var classVersion: DeclSyntax {
      let version = isRoot ? "\(version)" : "Swift.max(super.classVersion, \(version))"
      return """
        \(raw: modifiers)override class var classVersion: UInt8 {
          \(raw: version)
        }
        """
    }

    private var relationships: DeclSyntax? {
      let lines = currentFields.compactMap { field in
        field.relationship.map { words in
          "Relationship(\(keyPath(field))\(words.isEmpty ? "" : ", ")\(words))"
        }
      }
      return override("relationships", "Relationship", lines)
    }

    private func keyPath(_ field: StoredField) -> String { keyPath(field.name) }

    /// Returns the key path of a property of the class.
    func keyPath(_ property: String) -> String { "\\\(declaration.name.text).\(property)" }

    func override(_ name: String, _ type: String, _ values: [String]) -> DeclSyntax? {
      if values.isEmpty { return nil }
      return """
        \(raw: modifiers)override class var \(raw: name): [\(raw: type)] {
          super.\(raw: name) + [
            \(raw: values.joined(separator: ",\n"))
          ]
        }
        """
    }

    /// Releases possible references, so that cycles of objects can be freed.
    private var dissolving: DeclSyntax? {
      let fields = currentFields.filter(\.type.mayRefer)
      if fields.isEmpty { return nil }
      var lines = isRoot ? [] : ["super.dissolveAllRelationships()"]
      lines += fields.map { field in
        guard field.type.isExistential else { return "StoredExpansion.letGo(&\(field.storage))" }
        return "\(field.storage) = \(field.type.isOptional ? "nil" : "[]")"
      }
      return """
        \(raw: modifiers)override func dissolveAllRelationships() {
        \(raw: lines.joined(separator: "\n"))
        }
        """
    }

    /// Declares that coding an object runs no other code, if that is evident.
    ///
    /// Coding includes creating the object.
    private var threading: DeclSyntax? {
      guard isThreadNeutral else { return nil }
      return """
        \(raw: modifiers)override class var isCodedOnAnyThread: Bool {
          \(raw: isRoot ? "true" : "super.isCodedOnAnyThread")
        }
        """
    }

    private var former: DeclSyntax {
      let lines = formerValues.map { "var \($0.name): \($0.type) = \($0.value)" }
      return """
        /// The properties that only records of earlier versions have.
        private nonisolated struct Former {
        \(raw: lines.joined(separator: "\n"))
        }
        """
    }
  }

  extension TypeSyntax {
    /// The metatype of the type; `any P` and similar types need parentheses.
    fileprivate var metatype: String {
      switch kind {
      case .identifierType, .memberType, .optionalType, .arrayType, .dictionaryType: "\(self).self"
      default: "(\(self)).self"
      }
    }
  }
#endif
