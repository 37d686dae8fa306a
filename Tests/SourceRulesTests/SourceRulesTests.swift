import Foundation
import Locks
import Testing

/// The files that may do what the compiler can't check, each with its reason.
private let filesThatMayBeUnsafe: [String: String] = [
  "Files/LentBytes.swift": "copies bytes in and out of RawSpan",
  "Files/MappedFile.swift": "maps files into memory",
  "Files/MemoryFile.swift": "calls the operating system: files in memory",
  "Files/LentBytes+Comparing.swift": "compares and appends bytes",
  "Files/WriteBuffer.swift": "gathers bytes in memory of its own",
  "CDB/Writer/CDBWriter.swift": "has no run-time check of exclusivity",
  "Files/OpenFile.swift": "calls the operating system: open files",
  "Files/SystemCalls.swift": "calls the operating system: no files",
  "Files/DirectWriter.swift": "writes aligned blocks past the cache",
  "Files/FileStatus.swift": "calls the operating system: which file",
  "Files/SystemCalls+Names.swift": "calls the operating system: names",
  "Files/SystemCalls+Directories.swift": "calls the operating system: directories",
  "Files/Terminal.swift": "has the terminal show nothing",
  "StoreEngine/Buffer/DataBuffer+Integers.swift": "loads and stores unaligned integers",
  "StoreEngine/Buffer/IntegerBytes.swift": "appends a few bytes at once",
  "StoreEngine/Buffer/ShortStrings.swift": "makes short strings of checked bytes",
  "StoredObjectsCore/Encoding/DataBuffer+Store.swift": "knows what it has put into a buffer",
  "StoredObjectsCore/Indexes/KeyedObjects.swift": "lends objects to a thread that is joined",
  "StoredObjectsCore/Indexes/String+Key.swift": "reads the bytes of strings where they are",
  "StoreEngine/Log/CRC32C.swift": "has C use the processor's instruction",
  "StoredObjectsCore/Object/StoredObject.swift": "has no run-time check of exclusivity",
  "StoredObjectsCore/Object/Releasing/ReferenceHolder.swift": "asks who else holds an array",
  "StoredObjectsCore/Object/Releasing/ReferenceLayout.swift": "is only read once it is made",
  "StoredObjectsCore/Object/Releasing/StoredObject+Releasing.swift":
    "takes references out of objects whose class is not known",
  "StoredObjectsCore/Object/Releasing/RuntimeProperty.swift": "asks the runtime for properties",
  "StoredObjectsCore/Object/RegisteredClass.swift": "has no run-time check of exclusivity",
  "StoredObjectsCore/Object/UniquingTable.swift": "refers to objects without counting it",
  "StoredObjectsCore/Store/Store.swift": "has no run-time check of exclusivity",
  "StoreEngine/Value/Data+Copying.swift": "copies bytes out of RawSpan",
  "StoreEngine/Value/ValueNode.swift": "changes what only one holder has",
  "StoredObjectsEncryption/AESSeal.swift": "lends bytes to the cipher",
  "StoredObjectsEncryption/WrappedKey.swift": "lends keys to the cipher",
  "TokyoCabinet/HashHandle.swift": "holds the C library's handle",
  "TokyoCabinet/HashHandle+WholeFile.swift": "holds the C library's handle",
  "TokyoCabinetFile/Deflate.swift": "calls zlib",
  "TokyoCabinetFile/HashFileRecordHead.swift": "puts the fields of a record into memory",
  "TokyoCabinetFile/HashFileWriter.swift": "has no run-time check of exclusivity",
  "TokyoCabinetFile/RowGuide.swift": "has memory of its own, which threads share",
  "TokyoCabinet/RecordBatch.swift": "copies records that the C library hands out",
  "StoredObjectsCore/Encoding/ChangeSetEncoder.swift": "lends objects that the store holds",
  "StoredObjectsCore/Encoding/EncodingThread.swift": "lends objects to a thread that is joined",
  "StoredObjectsCore/Search/TextQueryNode.swift": "releases a tree of any depth without recursion",
  "StoredObjectsCore/Container/SnapshotReader.swift": "names the executor of an actor",
  "StoredObjectsCore/Container/StoreActor.swift": "names the executor of an actor",
  "StoredObjectsCore/Container/Store+MergingAutomatically.swift":
    "uses a store in jobs of its actor",
  "StoredObjectsSync/SyncClient.swift": "names the executor of an actor",
  "StoredObjectsSyncHTTP/HTTPFollower.swift": "names the executor of an actor",
  "StoredObjectsSync/SyncServer.swift": "names the executor of an actor",
  "StoredObjectsCore/Store/ThreadExecutor.swift": "runs the jobs of an actor",
  "StoredObjectsCore/Queries/QueryCursor.swift": "knows the class of its objects",
  "StoredObjectsCore/Store/ObjectCursor.swift": "knows the class of its objects",
  "StoredObjectsCore/Store/ObjectMaker.swift": "hands objects over from one thread to another",
  "Files/SharedWords.swift": "maps words that processes share",
  "Locks/Locked.swift": "holds a pthread_mutex_t and a pthread_cond_t",
  "Locks/JoinedThread.swift": "starts a thread and waits for its end",
  "Locks/ThreadLocal.swift": "keeps an object of each thread",
  "Locks/SetOnce.swift": "holds an object that is set once",
  "SystemSQLCipher/SystemSQLCipher.swift": "names the functions of SQLCipher",
  "SystemSQLite/SystemSQLite.swift": "names the functions of SQLite",
  "YTKImport/SQLiteFile.swift": "calls SQLite",
  "YTKImport/SQLiteLibrary.swift": "has the functions of SQLite",
  "PostgreSQLBackend/Server/Connection.swift": "calls libpq: connections",
  "PostgreSQLBackend/Server/Connection+Waiting.swift": "calls libpq: looks for answers",
  "PostgreSQLBackend/Server/ConnectionString.swift": "calls libpq: parses a string",
  "PostgreSQLBackend/Server/SocketPoller.swift": "waits for sockets",
  "PostgreSQLBackend/Server/PackedParameters.swift": "lends parameters to libpq",
  "PostgreSQLBackend/Server/QueryResult.swift": "calls libpq: lends what it has",
  "TokyoCabinetBackend/RecordKey.swift": "lends keys made on the stack",
]

