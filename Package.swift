// swift-tools-version: 6.2
import CompilerPluginSupport
import PackageDescription

let log = Target.Dependency.product(name: "Logging", package: "swift-log")

/// Which traits need which packages; one that only disabled traits need is not fetched.
///
/// `Everything` does not enable the others: SwiftPM hands traits to the compiler in random order
/// before 6.4, and rebuilds all for another.
enum Traits {
  static let macros = TargetDependencyCondition.when(traits: ["Macros", "Everything"])
  static let encryption = TargetDependencyCondition.when(
    traits: ["Encryption", "Tools", "Everything"])
  static let tools = TargetDependencyCondition.when(traits: ["Tools", "Everything"])
  static let observability = TargetDependencyCondition.when(
    traits: ["Observability", "Everything"])

  /// Not in `Everything`: a web server is a lot to fetch.
  static let syncServer = TargetDependencyCondition.when(traits: ["SyncServer"])

  /// The conditions of `#if` in sources.
  static let defines = [SwiftSetting.define("Macros", .when(traits: ["Everything"]))]
}

/// Makes warnings errors in the project's own builds: `./dev` and the builds of tests ask for it.
///
/// A warning of a newer compiler must not break users, who may build a clone, or depend on its path.
let ownBuilds = ["STOREDOBJECTS_STRICT", "STOREDOBJECTS_OPTIMIZED"]
let strict: [SwiftSetting] =
  ownBuilds.contains { Context.environment[$0] != nil } ? [.treatAllWarnings(as: .error)] : []

func syntax(_ product: String) -> Target.Dependency {
  .product(name: product, package: "swift-syntax", condition: Traits.macros)
}
let macros: Target.Dependency = .target(name: "StoredObjectsMacros", condition: Traits.macros)

let crypto = Target.Dependency.product(
  name: "Crypto", package: "swift-crypto", condition: Traits.encryption)
let extras = Target.Dependency.product(
  name: "CryptoExtras", package: "swift-crypto", condition: Traits.encryption)

let argumentParser = Target.Dependency.product(
  name: "ArgumentParser", package: "swift-argument-parser", condition: Traits.tools)

let flyingFox = Target.Dependency.product(
  name: "FlyingFox", package: "FlyingFox", condition: Traits.tools)
let flyingSocks = Target.Dependency.product(
  name: "FlyingSocks", package: "FlyingFox", condition: Traits.tools)

func metrics(_ product: String) -> Target.Dependency {
  .product(name: product, package: "swift-metrics", condition: Traits.observability)
}
let tracing = Target.Dependency.product(
  name: "Tracing", package: "swift-distributed-tracing", condition: Traits.observability)

