import StoredObjectsTestSupport
import Testing

@testable import StoreEngine

@Suite("Values by name")
struct SortedNamesTests {
  @Test("They agree with a dictionary, whatever is set and removed, and are in order")
  func model() {
    var random = Seeds.generator(for: "values by name")
    var (values, model) = (SortedNames<Int?>(), [String: Int?]())
    for number in 0..<2000 {
      let name =
        ["", "a", "Song.", "ä", "💿"].randomElement(using: &random)!
        + "\(Int.random(in: 0..<60, using: &random))"
      switch Int.random(in: 0..<4, using: &random) {
      case 0: (values[name], model[name]) = (.some(nil), .some(nil))
      case 1: (values[name], model[name]) = (nil, nil)
      default: (values[name], model[name]) = (number, number)
      }
      #expect(values[name] == model[name])
      let other = "Song.\(Int.random(in: 0..<60, using: &random))"
      #expect(values.contains(other) == model.keys.contains(other))
      #expect(values[other] == model[other])
    }
    #expect(values.names == model.keys.sorted())
  }
}