@Suite("Rules for the source")
struct SourceRulesTests {
  @Test("The source is found")
  func found() {
    let paths = SourceFile.all.map(\.path)
    #expect(paths.contains("StoredObjectsCore/Store/Store.swift"))
    #expect(SourceFile.all.allSatisfy { !$0.code.isEmpty })
  }

  @Test("Exactly the listed files have unsafe code")
  func unsafeFiles() {
    let pattern = #"\bunsafe\b|@safe\b|@unchecked\b|nonisolated\(unsafe\)"#
    let files = SourceFile.all.filter { file in
      file.code.contains { $0.range(of: pattern, options: .regularExpression) != nil }
    }
    #expect(Set(files.map(\.path)) == Set(filesThatMayBeUnsafe.keys))
  }

  @Test("No file has more than 400 lines")
  func length() {
    #expect(SourceFile.all.filter { $0.lines.count > 401 }.map(\.path) == [])
  }

  @Test(
    "No file ends the program at run time",
    arguments: [#"\bfatalError\("#, #"\btry!"#, #"\bas!"#])
  func forbiddenCode(pattern: String) {
    let files = SourceFile.all.filter { file in
      file.code.contains { $0.range(of: pattern, options: .regularExpression) != nil }
    }
    #expect(files.map(\.path) == [])
  }

  @Test("No file has unfinished work", arguments: ["TODO", "FIXME", "XXX"])
  func reminders(word: String) {
    let files = SourceFile.all.filter { file in file.lines.contains { $0.contains(word) } }
    #expect(files.map(\.path) == [])
  }
}

@Suite("Rules for imports")
struct ImportRulesTests {
  @Test("Only TokyoCabinet imports the C library")
  func cLibrary() {
    let importers = SourceFile.all.filter { $0.imports.contains("CTokyoCabinet") }.map(\.module)
    #expect(Set(importers).isSubset(of: ["TokyoCabinet"]))
  }

  @Test("Only the importer of YTKKeyValueStore imports SQLite")
  func sqlite() {
    let importers = SourceFile.all.filter { $0.imports.contains("CSQLite") }.map(\.module)
    #expect(Set(importers) == ["SystemSQLite"])
    let users = SourceFile.all.filter { $0.imports.contains("SystemSQLite") }.map(\.module)
    #expect(Set(users) == ["stored-objects-import-ytk"])
  }

  @Test("Only the importer of encrypted files imports SQLCipher")
  func sqlCipher() {
    let importers = SourceFile.all.filter { $0.imports.contains("CSQLCipher") }.map(\.module)
    #expect(Set(importers) == ["SystemSQLCipher"])
    let users = SourceFile.all.filter { $0.imports.contains("SystemSQLCipher") }.map(\.module)
    #expect(Set(users) == ["stored-objects-import-sqlcipher"])
  }

  @Test("Only the PostgreSQL backend imports libpq")
  func postgreSQL() {
    let importers = SourceFile.all.filter { $0.imports.contains("CLibPQ") }.map(\.module)
    #expect(Set(importers) == ["PostgreSQLBackend"])
  }

  @Test("CDB imports nothing of the object core")
  func constantDatabase() {
    let files = SourceFile.all.filter { $0.module == "CDB" }
    let imports = files.reduce(into: Set<String>()) { $0.formUnion($1.imports) }
    #expect(imports == ["Files", "FoundationEssentials", "Locks"])
  }

  @Test("The native reader of hash files imports neither the C library nor the core")
  func hashFiles() {
    let files = SourceFile.all.filter { $0.module == "TokyoCabinetFile" }
    #expect(!files.isEmpty)
    let imports = files.reduce(into: Set<String>()) { $0.formUnion($1.imports) }
    // Memory that is zero and not used yet comes from the system's library.
    #expect(imports == ["CZlib", "Darwin", "Files", "Glibc", "Musl", "Synchronization"])
  }

  private func imports(of module: String) -> Set<String> {
    SourceFile.all.filter { $0.module == module }.reduce(into: []) { $0.formUnion($1.imports) }
  }

  @Test(
    "The engine imports no higher layer, no C except its checksum, and little of Foundation")
  func engine() {
    #expect(
      imports(of: "StoreEngine") == [
        "CCRC32C", "Files", "FoundationEssentials", "Locks", "Logging", "Synchronization",
      ])
  }

  @Test("The object layer is built on the engine, and imports no C")
  func core() {
    #expect(
      imports(of: "StoredObjectsCore") == [
        "Files", "FoundationEssentials", "Locks", "Logging", "Observation", "StoreEngine",
        "Synchronization",
      ])
  }