let package = Package(
  name: "swift-stored-objects",
  // Nobody has built it on macOS yet: see CONTRIBUTING.md.
  platforms: [.macOS(.v15)],
  products: [
    .library(name: "StoredObjects", targets: ["StoredObjects"]),
    .library(name: "StoredObjectsModel", targets: ["StoredObjectsModel"]),
    .library(name: "StoredObjectsCore", targets: ["StoredObjectsCore"]),
    .library(name: "StoreEngine", targets: ["StoreEngine"]),
    .library(name: "TokyoCabinet", targets: ["TokyoCabinet"]),
    .library(name: "TokyoCabinetFile", targets: ["TokyoCabinetFile"]),
    .library(name: "TokyoCabinetBackend", targets: ["TokyoCabinetBackend"]),
    .library(name: "CDB", targets: ["CDB"]),
    .library(name: "CDBBackend", targets: ["CDBBackend"]),
    .library(name: "PostgreSQLBackend", targets: ["PostgreSQLBackend"]),
    .library(name: "KeyValueStore", targets: ["KeyValueStore"]),
    .library(name: "KeyValueStoreCore", targets: ["KeyValueStoreCore"]),
    .library(name: "StoredObjectsEncryption", targets: ["StoredObjectsEncryption"]),
    .library(name: "BNRPersistenceEncryption", targets: ["BNRPersistenceEncryption"]),
    .library(name: "StoredObjectsObservability", targets: ["StoredObjectsObservability"]),
    .library(name: "StoredObjectsSync", targets: ["StoredObjectsSync"]),
    .library(name: "StoredObjectsSyncHTTP", targets: ["StoredObjectsSyncHTTP"]),
    .library(name: "StoredObjectsSyncServer", targets: ["StoredObjectsSyncServer"]),
    .library(name: "StoredObjectsDocuments", targets: ["StoredObjectsDocuments"]),
    .library(name: "StoredObjectsTestSupport", targets: ["StoredObjectsTestSupport"]),
    .executable(name: "stored-objects", targets: ["stored-objects"]),
    .executable(name: "stored-objects-postgresql", targets: ["stored-objects-postgresql"]),
    .executable(name: "stored-objects-import-ytk", targets: ["stored-objects-import-ytk"]),
    .executable(
      name: "stored-objects-import-sqlcipher", targets: ["stored-objects-import-sqlcipher"]),
  ],
  traits: [
    .trait(name: "Macros", description: "@Stored, which takes a build of swift-syntax."),
    .trait(name: "Encryption", description: "Encrypted stores, which take one of swift-crypto."),
    .trait(
      name: "Tools",
      description: "The tools, which take swift-crypto, swift-argument-parser and FlyingFox."),
    .trait(
      name: "Observability",
      description: "Metrics and traces, which take swift-metrics and swift-distributed-tracing."),
    .trait(
      name: "SyncServer",
      description: "The sync server as a route of Hummingbird; not in Everything."),
    .trait(name: "Everything", description: "All others; the default."),
    .default(enabledTraits: ["Everything"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.0"),
    .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.4.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.7.0"),
    .package(url: "https://github.com/hummingbird-project/hummingbird.git", from: "2.28.1"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.13.0"),
    .package(url: "https://github.com/swhitty/FlyingFox", from: "0.27.1"),
    .package(url: "https://github.com/swiftlang/swift-syntax", from: "603.0.1"),
  ],
  targets: [
    .target(
      name: "StoredObjects", dependencies: ["StoredObjectsModel", "TokyoCabinetBackend"]),
    // @Stored on any backend: no C library.
    .target(
      name: "StoredObjectsModel", dependencies: ["StoredObjectsCore", macros]),
    .macro(
      name: "StoredObjectsMacros",
      dependencies: [
        "StoredSyntax", syntax("SwiftSyntaxMacros"), syntax("SwiftCompilerPlugin"),
      ]),
    // Apart from the plugin, because tests of a macro target are built for the host, and with them
    // all others, which those of executables do not survive.
    .target(
      name: "StoredSyntax",
      dependencies: [
        syntax("SwiftSyntax"), syntax("SwiftSyntaxBuilder"), syntax("SwiftSyntaxMacros"),
        syntax("SwiftDiagnostics"),
      ]),
    // Bytes: what a save writes, and what becomes of it. It knows no object.
    .target(
      name: "StoreEngine", dependencies: ["CCRC32C", "Files", "Locks", log]),
    .target(
      name: "StoredObjectsCore", dependencies: ["StoreEngine", "Files", "Locks", log]),
    .target(name: "Locks", dependencies: ["CFiles"]),
    .target(name: "CCRC32C"),
    .target(name: "CFiles"),
    .target(name: "Files", dependencies: ["CFiles", "Locks"]),

    .systemLibrary(
      name: "CTokyoCabinet", pkgConfig: "tokyocabinet",
      providers: [.apt(["libtokyocabinet-dev"]), .brew(["tokyo-cabinet"])]),
    .target(
      name: "TokyoCabinet",
      dependencies: ["CTokyoCabinet", "TokyoCabinetFile", "Files", "Locks"]),
    .systemLibrary(
      name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]),
    .target(
      name: "TokyoCabinetFile", dependencies: ["CZlib", "Files"]),
    .target(
      name: "TokyoCabinetBackend",
      dependencies: ["StoreEngine", "TokyoCabinet", "TokyoCabinetFile", "Files", "Locks"]),

    .target(name: "CDB", dependencies: ["Files", "Locks"]),
    .target(
      name: "CDBBackend", dependencies: ["StoreEngine", "CDB", "Files", "Locks"]),

    // A server, for which nobody else needs the library.
    .systemLibrary(
      name: "CLibPQ", pkgConfig: "libpq", providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
    .target(
      name: "PostgreSQLBackend", dependencies: ["CLibPQ", "StoreEngine", "Files", "Locks"]),

    // The one target that swift-crypto is built for; who doesn't encrypt doesn't depend on it.
    .target(
      name: "StoredObjectsEncryption",
      dependencies: ["StoreEngine", "Files", "Locks", crypto, extras]),

    // Reads what the original encrypted, apart, so that nobody encrypts so by accident.
    .target(
      name: "BNRPersistenceEncryption",
      dependencies: ["StoreEngine", "TokyoCabinetBackend", "Files", crypto, extras]),

    // Metrics and traces. Only its users build the packages that it needs.
    .target(
      name: "StoredObjectsObservability",
      dependencies: ["StoreEngine", "Locks", metrics("CoreMetrics"), tracing]),

    // Two-way sync; the connection is up to its user.
    .target(
      name: "StoredObjectsSync",
      dependencies: [
        "StoreEngine", "StoredObjectsCore", "KeyValueStoreCore", "Files", "Locks", log,
      ]),
    .target(
      name: "StoredObjectsSyncHTTP",
      dependencies: ["StoredObjectsSync", "StoreEngine", "StoredObjectsCore", "Locks"]),
    // Nothing without the trait: nobody else fetches a web server.
    .target(
      name: "StoredObjectsSyncServer",
      dependencies: [
        "StoredObjectsSync",
        .product(name: "Hummingbird", package: "hummingbird", condition: Traits.syncServer),
        .product(
          name: "ServiceLifecycle", package: "swift-service-lifecycle",
          condition: Traits.syncServer),
      ]),

    // Documents of desktop applications.
    .target(
      name: "StoredObjectsDocuments",
      dependencies: ["StoreEngine", "StoredObjectsCore", "Files", "Locks"]),

    .target(
      name: "KeyValueStoreCore", dependencies: ["StoreEngine", "Files", "Locks"]),
    .target(
      name: "KeyValueStore",
      dependencies: ["KeyValueStoreCore", "StoreEngine", "TokyoCabinetBackend", "Files"]),

    .target(
      name: "StoredObjectsTestSupport",
      dependencies: ["StoredObjectsCore", "Files", "Locks"]),

    // The list of formats, for the tool and the tests.
    .target(
      name: "StoreFormats", dependencies: ["CDBBackend", "StoreEngine", "TokyoCabinetBackend"]),

    // The addresses of stores on servers, for programs that run another one for them.
    .target(name: "StoreAddresses", dependencies: ["StoreEngine"]),
    // The language of conditions, for the tool, its page, and the Jukebox.
    .target(name: "ConditionSyntax"),
    // Stores without their classes, for the tool and its page.
    .target(
      name: "RecordBrowsing",
      dependencies: ["ConditionSyntax", "StoreEngine", "StoredObjectsCore", "Files", "Locks"]),
    // Models as Swift source, and what they would do to a store.
    .target(
      name: "Modeling", dependencies: ["RecordBrowsing", "StoredObjectsCore"]),
    // The page, and the server that only the tool starts.
    .target(
      name: "StoredObjectsBrowser",
      dependencies: [
        "Modeling", "RecordBrowsing", "StoreEngine", "StoredObjectsCore", "Files", "Locks",
        flyingFox, flyingSocks,
      ],
      resources: [.embedInCode("Resources")]),

    .target(
      name: "StoredObjectsCommands",
      dependencies: [
        "KeyValueStoreCore", "Modeling", "RecordBrowsing", "StoreAddresses", "StoreEngine",
        "StoredObjectsBrowser", "StoredObjectsCore", "StoredObjectsEncryption", "StoreFormats",
        "Files", argumentParser,
      ]),
    .executableTarget(name: "stored-objects", dependencies: ["StoredObjectsCommands"]),
    // The same with stores on a server, apart, so that nobody else needs libpq.
    .executableTarget(
      name: "stored-objects-postgresql",
      dependencies: [
        "PostgreSQLBackend", "StoreAddresses", "StoreEngine", "StoredObjectsCommands",
      ]),

    // Apart from the tool, so that nobody else needs SQLite.
    .systemLibrary(
      name: "CSQLite", pkgConfig: "sqlite3",
      providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),
    .systemLibrary(
      name: "CSQLCipher", pkgConfig: "sqlcipher",
      providers: [.apt(["libsqlcipher-dev"]), .brew(["sqlcipher"])]),
    .target(name: "YTKImport", dependencies: ["KeyValueStoreCore", "StoreEngine"]),
    // SQLCipher has the same functions as SQLite, so a program links one of them.
    .target(name: "SystemSQLite", dependencies: ["CSQLite", "YTKImport"]),
    .target(name: "SystemSQLCipher", dependencies: ["CSQLCipher", "YTKImport"]),
    .target(
      name: "YTKImportOptions", dependencies: ["KeyValueStore", "YTKImport", argumentParser]),
    .executableTarget(
      name: "stored-objects-import-ytk",
      dependencies: ["SystemSQLite", "YTKImport", "YTKImportOptions", argumentParser]),
    .executableTarget(
      name: "stored-objects-import-sqlcipher",
      dependencies: ["SystemSQLCipher", "YTKImport", "YTKImportOptions", "Files", argumentParser]),

    .executableTarget(
      name: "quickstart", dependencies: ["StoredObjects"], path: "Examples/QuickStart"),

    .target(
      name: "JukeboxCommands",
      dependencies: [
        "CDBBackend", "ConditionSyntax", "StoreAddresses", "StoredObjects", argumentParser,
      ],
      path: "Examples/Jukebox", exclude: ["README.md", "Sample", "Programs"]),
    .executableTarget(
      name: "jukebox", dependencies: ["JukeboxCommands"], path: "Examples/Jukebox/Programs/jukebox"),
    // The same with stores on a server, apart, so that the first one doesn't need libpq.
    .executableTarget(
      name: "jukebox-postgresql",
      dependencies: ["JukeboxCommands", "PostgreSQLBackend", "StoreAddresses", "StoreEngine"],
      path: "Examples/Jukebox/Programs/jukebox-postgresql"),

    .executableTarget(
      name: "notebook",
      dependencies: ["KeyValueStore", "StoredObjectsEncryption", argumentParser],
      path: "Examples/Notebook", exclude: ["README.md"]),

    .executableTarget(
      name: "sketch", dependencies: ["StoredObjects", "StoredObjectsDocuments"],
      path: "Examples/Sketch", exclude: ["README.md"]),

    .testTarget(
      name: "FilesTests", dependencies: ["Files", "Locks", "TestFiles"]),
    .testTarget(
      name: "StoreEngineTests",
      dependencies: [
        "StoreEngine", "CDBBackend", "StoredObjectsTestSupport", "FormatFuzzing", "Files", "Locks",
        "TestFiles", "TestedBackends",
      ]),
    .testTarget(
      name: "StoredObjectsCoreTests",
      dependencies: [
        "StoreEngine", "StoredObjectsCore", "CDBBackend", "StoredObjectsTestSupport", "DeepGraphs",
        "FormatFuzzing", "Files", "Locks", "TestFiles",
      ]),
    .testTarget(
      name: "CDBTests",
      dependencies: ["CDB", "Files", "FormatFuzzing", "StoredObjectsTestSupport", "TestFiles"]),
    .testTarget(
      name: "TokyoCabinetTests", dependencies: ["TokyoCabinet", "ProgramTesting", "TestFiles"]),
    .testTarget(
      name: "TokyoCabinetFileTests",
      dependencies: [
        "TokyoCabinetFile", "TokyoCabinet", "FormatFuzzing", "StoredObjectsTestSupport", "Files",
        "ProgramTesting", "TestFiles",
      ]),
    .target(
      name: "FormatFuzzing",
      dependencies: [
        "CDB", "CDBBackend", "TokyoCabinetBackend", "TokyoCabinetFile", "StoredObjectsCore",
        "StoredObjectsEncryption", "StoreFormats", "Files", "StoredObjectsTestSupport",
        "TestFiles",
      ],
      path: "Tests/FormatFuzzing", exclude: ["Corpus"]),
    .executableTarget(
      name: "format-fuzzer",
      dependencies: ["FormatFuzzing", "StoredObjectsTestSupport", argumentParser],
      path: "Tests/FormatFuzzer"),
    // Kills writing processes, cuts the power, damages bytes, and checks the remaining store. It
    // tests what users get, through public names.
    .executableTarget(
      name: "crash-harness",
      dependencies: [
        "CDBBackend", "KeyValueStoreCore", "StoredObjectsCore", "StoredObjectsEncryption",
        "StoredObjectsSync", "StoredObjectsTestSupport", "TokyoCabinet", "TokyoCabinetBackend",
        argumentParser,
      ],
      path: "Tests/CrashHarness", exclude: ["PowerShim"], packageAccess: false),
    .testTarget(
      name: "BackendTests",
      dependencies: [
        "CDBBackend", "CDB", "StoredObjectsCore", "StoredObjectsEncryption", "TokyoCabinetBackend",
        "TokyoCabinet", "TokyoCabinetFile", "StoreFormats", "StoredObjectsTestSupport", "Files",
        "LiveResultsTesting", "Locks", "TestFiles", "TestedBackends", log,
      ]),
    // Compares live results with fetching again, on any backend.
    .target(
      name: "LiveResultsTesting", dependencies: ["StoredObjectsCore", "StoredObjectsTestSupport"],
      path: "Tests/LiveResultsTesting"),
    // A PostgreSQL server of the tests' own.
    .target(name: "TestServer", dependencies: ["Locks"], path: "Tests/TestServer"),
    .testTarget(
      name: "PostgreSQLBackendTests",
      dependencies: [
        "KeyValueStoreCore", "PostgreSQLBackend", "RecordBrowsing", "StoredObjectsBrowser",
        "StoredObjectsCore", "StoredObjectsEncryption", "StoredObjectsSync",
        "StoredObjectsTestSupport", "Files", "LiveResultsTesting", "Locks", "ProgramTesting",
        "TestFiles", "TestServer", "TokyoCabinetBackend", "stored-objects",
        "stored-objects-postgresql",
      ],
      exclude: ["Fixtures"]),
    .testTarget(
      name: "YTKImportTests",
      dependencies: [
        "CSQLite", "KeyValueStore", "ProgramTesting", "SystemSQLite", "YTKImport", "TestFiles",
        "stored-objects", "stored-objects-import-sqlcipher",
      ],
      exclude: ["Fixtures"]),
    .testTarget(
      name: "KeyValueStoreTests",
      dependencies: [
        "KeyValueStore", "KeyValueStoreCore", "CDB", "CDBBackend", "StoredObjectsCore",
        "PostgreSQLBackend", "StoredObjectsEncryption", "TokyoCabinetBackend",
        "StoredObjectsTestSupport", "Files", "Locks", "TestFiles", "TestServer", "TestedBackends",
      ]),
    .testTarget(
      name: "EncryptionTests",
      dependencies: [
        "StoredObjectsEncryption", "BNRPersistenceEncryption", "StoredObjectsCore", "CDBBackend",
        "TokyoCabinetBackend", "StoredObjectsTestSupport", "StoreFormats", "FormatFuzzing", "Files",
        "TestFiles", "TestedBackends", crypto, extras,
      ],
      exclude: ["EarlierStores"]),
    .testTarget(
      name: "ObservabilityTests",
      dependencies: [
        "StoredObjectsObservability", "StoredObjectsCore", "TokyoCabinetBackend",
        "KeyValueStoreCore", "TestFiles", metrics("CoreMetrics"), metrics("MetricsTestKit"),
        tracing,
        .product(
          name: "InMemoryTracing", package: "swift-distributed-tracing",
          condition: Traits.observability),
      ]),
    .testTarget(
      name: "SyncTests",
      dependencies: [
        "StoredObjectsSync", "StoredObjectsSyncHTTP", "StoredObjectsModel", "StoreEngine",
        "StoredObjectsCore", "KeyValueStoreCore", "CDBBackend", "TokyoCabinetBackend",
        "StoredObjectsTestSupport", "Locks", "ProgramTesting", "TestFiles", "TestedBackends",
        "stored-objects", log,
      ]),
    .testTarget(
      name: "DocumentTests",
      dependencies: [
        "sketch", "CZlib", "StoredObjectsDocuments", "StoredObjectsCore", "StoreFormats",
        "StoredObjectsTestSupport", "Files", "Locks", "ProgramTesting", "TestFiles",
        "TestedBackends",
      ]),
    .testTarget(
      name: "TrapTests", dependencies: ["StoredObjectsCore"]),
    .target(
      name: "TestFiles", dependencies: ["Files", "Locks"], path: "Tests/TestFiles"),
    .target(
      name: "DeepGraphs", dependencies: ["StoredObjectsCore", "TestFiles"],
      path: "Tests/DeepGraphs"),
    .target(
      name: "TestedBackends",
      dependencies: [
        "StoredObjectsCore", "StoredObjectsEncryption", "StoreFormats",
        "StoredObjectsTestSupport", "TestFiles",
      ],
      path: "Tests/TestedBackends"),
    .target(
      name: "ProgramTesting", dependencies: ["TestFiles"], path: "Tests/ProgramTesting"),
    .testTarget(
      name: "JukeboxTests",
      dependencies: [
        "jukebox", "jukebox-postgresql", "JukeboxCommands", "ConditionSyntax", "ProgramTesting",
        "StoreAddresses", "StoredObjects", "TestServer",
      ]),
    .testTarget(
      name: "ToolTests",
      dependencies: [
        "stored-objects", "stored-objects-import-ytk", "notebook", "CSQLite", "KeyValueStore",
        "ProgramTesting", "StoredObjectsCore", "TokyoCabinetBackend", "TokyoCabinet",
        "StoredObjectsTestSupport",
      ]),
    .testTarget(
      name: "BrowserTests",
      dependencies: [
        "Modeling", "RecordBrowsing", "StoredObjectsBrowser", "StoreEngine", "StoredObjectsCore",
        "Files", "Locks", "ProgramTesting", "StoredObjectsTestSupport", "TestFiles",
        "TestedBackends", "jukebox", "stored-objects", flyingFox,
      ]),
    .testTarget(
      name: "MacroTests",
      dependencies: [
        "StoredObjects", "StoredObjectsTestSupport", "StoredSyntax", "DeepGraphs", "PlainClient",
        "MainActorClient", "TestFiles",
        syntax("SwiftSyntax"), syntax("SwiftParser"), syntax("SwiftDiagnostics"),
        syntax("SwiftSyntaxMacros"), syntax("SwiftSyntaxMacroExpansion"),
        syntax("SwiftSyntaxMacrosGenericTestSupport"),
      ]),
    // Code as users write it, with the compiler settings of users.
    .target(
      name: "PlainClient",
      dependencies: [
        "BNRPersistenceEncryption", "CDB", "CDBBackend", "KeyValueStore", "PostgreSQLBackend",
        "StoredObjects",
        "StoredObjectsDocuments", "StoredObjectsEncryption", "StoredObjectsObservability",
        "StoredObjectsSync", "StoredObjectsSyncHTTP", "StoredObjectsTestSupport", "TokyoCabinet",
        "TokyoCabinetFile",
      ],
      path: "Tests/PlainClient",
      swiftSettings: [.swiftLanguageMode(.v5)] + strict + Traits.defines),
    .target(
      name: "MainActorClient", dependencies: ["StoredObjects"], path: "Tests/MainActorClient",
      swiftSettings: [.defaultIsolation(MainActor.self)] + strict + Traits.defines),
    .testTarget(
      name: "SourceRulesTests",
      dependencies: ["Modeling", "StoredObjects", "StoredObjectsCore", "TestFiles"]),
  ],
  swiftLanguageModes: [.v6]
)

/// Optimizes the libraries in debug builds, with all assertions.
///
/// Tests run several times as fast with it. `./dev test` asks for it; it is off for users, whose
/// packages can't depend on unsafe flags.
let optimized: [SwiftSetting] =
  Context.environment["STOREDOBJECTS_OPTIMIZED"] == nil
  ? []
  : [.unsafeFlags(["-O", "-assert-config", "Debug"], .when(configuration: .debug))]

/// Programs that test the libraries with so many cases that they are optimized, too.
let optimizedPrograms = ["crash-harness", "format-fuzzer"]

// Unsafe code has to say so, and warnings are errors in own builds.
for target in package.targets
where [.regular, .executable, .test, .macro].contains(target.type) && target.swiftSettings == nil {
  target.swiftSettings =
    [.strictMemorySafety()] + strict
    + [
      .enableUpcomingFeature("MemberImportVisibility"),
      .enableUpcomingFeature("InternalImportsByDefault"),
    ] + Traits.defines
    + (target.type == .regular || optimizedPrograms.contains(target.name) ? optimized : [])
}
