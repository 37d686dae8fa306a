// swift-tools-version: 6.2
import PackageDescription

/// The measurements of StoredObjects: workloads, the programs that run them, and limits of what
/// they count.
///
/// It is a separate package, so that users of the library don't see it. It measures what they get:
/// the products of the library, through their public names. `./dev bench` builds and starts it.
let package = Package(
  name: "SpeedTests",
  traits: [
    .trait(name: "Macros", description: "Measures @Stored, which takes a build of swift-syntax.")
  ],
  dependencies: [
    .package(
      name: "swift-stored-objects", path: "..",
      traits: ["Tools", .trait(name: "Macros", condition: .when(traits: ["Macros"]))]),
    .package(path: "WorkloadData"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
  ],
  targets: [
    .target(
      name: "SpeedWorkloads",
      dependencies: [
        .product(name: "WorkloadData", package: "WorkloadData"), library("CDB"),
        library("CDBBackend"), library("KeyValueStoreCore"),
        library("StoredObjectsCore"), library("TokyoCabinetBackend"),
      ],
      path: "Workloads"),
    .executableTarget(
      name: "speedtests-worker", dependencies: ["SpeedWorkloads", library("StoredObjectsCore")],
      path: "Worker"),
    .target(
      name: "EncryptedEngines",
      dependencies: [
        "SpeedWorkloads", library("CDBBackend"), library("StoredObjectsCore"),
        library("StoredObjectsEncryption"), library("TokyoCabinetBackend"),
      ],
      path: "Encrypted/Engines"),
    .executableTarget(
      name: "speedtests-worker-encrypted", dependencies: ["EncryptedEngines", "SpeedWorkloads"],
      path: "Encrypted/Worker"),
    .executableTarget(name: "speedtests-launcher", path: "Launcher"),
    .executableTarget(
      name: "speedtests",
      dependencies: [
        "SpeedWorkloads", library("StoredObjectsCore"), library("TokyoCabinet"),
        library("TokyoCabinetBackend"), library("TokyoCabinetFile"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "Harness"),
    .executableTarget(
      name: "speedtests-macros",
      dependencies: [
        library("StoredObjects"), library("StoredObjectsCore"), library("TokyoCabinetBackend"),
      ],
      path: "Macros"),
    .executableTarget(
      name: "speedtests-postgresql",
      dependencies: [
        library("PostgreSQLBackend"), library("StoredObjectsCore"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "PostgreSQL", exclude: ["with-server"]),
    .target(name: "CCounts", path: "Counts/CCounts"),
    .executableTarget(
      name: "speedtests-counts",
      dependencies: ["CCounts", "SpeedWorkloads", library("StoredObjectsCore")],
      path: "Counts/Checks"),
  ],
  swiftLanguageModes: [.v6]
)

func library(_ name: String) -> Target.Dependency {
  .product(name: name, package: "swift-stored-objects")
}

for target in package.targets where !["CCounts", "speedtests-launcher"].contains(target.name) {
  target.swiftSettings = [
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
  ]
}
