// swift-tools-version: 6.2
import PackageDescription

/// The data of the workloads, shared by StoredObjects and its rivals in Swift.
///
/// It is a separate package, because the speed tests and the rivals are two others.
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
