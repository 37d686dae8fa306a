// swift-tools-version: 6.2
import PackageDescription

let warnings: [CSetting] = [
  .define("_GNU_SOURCE"), .enableWarning("all"), .enableWarning("extra"),
  .treatAllWarnings(as: .error),
]

/// The rivals that StoredObjects is compared with.
///
/// This is a separate package, so that users of the library neither fetch nor build it. `./dev
/// bench` builds it and starts its programs.
let package = Package(
  name: "Rivals",
  dependencies: [
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(path: "../WorkloadData"),
  ],
  targets: [
    .target(
      name: "CWorkloads", path: "Sources/CWorkloads", publicHeadersPath: ".",
      cSettings: [.headerSearchPath(".")] + warnings, linkerSettings: [.linkedLibrary("m")]),
    .executableTarget(
      name: "c-rivals", dependencies: ["CWorkloads"], path: "Sources/CRivals",
      cSettings: [.headerSearchPath(".")] + warnings,
      linkerSettings: [
        .linkedLibrary("sqlite3"), .linkedLibrary("lmdb"), .linkedLibrary("tokyocabinet"),
      ]),
    .executableTarget(
      name: "sqlite-writer", path: "Sources/SQLiteWriter", cSettings: warnings,
      linkerSettings: [.linkedLibrary("sqlite3")]),
    .executableTarget(
      name: "rocksdb-rival", dependencies: ["CWorkloads"], path: "Sources/RocksDBRival",
      cSettings: warnings, linkerSettings: [.linkedLibrary("rocksdb")]),
    .executableTarget(
      name: "libpq-rival", dependencies: ["CLibPQ"], path: "Sources/LibPQRival",
      cSettings: warnings),
    .systemLibrary(
      name: "CLibPQ", path: "Sources/CLibPQ", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
    .executableTarget(
      name: "cdb-rival", path: "Sources/CDBRival", cSettings: warnings,
      linkerSettings: [.linkedLibrary("cdb")]),
    .executableTarget(
      name: "grdb-rivals",
      dependencies: [
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "WorkloadData", package: "WorkloadData"),
      ],
      path: "Sources/GRDBRivals"),
  ],
  swiftLanguageModes: [.v6]
)
