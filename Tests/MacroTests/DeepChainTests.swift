#if Macros
  import StoredObjects
  import StoredObjectsTestSupport
  import TestFiles
  import Testing

  @Stored final class ChainLink: StoredObject {
    var title: String = ""
    var next: ChainLink?
    var others: [ChainLink] = []
    var list: ObjectList<ChainLink> = []
    @Transient var shown: Set<ChainLink> = []
  }

  @Suite("Chains of stored objects")
  struct DeepChainTests {
    @Test("A chain is freed on a small stack, whatever property refers to the next object")
    func freed() {
      onSmallStack {
        weak var first: ChainLink?
        do {
          let objects = (0..<100_000).map { _ in ChainLink() }
          for (index, object) in objects.dropLast().enumerated() {
            let next = objects[index + 1]
            switch index % 4 {
            case 0: object.next = next
            case 1: object.others = [next]
            case 2: object.list = [next]
            default: object.shown = [next]
            }
          }
          first = objects[0]
        }
        #expect(first == nil)
      }
    }

    @Test("A stored chain is read, changed and freed on a small stack")
    func stored() throws {
      onSmallStack {
        #expect(throws: Never.self) {
          let disk = MemoryDisk()
          try Session.run(disk, ChainLink.self) { session in
            var last: ChainLink?
            for _ in 0..<50_000 {
              let object = ChainLink()
              (object.next, object.list) = (last, last.map { [$0] } ?? [])
              session.store.insert(object)
              last = object
            }
            try session.store.saveChanges()
          }
          weak var first: ChainLink?
          try Session.run(disk, ChainLink.self) { session in
            let objects = try session.store.allObjects(of: ChainLink.self)
            first = objects.last
            #expect(first?.next?.next === objects[objects.count - 3])
          }
          #expect(first == nil)
        }
      }
    }
  }
#endif
