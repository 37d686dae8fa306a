import StoreAddresses

extension SiblingProgram {
  /// The program that imports files of YTKKeyValueStore.
  static let importYTK = SiblingProgram(
    name: "stored-objects-import-ytk", need: ("SQLite", "libsqlite3-dev"))
  /// The program that imports encrypted files of YTKKeyValueStore.
  static let importSQLCipher = SiblingProgram(
    name: "stored-objects-import-sqlcipher", need: ("SQLCipher", "libsqlcipher-dev"))
}
