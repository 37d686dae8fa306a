#if Macros
  import SwiftSyntax
  import SwiftSyntaxBuilder

  // The names and types of the fields, by which records of other layouts are read.

  extension StoredClass {
    /// The override of the layout of the class, which a store saves.
    var layout: DeclSyntax {
      let name = declaration.name.text
      let head =
        isRoot
        ? "ClassLayout(\(name).self,"
        : "ClassLayout(\(name).self, following: super.layout, of: \(superclass).self,"
      return """
        \(raw: modifiers)override class var layout: ClassLayout? {
          \(raw: head) [
            \(raw: fields.flatMap(\.layoutLines).joined(separator: ",\n"))
          ])
        }
        """
    }
  }

  extension StoredField {
    /// The field, preceded by its predecessor in the same position.
    fileprivate var layoutLines: [String] {
      guard let predecessor else { return [line] }
      let former = "StoredProperty(\"\(predecessor.name)\", \(predecessor.type).self)"
      return [former + since(since) + until(predecessor.until), line]
    }

    private var line: String {
      let label = type.isExistential ? "ofAny: " : ""
      let property = "StoredProperty(\"\(plainName)\", \(label)\(metatype))"
      let names = formerNames.map { "\"\($0)\"" }.joined(separator: ", ")
      let former = names.isEmpty ? "" : ".formerly(\(names))"
      return property + since(predecessor?.until ?? since) + until(droppedIn) + former
        + conversions.map { ".converted(to: \(metatype), \($0))" }.joined()
    }

    private func since(_ version: UInt8?) -> String {
      version.map { $0 > 0 ? ".since(\($0))" : "" } ?? ""
    }

    private func until(_ version: UInt8?) -> String { version.map { ".until(\($0))" } ?? "" }
  }
#endif
