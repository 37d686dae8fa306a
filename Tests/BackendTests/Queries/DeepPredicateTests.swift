import Foundation
import StoredObjectsCore
import Testing

private final class Item: StoredObject {
  @Content var number: Int64 = 0
  override class var indexes: [AttributeIndex] { [AttributeIndex("number", \Item.number)] }
  override func writeContent(to buffer: inout DataBuffer) { buffer.write(number) }
  override func readContent(from buffer: inout DataBuffer) throws {
    number = try buffer.readInt64()
  }
}

@Suite("Nested predicates")
struct DeepPredicateTests {
  private typealias Condition = any StandardPredicateExpression<Bool>
  private typealias Parts = PredicateExpressions

  private func predicate(depth: Int) -> Predicate<Item> {
    Predicate<Item> { item in
      func either(
        _ left: some StandardPredicateExpression<Bool>,
        _ right: some StandardPredicateExpression<Bool>
      ) -> Condition { Parts.build_Disjunction(lhs: left, rhs: right) }
      func leaf(_ number: Int) -> some StandardPredicateExpression<Bool> {
        Parts.build_Equal(
          lhs: Parts.build_KeyPath(root: item, keyPath: \.number),
          rhs: Parts.build_Arg(Int64(number)))
      }
      var condition: Condition = leaf(0)
      for number in 1...depth { condition = either(condition, leaf(number)) }
      return condition
    }
  }

  @Test("A predicate up to a depth is answered, and a deeper one is an error")
  func depth() throws {
    let store = Store(backend: try MemoryBackend())
    try store.register(Item.self)
    for number in 0..<300 {
      let item = Item()
      item.number = Int64(number)
      store.insert(item)
    }
    try store.saveChanges()
    #expect(try store.count(of: Item.self, where: predicate(depth: 99)) == 100)
    let error = #expect(throws: StoreError.self) {
      try store.fetch(Item.self, where: predicate(depth: 600))
    }
    #expect(error?.code == .notEvaluable)
    #expect(error?.message.contains("500") == true)
  }
}
