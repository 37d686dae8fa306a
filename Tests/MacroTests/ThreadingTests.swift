#if Macros
  import Foundation
  import StoredObjects
  import Testing

  private enum Evident {
    @Stored class Plain: StoredObject {
      var title: String = "none"
      var rating: Double = -1.5
      var codes: [UInt8] = [1, 2]
      var id: UUID = UUID()
      var day: Date? = nil
      @Transient var isPlaying: Bool = false
      static let shared: String = "\(1 + 1)"
      var length: Int { title.count }
      convenience init(title: String) {
        self.init()
        self.title = title
      }
    }

    @Stored class Sub: Plain {
      var number: UInt32 = 0
    }
  }

  private func next() -> UInt32 { 1 }

  private enum NotEvident {
    @Stored final class Reference: StoredObject { var plain: Evident.Plain? = nil }
    @Stored final class References: StoredObject { var all: [Reference] = [] }
    @Stored final class Computed: StoredObject { var number: UInt32 = next() }
    @Stored final class Cached: StoredObject {
      var number: UInt32 = 0
      @Transient var cache: UInt32 = next()
    }
    @Stored final class Interpolated: StoredObject { var title: String = "\(next())" }
    @Stored final class Leaving: StoredObject {
      var number: UInt32 = 0
      deinit { _ = next() }
    }
    @Stored final class Beginning: StoredObject {
      var number: UInt32 = 0
      required init() { _ = next() }
    }
    @Stored final class Decided: StoredObject {
      var number: UInt32 = 0
      override class var isCodedOnAnyThread: Bool { false }
    }
    @Stored(version: 1) final class Upgraded: StoredObject {
      var number: UInt32 = 0
      private func upgrade(from version: UInt8) { number = next() }
    }
    @Stored final class Below: Handwritten { var number: UInt32 = 0 }
    class Handwritten: StoredObject {}
  }

  @Suite("Classes that can be coded on any thread")
  struct ThreadingTests {
    @Test("Classes with plain values and literals can")
    func evident() {
      #expect(Evident.Plain.isCodedOnAnyThread && Evident.Sub.isCodedOnAnyThread)
    }

    @Test(
      "Classes that can run other code, or have references, can't",
      arguments: [
        NotEvident.Reference.self, NotEvident.References.self, NotEvident.Computed.self,
        NotEvident.Cached.self, NotEvident.Interpolated.self, NotEvident.Leaving.self,
        NotEvident.Beginning.self, NotEvident.Decided.self, NotEvident.Upgraded.self,
        NotEvident.Below.self,
      ] as [StoredObject.Type])
    func notEvident(type: StoredObject.Type) {
      #expect(!type.isCodedOnAnyThread)
    }
  }
#endif
