// swift-tools-version: 6.2
import PackageDescription

/// `@Stored` classes in constant databases: needs no C library that is not part of the system.
let package = Package(
  name: "ConstantDatabase",
  dependencies: [.package(name: "swift-stored-objects", path: "../../..", traits: ["Macros"])],
  targets: [
    .executableTarget(
      name: "constant-database",
      dependencies: [
        .product(name: "StoredObjectsModel", package: "swift-stored-objects"),
        .product(name: "CDBBackend", package: "swift-stored-objects"),
      ],
      path: ".", sources: ["main.swift"])
  ],
  swiftLanguageModes: [.v6]
)
