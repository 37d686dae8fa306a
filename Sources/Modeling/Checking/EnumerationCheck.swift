import StoredObjectsCore

extension ModelDesign {
  /// The errors in the names of enumerations.
  var enumerationNameErrors: [DesignFinding] {
    let classNames = Set(classes.map(\.name))
    var names: Set<String> = []
    return enumerations.map(\.name).compactMap { name in
      let isNew = names.insert(name).inserted
      let text: String? =
        if !SwiftNames.isIdentifier(name) || SwiftNames.keywords.contains(name) {
          """
          "\(name)" can't be the name of an enumeration. Write a letter, and then letters, digits \
          and underscores.
          """
        } else if !SwiftNames.isTypeName(name) {
          "\(name) is a type of Swift or StoredObjects. Choose another name for the enumeration."
        } else if classNames.contains(name) {
          "There is a class \(name) already. Choose another name for the enumeration."
        } else {
          isNew ? nil : "Two enumerations are named \(name)."
        }
      return text.map { .init(.error, $0, in: name) }
    }
  }
}
