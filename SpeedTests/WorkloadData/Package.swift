// swift-tools-version: 6.2
import PackageDescription

/// What StoredObjects and its rivals in Swift work on, so that it is the same.
///
/// A package of its own for that of the rivals, which can't reach files outside of it; the speed
/// tests have the same folder as a target.
let package = Package(
  name: "WorkloadData",
  products: [.library(name: "WorkloadData", targets: ["WorkloadData"])],
  targets: [.target(name: "WorkloadData", path: "Sources")],
  swiftLanguageModes: [.v6]
)
