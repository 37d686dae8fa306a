// swift-tools-version: 6.2
import PackageDescription

/// Objects in memory: fetches swift-log and nothing else.
let package = Package(
  name: "CoreOnly",
  dependencies: [.package(name: "swift-stored-objects", path: "../../..", traits: [])],
  targets: [
    .executableTarget(
      name: "core-only",
      dependencies: [.product(name: "StoredObjectsCore", package: "swift-stored-objects")],
      path: ".", sources: ["main.swift"])
  ],
  swiftLanguageModes: [.v6]
)
