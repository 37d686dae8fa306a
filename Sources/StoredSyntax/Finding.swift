#if Macros
  import SwiftDiagnostics
  import SwiftSyntax
  import SwiftSyntaxBuilder

  /// An error in a class or a property, with fix-its.
  struct Finding: Error {
    let node: Syntax
    let message: String
    let cures: [FixIt]

    init(_ node: some SyntaxProtocol, _ message: String, cures: [FixIt?] = []) {
      self.node = Syntax(node)
      self.message = message
      self.cures = cures.compactMap(\.self)
    }

    var diagnostic: Diagnostic {
      Diagnostic(node: node, message: Message(message: message), fixIts: cures)
    }

    private struct Message: DiagnosticMessage {
      let message: String
      let severity = DiagnosticSeverity.error
      var diagnosticID: MessageID { MessageID(domain: "StoredObjects", id: message) }
    }
  }

  extension FixIt {
    private struct Message: FixItMessage {
      let message: String
      var fixItID: MessageID { MessageID(domain: "StoredObjects", id: message) }
    }

    /// Returns a fix-it that replaces a node.
    ///
    /// The new node must have the whitespace around the old one.
    static func replace(
      _ message: String, _ old: some SyntaxProtocol, by new: some SyntaxProtocol
    ) -> FixIt {
      FixIt(
        message: Message(message: message),
        changes: [.replace(oldNode: Syntax(old), newNode: Syntax(new))])
    }

    /// Returns a fix-it that adds attributes or modifiers before a declaration.
    static func prepend(_ words: String, to declaration: some DeclSyntaxProtocol) -> FixIt {
      let rest = declaration.with(\.leadingTrivia, [])
      let new: DeclSyntax = "\(declaration.leadingTrivia)\(raw: words) \(rest)"
      return .replace("Add '\(words)'", declaration, by: new)
    }
  }
#endif
