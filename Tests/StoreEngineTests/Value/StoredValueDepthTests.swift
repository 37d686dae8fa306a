import Testing

@testable import StoreEngine

@Suite("The depth of values")
struct StoredValueDepthTests {
  @Test("An array is as deep as its deepest element, whatever came before")
  func replaced() {
    var deep = StoredValue.int(1)
    for _ in 0..<200 { deep = .array(.init([deep])) }
    var elements = StoredValue.Elements([.int(1), deep, deep])
    let depth = StoredValue.array(elements).depth
    #expect(depth == deep.depth + 1)
    elements[1] = .int(2)
    #expect(StoredValue.array(elements).depth == depth)
    elements[2] = .int(3)
    #expect(
      StoredValue.array(elements).depth == StoredValue.array(.init([.int(1)])).depth)
    elements[0] = deep
    #expect(StoredValue.array(elements).depth == depth)
  }
}
