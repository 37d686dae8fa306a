#if DEBUG
  import Testing

  @testable import StoreEngine

  /// Tests that broken invariants end the program in debug builds.
  @Suite("Invariants of the engine") struct InvariantTests {
    @Test("A run with keys out of order")
    func unsorted() async {
      await #expect(processExitsWith: .failure) {
        var changes = ChangeSet()
        let keys = [changes.takeIn([2], []), changes.takeIn([1], [])]
        _ = KeyRun(bytes: changes.bytes, sorted: keys)
      }
    }

    @Test("A run with a key twice")
    func twice() async {
      await #expect(processExitsWith: .failure) {
        var changes = ChangeSet()
        let keys = [changes.takeIn([1], []), changes.takeIn([1], [])]
        _ = KeyRun(bytes: changes.bytes, sorted: keys)
      }
    }

    @Test("A gap in the numbers of commits")
    func gap() async {
      await #expect(processExitsWith: .failure) {
        let journal = CommitJournal()
        journal.append(Commit.example.numbered(1), ChangeSet())
        journal.append(Commit.example.numbered(3), ChangeSet())
      }
    }

    @Test("Commits numbered out of order")
    func order() {
      func outcomes(_ numbers: [UInt64?]) -> [CommitOutcome] {
        numbers.map { number in
          number.map { .success(Commit.example.numbered($0)) } ?? .failure(StoreError(.closed, ""))
        }
      }
      #expect(outcomes([nil, 1, 2, nil, 3]).areInOrder)
      #expect(!outcomes([1, 3, 2]).areInOrder)
      #expect(!outcomes([1, nil, 1]).areInOrder)
    }
  }
#endif
