import GRDB
import WorkloadData

extension Workspace {
  func insertVariedSongs() throws {
    try withDatabase { queue in
      try queue.write { database in
        for index in 0..<count {
          try engine.insertSong(
            database, id: Int64(index + 1), title: Titles.title(index),
            seconds: Int64(index % 600))
        }
      }
    }
  }

  func buildText(_ kind: TextKind = .all) throws {
    try withDatabase { queue in
      try queue.write { database in
        let tokenizer = kind == .words ? "unicode61" : "trigram"
        try database.execute(
          sql: """
            CREATE VIRTUAL TABLE \(kind.table) USING fts5(title, content='', tokenize=\(tokenizer));
            INSERT INTO \(kind.table) (rowid, title) SELECT id, title FROM song;
            """)
      }
    }
  }

  func searchText(_ kind: TextKind) throws {
    try withDatabase { queue in
      for index in 0..<240 {
        let pattern = pattern(kind, index)
        let found = try queue.read { try engine.songs($0, kind, matching: pattern) }
        try expect(!found.isEmpty || index % 12 > 2, "nothing has \(pattern)")
      }
    }
  }

  private func pattern(_ kind: TextKind, _ index: Int) -> String {
    let word = Titles.wanted(index)
    if kind != .words { return "\"\(word.dropFirst())\"" }
    return index % 2 == 0 ? "\"\(word)\"" : "\"\(word.dropLast())\"*"
  }
}
