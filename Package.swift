// swift-tools-version: 6.2
import CompilerPluginSupport
import PackageDescription

/// Unsafe code has to say so, and no warning is let through.
let strict: [SwiftSetting] = [
  .strictMemorySafety(),
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InternalImportsByDefault"),
]

let log = Target.Dependency.product(name: "Logging", package: "swift-log")

/// What only `@Stored` needs; without the trait `Macros` nothing of swift-syntax is built.
func syntax(_ product: String) -> Target.Dependency {
  .product(name: product, package: "swift-syntax", condition: .when(traits: ["Macros"]))
}
let macros: Target.Dependency = .target(
  name: "StoredObjectsMacros", condition: .when(traits: ["Macros"]))

let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let extras = Target.Dependency.product(name: "CryptoExtras", package: "swift-crypto")

let argumentParser = Target.Dependency.product(
  name: "ArgumentParser", package: "swift-argument-parser")

let package = Package(
  name: "swift-stored-objects",
  products: [
    .library(name: "StoredObjects", targets: ["StoredObjects"]),
    .library(name: "StoredObjectsCore", targets: ["StoredObjectsCore"]),
    .library(name: "TokyoCabinet", targets: ["TokyoCabinet"]),
    .library(name: "TokyoCabinetFile", targets: ["TokyoCabinetFile"]),
    .library(name: "TokyoCabinetBackend", targets: ["TokyoCabinetBackend"]),
    .library(name: "CDB", targets: ["CDB"]),
    .library(name: "CDBBackend", targets: ["CDBBackend"]),
    .library(name: "KeyValueStore", targets: ["KeyValueStore"]),
    .library(name: "KeyValueStoreCore", targets: ["KeyValueStoreCore"]),
    .library(name: "StoredObjectsEncryption", targets: ["StoredObjectsEncryption"]),
    .library(name: "BNRPersistenceEncryption", targets: ["BNRPersistenceEncryption"]),
    .library(name: "StoredObjectsTestSupport", targets: ["StoredObjectsTestSupport"]),
    .executable(name: "stored-objects", targets: ["stored-objects"]),
    .executable(name: "stored-objects-import-ytk", targets: ["stored-objects-import-ytk"]),
  ],
  traits: [
    .trait(name: "Macros", description: "@Stored, which takes a build of swift-syntax."),
    .default(enabledTraits: ["Macros"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
    .package(url: "https://github.com/swiftlang/swift-docc-plugin", from: "1.5.0"),
    .package(url: "https://github.com/swiftlang/swift-syntax", from: "603.0.1"),
  ],
  targets: [
    .target(
      name: "StoredObjects",
      dependencies: ["StoredObjectsCore", "TokyoCabinetBackend", macros],
      swiftSettings: strict),
    .macro(
      name: "StoredObjectsMacros",
      dependencies: [
        "StoredSyntax", syntax("SwiftSyntaxMacros"), syntax("SwiftCompilerPlugin"),
      ],
      swiftSettings: strict),
    // Apart from the plugin, because tests of a macro target are built for the host, and with them
    // all others, which those of executables do not survive.
    .target(
      name: "StoredSyntax",
      dependencies: [
        syntax("SwiftSyntax"), syntax("SwiftSyntaxBuilder"), syntax("SwiftSyntaxMacros"),
        syntax("SwiftDiagnostics"),
      ],
      swiftSettings: strict),
    .target(
      name: "StoredObjectsCore", dependencies: ["CCRC32C", "Files", "Locks", log],
      swiftSettings: strict),
    .target(name: "Locks", swiftSettings: strict),
    .target(name: "CCRC32C"),
    .target(name: "CFiles"),
    .target(name: "Files", dependencies: ["CFiles", "Locks"], swiftSettings: strict),

    .systemLibrary(
      name: "CTokyoCabinet", pkgConfig: "tokyocabinet",
      providers: [.apt(["libtokyocabinet-dev"]), .brew(["tokyo-cabinet"])]),
    .target(
      name: "TokyoCabinet",
      dependencies: ["CTokyoCabinet", "TokyoCabinetFile", "Files", "Locks"],
      swiftSettings: strict),
    .systemLibrary(
      name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]),
    .target(
      name: "TokyoCabinetFile", dependencies: ["CZlib", "Files"], swiftSettings: strict),
    .target(
      name: "TokyoCabinetBackend",
      dependencies: ["StoredObjectsCore", "TokyoCabinet", "TokyoCabinetFile", "Files", "Locks"],
      swiftSettings: strict),

    .target(name: "CDB", dependencies: ["Files", "Locks"], swiftSettings: strict),
    .target(
      name: "CDBBackend", dependencies: ["StoredObjectsCore", "CDB", "Files", "Locks"],
      swiftSettings: strict),

    // The one target that swift-crypto is built for; who doesn't encrypt doesn't depend on it.
    .target(
      name: "StoredObjectsEncryption",
      dependencies: ["StoredObjectsCore", "Files", "Locks", crypto, extras],
      swiftSettings: strict),

    // Reads what the original encrypted, apart, so that nobody encrypts so by accident.
    .target(
      name: "BNRPersistenceEncryption",
      dependencies: ["StoredObjectsCore", "TokyoCabinetBackend", "Files", crypto, extras],
      swiftSettings: strict),

    .target(
      name: "KeyValueStoreCore", dependencies: ["StoredObjectsCore", "Files", "Locks"],
      swiftSettings: strict),
    .target(
      name: "KeyValueStore",
      dependencies: ["KeyValueStoreCore", "StoredObjectsCore", "TokyoCabinetBackend", "Files"],
      swiftSettings: strict),

    .target(
      name: "StoredObjectsTestSupport",
      dependencies: ["StoredObjectsCore", "Files", "Locks"],
      swiftSettings: strict),

    .executableTarget(
      name: "stored-objects",
      dependencies: [
        "CDBBackend", "KeyValueStoreCore", "StoredObjectsCore", "StoredObjectsEncryption",
        "TokyoCabinetBackend", "Files", argumentParser,
      ],
      swiftSettings: strict),

    // Apart from the tool, so that nobody else needs SQLite.
    .systemLibrary(
      name: "CSQLite", pkgConfig: "sqlite3",
      providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),
    .target(
      name: "YTKImport", dependencies: ["CSQLite", "KeyValueStoreCore", "StoredObjectsCore"],
      swiftSettings: strict),
    .executableTarget(
      name: "stored-objects-import-ytk",
      dependencies: ["KeyValueStore", "YTKImport", argumentParser],
      swiftSettings: strict),

    .executableTarget(
      name: "quickstart", dependencies: ["StoredObjects"], path: "Examples/QuickStart",
      swiftSettings: strict),

    .target(
      name: "WorkloadData", path: "SpeedTests/WorkloadData/Sources", swiftSettings: strict),
    .target(
      name: "SpeedWorkloads",
      dependencies: [
        "CDB", "CDBBackend", "Files", "KeyValueStoreCore", "StoredObjectsCore",
        "TokyoCabinetBackend", "WorkloadData",
      ],
      path: "SpeedTests/Workloads", swiftSettings: strict),
    .executableTarget(
      name: "speedtests-worker", dependencies: ["SpeedWorkloads", "StoredObjectsCore", "Files"],
      path: "SpeedTests/Worker", swiftSettings: strict),
    .target(
      name: "EncryptedEngines",
      dependencies: [
        "SpeedWorkloads", "CDBBackend", "StoredObjectsCore", "StoredObjectsEncryption",
        "TokyoCabinetBackend",
      ],
      path: "SpeedTests/Encrypted/Engines", swiftSettings: strict),
    .executableTarget(
      name: "speedtests-worker-encrypted", dependencies: ["EncryptedEngines", "SpeedWorkloads"],
      path: "SpeedTests/Encrypted/Worker", swiftSettings: strict),
    .executableTarget(name: "speedtests-launcher", path: "SpeedTests/Launcher"),
    .executableTarget(
      name: "speedtests",
      dependencies: [
        "SpeedWorkloads", "StoredObjectsCore", "TokyoCabinet", "TokyoCabinetFile", "Files",
        argumentParser,
      ],
      path: "SpeedTests/Harness", swiftSettings: strict),
    .executableTarget(
      name: "speedtests-macros",
      dependencies: ["StoredObjects", "StoredObjectsCore", "TokyoCabinetBackend"],
      path: "SpeedTests/Macros", swiftSettings: strict),
    .target(name: "CCounts", path: "SpeedTests/Counts/CCounts"),
    .executableTarget(
      name: "speedtests-counts", dependencies: ["CCounts", "SpeedWorkloads", "StoredObjectsCore"],
      path: "SpeedTests/Counts/Checks", swiftSettings: strict),

    .executableTarget(
      name: "crash-harness",
      dependencies: [
        "CDBBackend", "KeyValueStoreCore", "StoredObjectsCore", "StoredObjectsEncryption",
        "TokyoCabinetBackend", "TokyoCabinet", "Files", "StoredObjectsTestSupport", "TestFiles",
        argumentParser,
      ],
      path: "Tests/CrashHarness", exclude: ["PowerShim"], swiftSettings: strict),

    .executableTarget(
      name: "jukebox", dependencies: ["CDBBackend", "StoredObjects", argumentParser],
      path: "Examples/Jukebox", exclude: ["README.md", "Sample"], swiftSettings: strict),

    .executableTarget(
      name: "notebook",
      dependencies: ["KeyValueStore", "StoredObjectsEncryption", argumentParser],
      path: "Examples/Notebook", exclude: ["README.md"], swiftSettings: strict),

    .testTarget(
      name: "FilesTests", dependencies: ["Files", "Locks", "TestFiles"], swiftSettings: strict),
    .testTarget(
      name: "StoredObjectsCoreTests",
      dependencies: [
        "StoredObjectsCore", "StoredObjectsTestSupport", "FormatFuzzing", "Files", "Locks",
        "TestFiles",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "CDBTests",
      dependencies: ["CDB", "Files", "FormatFuzzing", "StoredObjectsTestSupport", "TestFiles"],
      swiftSettings: strict),
    .testTarget(
      name: "TokyoCabinetTests", dependencies: ["TokyoCabinet", "ProgramTesting", "TestFiles"],
      swiftSettings: strict),
    .testTarget(
      name: "TokyoCabinetFileTests",
      dependencies: [
        "TokyoCabinetFile", "TokyoCabinet", "FormatFuzzing", "StoredObjectsTestSupport", "Files",
        "ProgramTesting", "TestFiles",
      ],
      swiftSettings: strict),
    .target(
      name: "FormatFuzzing",
      dependencies: [
        "CDB", "CDBBackend", "TokyoCabinetBackend", "TokyoCabinetFile", "StoredObjectsCore",
        "StoredObjectsEncryption", "Files", "StoredObjectsTestSupport", "TestFiles",
      ],
      path: "Tests/FormatFuzzing", exclude: ["Corpus"], swiftSettings: strict),
    .executableTarget(
      name: "format-fuzzer",
      dependencies: ["FormatFuzzing", "StoredObjectsTestSupport", argumentParser],
      path: "Tests/FormatFuzzer", swiftSettings: strict),
    .testTarget(
      name: "BackendTests",
      dependencies: [
        "CDBBackend", "CDB", "StoredObjectsCore", "StoredObjectsEncryption", "TokyoCabinetBackend",
        "TokyoCabinet", "TokyoCabinetFile", "StoredObjectsTestSupport", "Files", "Locks",
        "TestFiles", log,
      ],
      swiftSettings: strict),
    .testTarget(
      name: "YTKImportTests",
      dependencies: ["CSQLite", "KeyValueStore", "YTKImport", "TestFiles"],
      swiftSettings: strict),
    .testTarget(
      name: "KeyValueStoreTests",
      dependencies: [
        "KeyValueStore", "KeyValueStoreCore", "CDB", "CDBBackend", "StoredObjectsCore",
        "StoredObjectsEncryption", "TokyoCabinetBackend", "StoredObjectsTestSupport", "Files",
        "Locks", "TestFiles",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "EncryptionTests",
      dependencies: [
        "StoredObjectsEncryption", "BNRPersistenceEncryption", "StoredObjectsCore", "CDBBackend",
        "TokyoCabinetBackend", "StoredObjectsTestSupport", "FormatFuzzing", "Files", "TestFiles",
        crypto, extras,
      ],
      exclude: ["EarlierStores"], swiftSettings: strict),
    .testTarget(
      name: "TrapTests", dependencies: ["StoredObjectsCore"], swiftSettings: strict),
    .target(
      name: "TestFiles", dependencies: ["Files", "Locks"], path: "Tests/TestFiles",
      swiftSettings: strict),
    .target(
      name: "ProgramTesting", dependencies: ["TestFiles"], path: "Tests/ProgramTesting",
      swiftSettings: strict),
    .testTarget(
      name: "JukeboxTests", dependencies: ["jukebox", "ProgramTesting", "StoredObjects"],
      swiftSettings: strict),
    .testTarget(
      name: "ToolTests",
      dependencies: [
        "stored-objects", "stored-objects-import-ytk", "notebook", "CSQLite", "KeyValueStore",
        "ProgramTesting", "StoredObjectsCore", "TokyoCabinetBackend", "TokyoCabinet",
        "StoredObjectsTestSupport",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "MacroTests",
      dependencies: [
        "StoredObjects", "StoredObjectsTestSupport", "StoredSyntax", "PlainClient", "TestFiles",
        syntax("SwiftSyntax"), syntax("SwiftParser"), syntax("SwiftDiagnostics"),
        syntax("SwiftSyntaxMacros"), syntax("SwiftSyntaxMacroExpansion"),
        syntax("SwiftSyntaxMacrosGenericTestSupport"),
      ],
      swiftSettings: strict),
    // What users write, under the settings of users.
    .target(
      name: "PlainClient", dependencies: ["StoredObjects"], path: "Tests/PlainClient",
      swiftSettings: [.swiftLanguageMode(.v5), .treatAllWarnings(as: .error)]),
    .testTarget(
      name: "SourceRulesTests", dependencies: ["StoredObjectsCore", "TestFiles"],
      swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6]
)
