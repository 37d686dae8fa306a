import ArgumentParser
import Foundation
import KeyValueStore

struct AddCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "add", abstract: "Write a note, in place of one with the same title.")

  @Argument(help: "The title.") var title: String
  @Argument(help: "The text.") var text: String
  @Option(name: .customLong("tag"), help: "A tag; can be given again.") var tags: [String] = []
  @Option(help: "The number of days after which the note expires.") var days: Int?
  @OptionGroup var store: StoreOption

  func validate() throws {
    if let days, days < 1 || days > 36_500 {
      throw ValidationError("--days must be from 1 to 36500.")
    }
  }

  func run() throws {
    try store.withNotes { notes in
      let isNew = try !notes.contains(title)
      try notes.put(
        Note(text: text, tags: tags), for: title,
        expiresAfter: days.map { .seconds($0 * 86_400) })
      print("\(isNew ? "Added" : "Replaced") \"\(title)\".")
    }
  }
}

struct ListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List notes by title, or the newest first.")

  @Option(help: "Only titles with this beginning.") var prefix = ""
  @Option(help: "Only notes with this tag.") var tag: String?
  @Option(help: "The maximum number of notes.") var limit: Int?
  @Flag(help: "List the newest notes first.") var newest = false
  @OptionGroup var store: StoreOption

  func validate() throws {
    if let limit, limit < 0 { throw ValidationError("--limit must not be negative.") }
  }

  func run() throws {
    try store.withNotes { notes in
      var selection = notes.prefix(prefix)
      if let tag {
        selection = selection.filter { try $0.decoded(as: Note.self).tags.contains(tag) }
      }
      if newest { selection = selection.sorted { $0.updatedAt > $1.updatedAt } }
      if let limit { selection = selection.limit(limit) }
      for item in try selection.items() { print(try line(item)) }
    }
  }
}

struct ShowCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Print a note.")

  @Argument(help: "The title.") var title: String
  @OptionGroup var store: StoreOption

  func run() throws {
    try store.withNotes { notes in
      guard let item = try notes.item(title) else {
        throw Failure(description: "There is no note \"\(title)\". Run list to see all notes.")
      }
      print(try line(item))
      if let expiresAt = item.expiresAt { print("expires \(expiresAt.formatted(.iso8601))") }
      print(try item.decoded(as: Note.self).text)
    }
  }
}

struct SearchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "search", abstract: "List notes with a text in their title or text.")

  @Argument(help: "The text to find; case does not matter.") var word: String
  @OptionGroup var store: StoreOption

  func run() throws {
    try store.withNotes { notes in
      let word = word.lowercased()
      let found = notes.all.filter { item in
        let text = try item.decoded(as: Note.self).text
        return "\(item.key)\n\(text)".lowercased().contains(word)
      }
      try found.forEach { print(try line($0)) }
    }
  }
}

struct DeleteCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "delete", abstract: "Delete notes: all of them, or none if one is missing.")

  @Argument(help: "The titles.") var titles: [String]
  @OptionGroup var store: StoreOption

  func run() throws {
    try store.withNotes { notes in
      try notes.store.write { batch in
        for title in titles where try !batch.delete(title, from: notes) {
          throw Failure(description: "There is no note \"\(title)\". Nothing was deleted.")
        }
      }
      print("Deleted \(titles.count) \(titles.count == 1 ? "note" : "notes").")
    }
  }
}
