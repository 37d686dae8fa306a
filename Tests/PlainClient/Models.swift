#if Macros
  // Swift 5 without any setting of a careful package: expansions must compile here too, without a
  // warning.

  import StoredObjects

  /// An album that other modules may subclass.
  @Stored open class PublicAlbum: StoredObject {
    /// Its name.
    public var title: String = ""
    /// The tracks.
    public private(set) var tracks: [String] = []
    /// When it came out.
    @Since(1) public var year: UInt16?

    /// Adds a track at the end.
    public func add(_ track: String) { tracks.append(track) }
  }

  /// A record of two tracks.
  @Stored public final class PublicSingle: PublicAlbum {
    /// Which side.
    public var side: String = "A"
    @Dropped(in: 3) var price: Double = 0
  }

  @Stored private final class PrivateNote: StoredObject {
    fileprivate var text: String = ""
  }

  /// Uses the private class, which none but this file sees.
  public func makeNote(_ text: String) -> StoredObject {
    let note = PrivateNote()
    note.text = text
    return note
  }
#endif
