#if Macros
  // Swift 5 without any setting of a careful package: expansions must compile here too, without a
  // warning.

  import StoredObjects

  @Stored open class PublicAlbum: StoredObject {
    public var title: String = ""
    public private(set) var tracks: [String] = []
    @Since(1) public var year: UInt16?

    public func add(_ track: String) { tracks.append(track) }
  }

  @Stored public final class PublicSingle: PublicAlbum {
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
