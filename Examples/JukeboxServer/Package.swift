// swift-tools-version: 6.2
import PackageDescription

/// A package of its own, so that users of StoredObjects fetch no web server.
let package = Package(
  name: "JukeboxServer",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "swift-stored-objects", path: "../..", traits: ["Macros", "SyncServer"]),
    .package(url: "https://github.com/hummingbird-project/hummingbird.git", from: "2.28.1"),
    .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.8.2"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.13.0"),
    .package(url: "https://github.com/swift-server/async-http-client.git", from: "1.30.0"),
  ],
  targets: [
    .target(
      name: "JukeboxService",
      dependencies: [
        .product(name: "StoredObjects", package: "swift-stored-objects"),
        .product(name: "StoredObjectsSyncServer", package: "swift-stored-objects"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ],
      path: "Sources/JukeboxService"),
    .executableTarget(
      name: "jukebox-server",
      dependencies: [
        "JukeboxService",
        .product(name: "PostgreSQLBackend", package: "swift-stored-objects"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "Sources/jukebox-server"),
    .testTarget(
      name: "JukeboxServiceTests",
      dependencies: [
        "JukeboxService", "jukebox-server",
        .product(name: "StoredObjects", package: "swift-stored-objects"),
        .product(name: "StoredObjectsSyncHTTP", package: "swift-stored-objects"),
        .product(name: "StoredObjectsSyncServer", package: "swift-stored-objects"),
        .product(name: "HummingbirdTesting", package: "hummingbird"),
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
      ],
      path: "Tests"),
  ],
  swiftLanguageModes: [.v6]
)
