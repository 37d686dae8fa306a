// swift-tools-version: 6.2
import PackageDescription

/// The crash tests: they kill writing processes, cut the power, damage bytes, and check the
/// remaining store.
///
/// This is a separate package, so that users of the library don't see it. It tests what they get:
/// the products of the library, through their public names. `./dev crash` builds and starts it.
let package = Package(
  name: "CrashHarness",
  dependencies: [
    .package(name: "swift-stored-objects", path: "../..", traits: ["Tools"]),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
  ],
  targets: [
    .executableTarget(
      name: "crash-harness",
      dependencies: [
        library("CDBBackend"), library("KeyValueStoreCore"), library("StoredObjectsCore"),
        library("StoredObjectsEncryption"), library("StoredObjectsTestSupport"),
        library("TokyoCabinet"), library("TokyoCabinetBackend"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "Sources",
      swiftSettings: [
        .strictMemorySafety(),
        .treatAllWarnings(as: .error),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"),
      ])
  ],
  swiftLanguageModes: [.v6]
)

func library(_ name: String) -> Target.Dependency {
  .product(name: name, package: "swift-stored-objects")
}
