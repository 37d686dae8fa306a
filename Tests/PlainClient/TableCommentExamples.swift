// The code of comments, unchanged: a test compares. It is compiled, and not run.
// swift-format-ignore-file

#if Macros
  import Foundation
  import KeyValueStore
  import StoredObjectsEncryption

  enum TableComments {
    static var store: KeyValueStore = notRun()
    static var notes: KeyValueTable = notRun()
    static var images: KeyValueTable = notRun()
    static var archive: TableExamples.Archive = notRun()
    static var settings: KeyValueTable = notRun()
    static var shop: KeyValueTable = notRun()
    static var phrase: String = notRun()
    static var label: CommentLabel = notRun()

    /// From KeyValueStore+Opening.swift.
    static func keyValueStoreOpeningExample() throws {
      let store = try KeyValueStore(named: "Notebook")   // ~/.local/share/Notebook
      _ = store
    }

    /// From KeyValueStore+Opening.swift.
    static func keyValueStoreOpening2Example() throws {
      let key = EncryptionKey(passphrase: phrase)
      let store = try KeyValueStore(named: "Notebook", key: key)
      _ = (key, store)
    }

    /// From KeyObservers.swift.
    static func keyObserversExample() async throws {
      for await change in store.changes() { print(change.table, change.key ?? "") }
    }

    /// From KeyObservers.swift.
    static func keyObservers2Example() async throws {
      for try await size in settings.values(of: "font size", as: Double.self) {
        label.font = .system(size ?? 12)
      }
    }

    /// From KeyValueStore.swift.
    static func keyValueStoreExample() throws {
      let store = try KeyValueStore(named: "Notebook")
      let notes = try store.createTable("notes")
      try notes.put("Buy milk", for: "2026-11-21")
      let note = try notes.get("2026-11-21", as: String.self)
      _ = (store, notes, note)
    }

    /// From KeyValueSelection.swift.
    static func keyValueSelectionExample() throws {
      let recent = try notes.prefix("2026-")
        .filter { !$0.key.hasSuffix("-draft") }
        .sorted { $0.updatedAt > $1.updatedAt }
        .limit(10)
        .items()
      _ = recent
    }

    /// From KeyValueSelection+Borrowing.swift.
    static func keyValueSelectionBorrowingExample() throws {
      try images.prefix("2026-").limit(50).forEachBytes { name, bytes in
        archive.add(String(copying: name), bytes)
      }
    }

    /// From KeyValueTable+Borrowing.swift.
    static func keyValueTableBorrowingExample() throws {
      let size = try images.withBytes(of: "logo") { $0.byteCount }
      _ = size
    }

    /// From KeyValueTable.swift.
    static func keyValueTableExample() throws {
      let settings = try store.createTable("settings")
      try settings.put(12.5, for: "font size")
      try settings.put(["en", "de"], for: "languages")
      try settings.put("abc", for: "token", expiresAfter: .seconds(3600))
      let size = try settings.get("font size", as: Double.self)
      _ = (settings, size)
    }

    /// From KeyValueTable+Tasks.swift.
    static func keyValueTableTasksExample() async throws {
      let left = try await store.write { batch in
        let left = try batch.get("stock", from: shop, as: Int.self) ?? 0
        try batch.put(left - 1, for: "stock", in: shop)
        return left - 1
      }
      _ = left
    }
  }
#endif
