#if Macros
  // A module whose declarations belong to the main actor unless they say otherwise, as those of apps.

  import Foundation
  import StoredObjects

  /// A class without a word about isolation.
  @Stored final class MainSong: StoredObject {
    var title = ""
    var seconds = 0
    var added: [MainArtist] = []
    @Dropped(in: 1) var rating: UInt8 = 0
    @Transient var isPlaying = false

    convenience init(_ title: String, seconds: Int) {
      self.init()
      self.title = title
      self.seconds = seconds
    }
  }

  /// A class with an index, of which the key path must be known everywhere.
  @Stored nonisolated class MainArtist: StoredObject {
    @Indexed var name = ""
    @Relationship var songs: [MainSong] = []
    @Formerly("rank", UInt8.self, until: 1) var stars = 0.0

    private func upgrade(from version: UInt8, former: Former) {
      if let rank = former.rank { stars = Double(rank) }
    }
  }

  @Stored nonisolated final class MainBand: MainArtist {
    var members: [MainArtist] = []
  }

  /// The library of an app on its main actor.
  public final class Library {
    private let store: Store

    /// Opens a library.
    public init(_ backend: any StoreBackend) throws {
      store = Store(backend: backend)
      try store.register(MainSong.self, MainArtist.self, MainBand.self)
    }

    /// Adds a song.
    public func add(_ title: String, seconds: Int) throws {
      let song = MainSong(title, seconds: seconds)
      let band = MainBand()
      band.name = title
      song.added.append(band)
      store.insert(song)
      store.insert(band)
      try store.saveChanges()
    }

    /// The titles of all songs.
    public var titles: [String] {
      let songs = try? store.fetch(MainSong.self, sortedBy: [.ascending(\.title)])
      return songs?.map(\.title) ?? []
    }

    /// The names of all bands that a predicate finds.
    public var bands: [String] {
      let bands = try? store.fetch(
        MainArtist.self, includingSubclasses: true, where: #Predicate { $0.name > "" })
      return bands?.map(\.name) ?? []
    }

    /// The length of all songs.
    public var total: Int {
      let songs = try? store.allObjects(of: MainSong.self)
      return songs?.reduce(0) { $0 + $1.seconds } ?? 0
    }

    /// Closes the store.
    public func close() throws { try store.backend.close() }
  }
#endif
