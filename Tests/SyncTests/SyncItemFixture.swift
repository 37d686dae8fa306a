#if Macros
  import FoundationEssentials
  import KeyValueStoreCore
  import Locks
  import StoreEngine
  import StoredObjectsSync
  import StoredObjectsTestSupport
  import TestedBackends

  /// A device with a key-value store, and the conflicts that it was asked about.
  final class ItemDevice {
    let device: Device
    let store: KeyValueStore
    let asked: SharedLock<[String]>

    init(
      _ id: String, _ network: SyncNetwork, _ backend: (any StoreBackend)? = nil,
      local: Set<String> = [],
      _ decide: @escaping @Sendable (SyncItemConflict) -> SyncItemDecision = { _ in .fail }
    ) throws {
      let asked = SharedLock<[String]>([])
      self.asked = asked
      var configuration = SyncConfiguration()
      configuration.rowsAhead = 100
      configuration.localTables = local
      configuration.decide = { _ in .theirs }
      configuration.decideItem = { conflict in
        asked.withLock { $0.append(conflict.text) }
        return decide(conflict)
      }
      let backend = try backend ?? MemoryBackend()
      store = try KeyValueStore(backend: backend)
      device = try network.device(id, backend, configuration: configuration)
    }

    @discardableResult
    func sync() async throws -> SyncReport { try await device.sync() }

    func put(_ value: String?, _ key: String, in table: String = "notes") throws {
      let table = try store.createTable(table)
      if let value { try table.put(value, for: key) } else { try table.delete(key) }
    }

    func get(_ key: String, in table: String = "notes") throws -> String? {
      try store.hasTable(table) ? store.table(table).get(key, as: String.self) : nil
    }
  }

  extension SyncItemConflict {
    /// The conflict as text, for comparison.
    var text: String {
      func text(_ item: KeyValueItem?) -> String {
        item.map { (try? $0.decoded(as: String.self)) ?? "?" } ?? "-"
      }
      return "\(table)/\(key): \(text(base)) > \(text(mine)) | \(text(theirs))"
    }
  }

  /// All items of a store as text, for comparison.
  func items(_ store: KeyValueStore) throws -> [String] {
    try store.tableNames().flatMap { name in
      try ["\(name):"]
        + store.table(name).all.items().map { item in
          """
          \(name)/\(item.key) = \(item.value) \(item.createdAt.timeIntervalSinceReferenceDate) \
          \(item.updatedAt.timeIntervalSinceReferenceDate) \
          \(item.expiresAt.map { "\($0.timeIntervalSinceReferenceDate)" } ?? "-")
          """
        }
    }
  }

  /// Returns a device with a table of some notes, which the server has, and another device.
  func itemPair(
    _ decide: @escaping @Sendable (SyncItemConflict) -> SyncItemDecision = { _ in .fail }
  ) async throws -> (network: SyncNetwork, ann: ItemDevice, bob: ItemDevice) {
    let network = try SyncNetwork()
    let ann = try ItemDevice("Ann", network, nil, decide)
    let bob = try ItemDevice("Bob", network)
    try await ann.sync()
    for key in ["a", "b", "c"] { try ann.put("first", key) }
    try await ann.sync()
    try await bob.sync()
    return (network, ann, bob)
  }
#endif
