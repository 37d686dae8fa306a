import Files
import StoreEngine
import Testing

@Suite("Errors of stores")
struct StoreErrorTests {
  private struct Cause: Error {}

  @Test("An error has the size of a word, so typed throws make no result larger")
  func size() {
    #expect(MemoryLayout<StoreError>.size == MemoryLayout<Int>.size)
    #expect(MemoryLayout<StoreError?>.size == MemoryLayout<StoreError>.size)
  }

  @Test("Its location is in the description, in a fixed order")
  func description() {
    let location = StoreError.Location(
      path: "/a", className: "Song", rowID: 2, offset: 3, table: "notes", key: "a \"b\"")
    let error = StoreError(.damaged, "Salvage it.", at: location, underlying: Cause())
    #expect(
      "\(error)"
        == #"damaged [/a, class Song, row 2, offset 3, table "notes", key "a \"b\""]: Salvage it. (Cause())"#
    )
    #expect(error.location == location && error.underlying is Cause)
  }

  @Test("Errors of lower layers are wrapped, and errors of this layer are thrown unchanged")
  func wrapping() {
    let refusal = SystemError(call: "write", path: "/b", number: 28)
    let place = StoreError.Location(path: "/a", rowID: 2)
    let own = StoreError.wrapping(StoreError(.closed, "Closed."), .ioError, at: place)
    #expect(own.code == .closed && own.location == StoreError.Location())
    let system = StoreError.wrapping(refusal, .damaged, at: place)
    #expect(system.code == .noSpace && system.location.path == "/b" && system.refusal == refusal)
    let buffer = StoreError.wrapping(DataBufferError(.tooDeep, at: 7, "x"), .ioError, at: place)
    #expect(buffer.code == .damaged && buffer.location.offset == 7)
    let other = StoreError.wrapping(Cause(), .ioError, at: place)
    #expect(other.code == .ioError && other.location == place && other.underlying is Cause)
  }
}
