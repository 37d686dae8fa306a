#if !canImport(Darwin)
  public import FoundationEssentials
  import StoreEngine

  extension PredicateExpressions {
    /// A text that is searched for another one, without regard to case, accents and width:
    /// `$0.title.localizedStandardContains("halo")`.
    ///
    /// `#Predicate` knows it on every system, and Foundation has it on those of Apple only.
    public struct FoldedContains<
      Whole: StandardPredicateExpression, Part: StandardPredicateExpression
    >: StandardPredicateExpression where Whole.Output == String, Part.Output == String {
      let whole: Whole
      let part: Part

      /// Whether the text has the other one.
      public func evaluate(_ bindings: PredicateBindings) throws -> Bool {
        try whole.evaluate(bindings).folded.contains(part.evaluate(bindings).folded)
      }
    }

    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// What `#Predicate` makes of `$0.title.localizedStandardContains("halo")`.
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
