import Testing

@Suite("The comments of public declarations")
struct DocumentationTests {
  private static let symbols = PublicSymbol.all

  @Test("They are found")
  func found() {
    #expect(Self.symbols.count > 2500)
    #expect(Self.symbols.contains { $0.declaration.contains("protocol StoreBackend") })
    #expect(
      Self.symbols.contains {
        $0.summary == "Saves all changes since the last save, atomically."
      })
    let throwing = Self.symbols.filter { $0.declaration.contains(" throws") }
    #expect(throwing.count > 500)
  }

  @Test("Each declaration, requirement and case has one")
  func complete() {
    #expect(Self.symbols.filter { $0.comment.isEmpty }.map(\.place) == [])
  }

  @Test("Each function that can throw says what it throws")
  func errors() {
    // A body of one line that calls nothing throws nothing.
    let silent = /\{ ?(nil|true|false|\[\]|\d+|\w+\(\))? ?\}$/
    let undocumented = Self.symbols.filter { symbol in
      symbol.declaration.contains(/\bthrows\b/) && !symbol.comment.contains(/[Tt]hrows/)
        && !symbol.line.contains(silent) && !symbol.line.hasPrefix("typealias")
    }
    #expect(undocumented.map(\.place) == [])
  }

  /// The words that begin the comment of an action.
  private static func isVerb(_ word: Substring) -> Bool {
    word.first?.isUppercase == true && word.hasSuffix("s")
      && !["This", "Its", "Always", "Whereas", "Besides", "Unless"].contains(word)
  }

  @Test("The comment of a function begins with a verb")
  func verbs() {
    let others = Self.symbols.filter { symbol in
      ["func", "init"].contains(symbol.kind) && !Self.isVerb(symbol.firstWord)
        && symbol.firstWord != "Unavailable"
    }
    #expect(others.map { "\($0.place): \($0.summary)" } == [])
  }

  @Test("The comment of a property or a type begins with a noun")
  func nouns() {
    let verbs: Set<Substring> = [
      "Returns", "True", "False", "Nil", "Always", "How", "When", "Called", "Set", "Decides",
      "Copies", "Keeps", "Orders", "Sends", "Carries", "Opens", "Makes", "Stores", "Holds", "Is",
      "Applies", "Writes", "Reads", "Marks", "Handles", "There", "This", "It", "Limits",
    ]
    let kinds: Set = ["var", "let", "struct", "class", "enum", "protocol", "actor", "typealias"]
    let others = Self.symbols.filter {
      kinds.contains($0.kind) && verbs.contains($0.firstWord) && !$0.isErrorCode
    }
    #expect(others.map { "\($0.place): \($0.summary)" } == [])
  }

  @Test("A function that can fail, waits or handles a collection has a line on its cost")
  func complexity() {
    let without = Self.symbols.filter { $0.needsComplexity && !$0.comment.contains("Complexity:") }
    #expect(without.map { "\($0.place): \($0.signature)" } == [])
  }
}
