/// The release that these sources belong to.
///
/// This is the only place with the number. The tool prints it, `./dev deb` reads it here, and a test
/// compares it with the changelog.
enum Release {
  static let version = "1.0.0"
}
