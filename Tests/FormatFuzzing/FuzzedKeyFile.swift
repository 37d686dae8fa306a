import StoredObjectsCore
import StoredObjectsEncryption
package import StoredObjectsTestSupport

/// Key files of encrypted stores, opened with the right passphrase or key.
///
/// Checksums detect most damage, so each file is read again with corrected checksums, as an
/// attacker would write them.
package struct FuzzedKeyFile: FuzzedFormat {
  package let name = "key-file"
  // The file may request a passphrase cost of some seconds.
  package let limit = Duration.seconds(10)

  package init() {}

  /// The keys with the content that each unwraps; both are in the known answers, too.
  private static let answers: [(key: EncryptionKey, content: [UInt8])] = [
    (
      EncryptionKey(bytes: (0..<32).map { UInt8($0) }),
      bytes(
        "01000000000000000000c8c9cacbcccdcecfd0d1d2d3d4d5d6d7101112131415161718191a1b1c1d"
          + "1e1f000102030405060708090a0b99a7f33e015c87f9fe8f87dd1c82b28cec2584fe7225d7aa5f41"
          + "6738810c203164f614071a808fff93a2669b19b50ff3")
    ),
    (
      EncryptionKey(passphrase: "correct horse"),
      bytes(
        "02040800000001000000c8c9cacbcccdcecfd0d1d2d3d4d5d6d7101112131415161718191a1b1c1d"
          + "1e1f000102030405060708090a0bc15b69a4b3032e08e47662bb73b1be087f865e18c02047be444e"
          + "ec5387a082f89c6e2ca5e71ce1ceac70a8c50801d1c8")
    ),
  ]

  private static func bytes(_ hex: String) -> [UInt8] {
    stride(from: 0, to: hex.count, by: 2).compactMap {
      UInt8(hex.dropFirst($0).prefix(2), radix: 16)
    }
  }

  package func makeFile(_ random: inout SeededGenerator) throws -> [UInt8] {
    KeyFile.bytes(Self.answers[Int.random(in: 0...1, using: &random)].content)
  }

  package func fields(of file: [UInt8]) -> [Range<Int>] {
    // Magic, version and length, then kind, cost, salt, identity, nonce, key, tag, and the
    // checksum.
    let ends = [8, 12, 16, 17, 18, 22, 26, 42, 58, 70, 102, 118, 122]
    return [0, 4096].flatMap { copy in
      zip([0] + ends, ends).map { copy + $0..<copy + $1 }
    }.filter { $0.upperBound <= file.count }
  }

  package func read(_ file: [UInt8], _ random: inout SeededGenerator) throws -> Bool {
    let isSound = try opens(file)
    if file.count > 16 { _ = try opens(KeyFile.bytes(Array(file[16...].prefix(102)))) }
    return isSound
  }

  /// Whether one of the keys opens a file; the result must be the content that was wrapped with it.
  private func opens(_ file: [UInt8]) throws -> Bool {
    var isOpen = false
    for (key, content) in Self.answers {
      do {
        _ = try Sealing.seal(file, key, "fuzzed")
        isOpen = true
      } catch {
        if [.damaged, .wrongKey].contains(error.code) { continue }
        throw FuzzFailure("a key file leads to another error: \(error)")
      }
      guard try KeyFile.content(file, path: "fuzzed") == content else {
        throw FuzzFailure("a key file that was changed opens")
      }
    }
    return isOpen
  }
}
