import Foundation
import StoredObjects

@Stored final class Song: StoredObject {
  #Index<Song>([\.artist, \.playCount])

  @FullText(weight: 2) var title = ""
  @FullText var artist = ""
  var album = ""
  var seconds = 0
  var playCount = 0
  var lastPlayed: Date?
}

func openContainer(_ directory: String) async throws -> StoreContainer {
  let container = try StoreContainer(
    backend: TokyoCabinetBackend(directory: directory), classes: [Song.self])
  try await container.makeActor().perform { try $0.buildIndexes() }
  return container
}
