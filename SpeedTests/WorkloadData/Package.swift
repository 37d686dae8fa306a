// swift-tools-version: 6.2
import PackageDescription

/// What StoredObjects and its rivals in Swift work on, so that it is the same.
///
/// A package of its own: the speed tests and the rivals are two others.
let package = Package(
  name: "WorkloadData",
  products: [.library(name: "WorkloadData", targets: ["WorkloadData"])],
  targets: [
    .target(
      name: "WorkloadData", path: "Sources",
      swiftSettings: [
        .strictMemorySafety(),
        .treatAllWarnings(as: .error),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"),
      ])
  ],
  swiftLanguageModes: [.v6]
)
