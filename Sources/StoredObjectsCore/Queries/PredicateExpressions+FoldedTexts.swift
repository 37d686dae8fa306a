#if !canImport(Darwin)
  public import FoundationEssentials
  import StoreEngine

  extension PredicateExpressions {
    /// An expression that searches a text for another, ignoring case, accents and width.
    ///
    /// `#Predicate` makes it of `$0.title.localizedStandardContains("halo")`. The macro supports
    /// the call on every platform, but Foundation has the expression on Apple platforms only.
    public struct FoldedContains<
      Whole: StandardPredicateExpression, Part: StandardPredicateExpression
    >: StandardPredicateExpression where Whole.Output == String, Part.Output == String {
      let whole: Whole
      let part: Part

      /// Returns whether the text contains the other one.
      ///
      /// Complexity: linear in the lengths of both texts, which are folded; their product in the
      /// worst case.
      ///
      /// - Throws: The errors of evaluating either text.
      public func evaluate(_ bindings: PredicateBindings) throws -> Bool {
        try whole.evaluate(bindings).folded.contains(part.evaluate(bindings).folded)
      }
    }

    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// Creates the expression for `$0.title.localizedStandardContains("halo")` in `#Predicate`.
    public static func build_localizedStandardContains<Whole, Part>(
      _ lhs: Whole, _ rhs: Part
    ) -> FoldedContains<Whole, Part> { FoldedContains(whole: lhs, part: rhs) }
  }

  extension PredicateExpressions.FoldedContains: QueryExpression {
    func term<Object: StoredObject>(
      _ translation: QueryTranslation<Object>
    ) -> QueryTerm<Object, Bool> {
      let (all, one) = (translation.term(of: whole), translation.term(of: part))
      let (whole, part) = (all.read, one.read)
      let text = { "\(all.text) CONTAINS FOLDED \(one.text)" }
      if case .constant(let constant) = one.kind {
        let folded = constant.folded
        return QueryTerm(read: { try whole($0).folded.contains(folded) }, text: text())
      }
      return QueryTerm(
        read: { try whole($0).folded.contains(part($0).folded) }, text: text())
    }
  }
#endif
