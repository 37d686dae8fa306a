#if Macros
  import SwiftSyntax

  /// A class with the attribute `@Stored`, as declared.
  struct StoredClass {
    let declaration: ClassDeclSyntax
    /// Whether the superclass is `StoredObject` itself, which has no content.
    let isRoot: Bool
    /// The name of the superclass, as written.
    let superclass: String
    let fields: [StoredField]
    /// The version of the records that the class writes.
    let version: UInt8
    /// The class's method for records of earlier versions, if it has one.
    let hook: UpgradeHook?

    /// The indexes of several properties, as the names of the properties.
    let compoundIndexes: [[String]]

    /// The fields of the newest records.
    var currentFields: [StoredField] { fields.filter { $0.droppedIn == nil } }

    /// The values that only earlier records have: name, type and default of each.
    var formerValues: [(name: String, type: String, value: String)] {
      fields.compactMap { field in
        if let old = field.predecessor { return (old.name, "Optional<\(old.type)>", "nil") }
        guard field.droppedIn != nil else { return nil }
        return (field.name, "\(field.type.trimmed)", "\(field.defaultValue.trimmed)")
      }
    }

    /// The method `upgrade(from:)`, as declared.
    struct UpgradeHook {
      let takesFormer: Bool
      let canThrow: Bool
    }
  }

  extension StoredClass {
    /// Reads a declaration.
    ///
    /// - Throws: ``Findings``, with all errors in the declaration.
    init(_ declaration: some DeclGroupSyntax, _ attribute: AttributeSyntax) throws(Findings) {
      do throws(Finding) {
        let (subclass, superclass) = try Self.subclass(declaration)
        (self.declaration, self.superclass) = (subclass, superclass)
        isRoot = Self.rootNames.contains(superclass)
      } catch {
        throw Findings(all: [error])
      }
      fields = try Self.fields(of: declaration)
      do throws(Finding) {
        for field in fields { try field.checkVersions() }
        version = try Self.version(attribute, fields)
        hook = try Self.hook(of: self.declaration, fields, version)
        compoundIndexes = try CompoundIndexes(self.declaration, fields, isRoot: isRoot).read()
        try Self.checkForHandwrittenLists(of: self.declaration, fields, compoundIndexes)
        try validateCoding()
      } catch {
        throw Findings(all: [error])
      }
    }

    private static let rootNames: Set = [
      "StoredObject", "StoredObjectsCore.StoredObject", "StoredObjectsModel.StoredObject",
      "StoredObjects.StoredObject",
    ]

    private static func fields(
      of declaration: some DeclGroupSyntax
    ) throws(Findings) -> [StoredField] {
      var fields: [StoredField] = []
      var findings: [Finding] = []
      let name = declaration.as(ClassDeclSyntax.self)?.name.text
      for member in declaration.memberBlock.members {
        do throws(Finding) {
          try validateMember(member.decl)
          let role = try StoredField.role(of: member.decl, in: name)
          if case .field(let field) = role { fields.append(field) }
        } catch {
          findings.append(error)
        }
      }
      if !findings.isEmpty { throw Findings(all: findings) }
      return fields
    }
  }

  /// All errors in a class.
  struct Findings: Error {
    let all: [Finding]
  }
#endif
