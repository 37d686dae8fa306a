import Foundation
import StoredObjectsTestSupport
import Testing

@testable import StoredObjectsCore

private final class Sample: StoredObject {
  @Content var title = ""
  @Content var number: Int32 = 0
  @Content var rating = 0.0
  @Content var note: String?
  @Content var date = Date(timeIntervalSinceReferenceDate: 0)
  @Content var isNew = false
  @Content var next: Sample?
}

@Suite("Conditions of simple comparisons")
struct SimpleConditionTests {
  private let property: [(Predicate<Sample>, AnyKeyPath)] = {
    let (title, none, note) = ("a", String?.none, String?.some("b"))
    let (invalid, date) = (0 * Double.infinity, Date(timeIntervalSinceReferenceDate: 7))
    return [
      (#Predicate { $0.title == title }, \Sample.title),
      (#Predicate { $0.title >= title }, \Sample.title),
      (#Predicate { $0.title > title }, \Sample.title),
      (#Predicate { $0.title < "" }, \Sample.title),
      (#Predicate { $0.number <= 5 }, \Sample.number),
      (#Predicate { $0.rating == invalid }, \Sample.rating),
      (#Predicate { $0.rating > invalid }, \Sample.rating),
      (#Predicate { $0.rating >= 0.5 }, \Sample.rating),
      (#Predicate { $0.note == none }, \Sample.note),
      (#Predicate { $0.note == note }, \Sample.note),
      (#Predicate { $0.date <= date }, \Sample.date),
      (#Predicate { $0.isNew == true }, \Sample.isNew),
    ]
  }()

  @Test("The condition of a simple comparison is that of its translation")
  func same() throws {
    let store = Store(backend: try MemoryBackend())
    try store.register(Sample.self)
    let entry = try store.requireRegistration(of: Sample.self)
    for (predicate, property) in property {
      let condition = try #require(simpleCondition(of: predicate), "\(predicate)")
      let full = QueryTranslation.of(predicate, entry, store, isExplained: true).condition
      let values = try #require(condition.values(of: property), "\(predicate)")
      #expect(full.values(of: property) == values, "\(predicate)")
      #expect(condition.isTold(by: [property]) == full.isTold(by: [property]))
    }
  }

  @Test("Any other predicate has no simple condition")
  func others() {
    let others: [Predicate<Sample>] = [
      #Predicate { $0.title == "a" && $0.number == 1 },
      #Predicate { $0.number + 1 == 2 },
      #Predicate { 5 < $0.number },
      #Predicate { $0.title.starts(with: "a") },
      #Predicate { $0.next?.number == 1 },
      #Predicate { $0.isNew },
      #Predicate { $0.rating == $0.rating },
    ]
    for predicate in others { #expect(simpleCondition(of: predicate) == nil, "\(predicate)") }
  }
}
