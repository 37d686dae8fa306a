// swift-tools-version: 6.2
import PackageDescription

/// A part of the service of `Examples/JukeboxServer` on GRDB's pool, to compare the two under load,
/// and the same part on StoredObjects, to compare the code.
let package = Package(
  name: "Servers",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "swift-stored-objects", path: "../.."),
    .package(url: "https://github.com/hummingbird-project/hummingbird.git", from: "2.28.1"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
  ],
  targets: [
    .executableTarget(
      name: "grdb-server",
      dependencies: [
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "GRDB", package: "GRDB.swift"),
      ]),
    .executableTarget(
      name: "stored-objects-server",
      dependencies: [
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "StoredObjects", package: "swift-stored-objects"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
