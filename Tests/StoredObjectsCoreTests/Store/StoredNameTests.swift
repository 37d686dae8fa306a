import StoredObjectsCore
import StoredObjectsTestSupport
import Testing

private enum First { final class Item: StoredObject {} }
private enum Second { final class Item: StoredObject {} }
private final class Crate<Value>: StoredObject {}

@Suite("Names of classes on disk")
struct StoredNameTests {
  @Test("A nested class is stored under its own name")
  func nested() { #expect(First.Item.storedName == "Item") }

  @Test("Two nested classes with the same name are refused, with a remedy")
  func clash() throws {
    let store = Store(backend: try MemoryBackend())
    let error = #expect(throws: StoreError.self) {
      try store.register(First.Item.self, Second.Item.self)
    }
    #expect(error?.code == .registeredTwice)
    #expect(error?.message.contains("Override storedName") == true)
  }

  @Test("Each argument of a generic class makes a class with its own name")
  func generic() throws {
    #expect(Crate<Int>.storedName == "Crate<Int>")
    #expect(Crate<[String?]>.storedName == "Crate<Array<Optional<String>>>")
    #expect(Crate<Crate<Song>>.storedName == "Crate<Crate<Song>>")
    let store = Store(backend: try MemoryBackend())
    try store.register(Crate<Int>.self, Crate<String>.self)
    let boxes = [Crate<Int>(), Crate<Int>()]
    for box in boxes { store.insert(box) }
    try store.saveChanges()
    #expect(try store.count(of: Crate<Int>.self) == 2 && store.count(of: Crate<String>.self) == 0)
  }
}