  @Test("The model is the object layer and macros, and imports nothing else")
  func model() {
    #expect(imports(of: "StoredObjectsModel") == ["StoredObjectsCore"])
  }

  @Test("The umbrella is the model and one backend")
  func umbrella() {
    #expect(imports(of: "StoredObjects") == ["StoredObjectsModel", "TokyoCabinetBackend"])
  }

  @Test("The lowest layers import only each other from this package")
  func bottom() {
    let system: Set = [
      "Darwin", "Foundation", "FoundationEssentials", "Glibc", "Musl", "Synchronization",
    ]
    #expect(imports(of: "Locks").subtracting(system) == ["CFiles"])
    #expect(imports(of: "Files").subtracting(system).isSubset(of: ["CFiles", "Locks"]))
  }

  @Test("Macros import nothing that is linked into programs")
  func macros() {
    for module in ["StoredSyntax", "StoredObjectsMacros"] {
      let imports = imports(of: module)
      #expect(!imports.isEmpty)
      #expect(imports.allSatisfy { $0.hasPrefix("Swift") || $0 == "StoredSyntax" }, "\(module)")
    }
  }

  @Test("Documents are built on the object layer, and on no backend")
  func documents() {
    #expect(
      imports(of: "StoredObjectsDocuments") == [
        "Darwin", "Files", "FoundationEssentials", "Glibc", "Locks", "Musl", "StoreEngine",
        "StoredObjectsCore", "Synchronization",
      ])
  }

  @Test("Test support for backends depends on the object layer only")
  func testSupport() {
    let system: Set = ["Foundation", "FoundationEssentials", "Synchronization"]
    #expect(
      imports(of: "StoredObjectsTestSupport").subtracting(system)
        == ["Files", "Locks", "StoredObjectsCore"])
  }

  @Test(
    "Modules without objects import the engine only",
    arguments: [
      "BNRPersistenceEncryption", "CDBBackend", "KeyValueStore", "KeyValueStoreCore",
      "PostgreSQLBackend",
      "StoredObjectsEncryption", "TokyoCabinetBackend", "YTKImport",
    ])
  func withoutObjects(module: String) {
    #expect(imports(of: module).contains("StoreEngine"))
    #expect(!imports(of: module).contains("StoredObjectsCore"))
  }

  @Test("Backends do not import each other, and only the umbrellas and the list import them")
  func backends() {
    let backends = Set(SourceFile.all.map(\.module).filter { $0.hasSuffix("Backend") })
    #expect(!backends.isEmpty)
    let atTheTop: Set = [
      "StoredObjects", "KeyValueStore", "StoreFormats", "BNRPersistenceEncryption",
      "stored-objects-postgresql",
    ]
    for file in SourceFile.all where !atTheTop.contains(file.module) {
      #expect(file.imports.isDisjoint(with: backends), "\(file.path)")
    }
  }
}

@Suite("Dependencies inside the engine")
struct LayerRulesTests {
  private func users(of words: [String], inFolder folder: String) -> [String] {
    SourceFile.all
      .filter { $0.module == "StoreEngine" && $0.folder == folder }
      .filter { words.contains(where: $0.names) }
      .map { $0.path.components(separatedBy: "/").last ?? "" }
  }

  @Test("Backends see bytes, and do not name the types that encode them")
  func backend() {
    #expect(users(of: ["StoreBackend"], inFolder: "Backend") != [])
    #expect(users(of: ["DataBuffer"], inFolder: "Backend") == [])
  }

  @Test("A buffer names neither a backend nor the parts of a save")
  func buffer() {
    #expect(users(of: ["DataBuffer"], inFolder: "Buffer") != [])
    #expect(users(of: ["StoreBackend", "ChangeSet"], inFolder: "Buffer") == [])
  }
}
