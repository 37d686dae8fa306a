#if Macros
  import SwiftDiagnostics
  import SwiftSyntax
  import SwiftSyntaxBuilder

  extension StoredClass {
    /// Throws if the compiler would synthesize the coding.
    ///
    /// A synthesized coding would encode the storage of the properties, under the names of the
    /// storage, and without reading the record of a fault first.
    func validateCoding() throws(Finding) {
      guard let inherited = declaration.inheritanceClause?.inheritedTypes else { return }
      for type in inherited.dropFirst() {
        let names = Set(type.type.tokens(viewMode: .sourceAccurate).map(\.text))
        let encodes = !names.isDisjoint(with: ["Codable", "Encodable"]) && !hasEncoding
        let decodes = !names.isDisjoint(with: ["Codable", "Decodable"]) && !hasDecoding
        guard encodes || decodes else { continue }
        let missing = [encodes ? "encode(to:)" : nil, decodes ? "init(from:)" : nil]
          .compactMap(\.self).joined(separator: " and ")
        throw Finding(
          type.type,
          """
          write \(missing) by hand: the compiler would encode the storage of the properties, which \
          may not have been read yet
          """,
          cures: [writingCoding(encodes: encodes, decodes: decodes, missing)])
      }
    }

    private var hasEncoding: Bool {
      declaration.memberBlock.members.contains { member in
        guard let method = member.decl.as(FunctionDeclSyntax.self) else { return false }
        return method.name.text == "encode"
          && method.signature.parameterClause.parameters.first?.firstName.text == "to"
      }
    }

    private var hasDecoding: Bool {
      declaration.memberBlock.members.contains { member in
        let initializer = member.decl.as(InitializerDeclSyntax.self)
        return initializer?.signature.parameterClause.parameters.first?.firstName.text == "from"
      }
    }

    private func writingCoding(encodes: Bool, decodes: Bool, _ missing: String) -> FixIt {
      var members: [DeclSyntax] = []
      let names = currentFields.map(\.name).joined(separator: ", ")
      if !hasCodingKeys {
        members.append("private enum CodingKeys: CodingKey { case \(raw: names) }")
      }
      if encodes { members.append(encoding) }
      if decodes { members.append(decoding) }
      var cured = declaration.memberBlock
      for member in members {
        let indented = member.description.split(separator: "\n").joined(separator: "\n  ")
        let item: DeclSyntax = "\n\n  \(raw: indented)"
        cured.members.append(MemberBlockItemSyntax(decl: item))
      }
      return .replace("Write \(missing)", declaration.memberBlock, by: cured)
    }

    private var hasCodingKeys: Bool {
      declaration.memberBlock.members.contains {
        $0.decl.as(EnumDeclSyntax.self)?.name.text == "CodingKeys"
      }
    }

    private var encoding: DeclSyntax {
      let lines = currentFields.map { field in
        let call = field.type.isOptional ? "encodeIfPresent" : "encode"
        return "try container.\(call)(\(field.name), forKey: .\(field.name))"
      }
      return """
        \(raw: access)func encode(to encoder: any Encoder) throws {
          var container = encoder.container(keyedBy: CodingKeys.self)
          \(raw: lines.joined(separator: "\n  "))
        }
        """
    }

    private var decoding: DeclSyntax {
      let lines = currentFields.map { field in
        let type = field.type.wrappedOptional ?? field.type
        let call = field.type.isOptional ? "decodeIfPresent" : "decode"
        return """
          \(field.name) = try container.\(call)(\(type.trimmed).self, forKey: .\(field.name))
          """
      }
      return """
        \(raw: access)required convenience init(from decoder: any Decoder) throws {
          self.init()
          let container = try decoder.container(keyedBy: CodingKeys.self)
          \(raw: lines.joined(separator: "\n  "))
        }
        """
    }

    /// A property of size zero that the compiler can't encode.
    ///
    /// It prevents synthesized coding in extensions, too, which the macro can't see.
    var codingGuard: DeclSyntax {
      "private let _isNotEncodable = StoredExpansion.NotEncodable()"
    }
  }

  extension TypeSyntax {
    /// The type inside of an optional type.
    fileprivate var wrappedOptional: TypeSyntax? {
      self.as(OptionalTypeSyntax.self)?.wrappedType
    }
  }
#endif
