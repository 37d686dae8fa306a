import Crypto
import CryptoExtras
import Files
import Foundation
import StoredObjectsCore
import StoredObjectsEncryption
import Testing

/// Bytes that another implementation has made: Python's `cryptography`, `hashlib` and `hmac`.
@Suite("Known answers")
struct KnownAnswerTests {
  private static let keyFile =
    "01000000000000000000c8c9cacbcccdcecfd0d1d2d3d4d5d6d7101112131415161718191a1b1c1d"
    + "1e1f000102030405060708090a0b99a7f33e015c87f9fe8f87dd1c82b28cec2584fe7225d7aa5f41"
    + "6738810c203164f614071a808fff93a2669b19b50ff3"
  private static let passphraseFile =
    "02040800000001000000c8c9cacbcccdcecfd0d1d2d3d4d5d6d7101112131415161718191a1b1c1d"
    + "1e1f000102030405060708090a0bc15b69a4b3032e08e47662bb73b1be087f865e18c02047be444e"
    + "ec5387a082f89c6e2ca5e71ce1ceac70a8c50801d1c8"

  private func bytes(_ hex: String) -> [UInt8] {
    stride(from: 0, to: hex.count, by: 2).compactMap {
      UInt8(hex.dropFirst($0).prefix(2), radix: 16)
    }
  }

  private func seals() throws -> [any StoreSeal] {
    [
      try EncryptionKey(bytes: (0..<32).map { UInt8($0) }).openSeal(bytes(Self.keyFile)),
      try EncryptionKey(passphrase: "correct horse").openSeal(bytes(Self.passphraseFile)),
    ]
  }

  @Test("A key file, by HKDF or scrypt, and a record open to values sealed elsewhere")
  func piece() throws {
    let sealed = bytes(
      "000102030405060708090a0bf5aa93cb4267e56891500008b0c215cdf2fc3f571b955a830f706769"
        + "ca709cae93de03")
    for seal in try seals() {
      let scope = seal.scope(of: "some name")
      #expect(scope == .init(0x17F2_3750_804B_791A, 0x2387_FDF6_F843_1F3D))
      var plain: [UInt8] = []
      let isOpen = sealed.lend {
        seal.open($0, at: SealedLocation(.record, in: scope, number: 42), to: &plain)
      }
      #expect(isOpen)
      #expect(String(decoding: plain, as: UTF8.self) == "Walking on Sunshine")
      for offset in [
        SealedLocation(.record, in: scope, number: 43),
        SealedLocation(.page, in: scope, number: 42),
        SealedLocation(.record, in: .init(scope.low, scope.high), number: 42),
      ] {
        let isOpen = sealed.lend { seal.open($0, at: offset, to: &plain) }
        #expect(!isOpen)
      }
      #expect(plain.count == 19)
    }
  }

  @Test("A name is sealed to the same bytes as elsewhere")
  func name() throws {
    let name = Array("Song".utf8) + [0x80] + [UInt8](repeating: 0, count: 10)
    let sealed = bytes("4be2ff0d91aad97031a8b1f1ee2e9170cebb160c370a1db61d5dda6c3bcb50")
    for seal in try seals() {
      #expect(try seal.sealName(name) == sealed)
      #expect(seal.openName(sealed) == name)
      #expect(seal.openName(sealed.map { $0 ^ 1 }) == nil)
    }
  }

  @Test("Sealed values of any size open again, and are never the same twice")
  func sizes() throws {
    let seal = try seals()[0]
    var nonces: Set<[UInt8]> = []
    for size in [0, 1, 15, 16, 17, 200, 4096, 100_000] {
      let plain = (0..<size).map { UInt8(truncatingIfNeeded: $0) }
      let offset = SealedLocation(.buffer, in: .init(1, 2))
      for _ in 0..<300 {
        var sealed: [UInt8] = []
        try plain.lend { try seal.seal($0, at: offset, to: &sealed) }
        #expect(sealed.count == size + seal.overhead)
        #expect(nonces.insert(Array(sealed.prefix(12))).inserted)
        guard nonces.count % 100 == 0 else { continue }
        var opened: [UInt8] = []
        let isOpen = sealed.lend { seal.open($0, at: offset, to: &opened) }
        #expect(isOpen && opened == plain)
      }
    }
  }

  @Test("AES-256-GCM, test case 16 of its specification")
  func gcm() throws {
    let key = SymmetricKey(
      data: bytes("feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308"))
    let plain = bytes(
      "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
        + "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39")
    let box = try AES.GCM.seal(
      plain, using: key, nonce: AES.GCM.Nonce(data: bytes("cafebabefacedbaddecaf888")),
      authenticating: bytes("feedfacedeadbeeffeedfacedeadbeefabaddad2"))
    #expect(Array(box.tag) == bytes("76fc6ece0f4e1768cddf8853bb2d551b"))
  }

  @Test("scrypt, the second vector of RFC 7914")
  func scrypt() throws {
    let key = try KDF.Scrypt.deriveKey(
      from: Array("password".utf8), salt: Array("NaCl".utf8), outputByteCount: 64, rounds: 1024,
      blockSize: 8, parallelism: 16)
    #expect(
      unsafe key.withUnsafeBytes { unsafe Array($0) }
        == bytes(
          "fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b373162"
            + "2eaf30d92e22a3886ff109279d9830dac727afb94a83ee6d8360cbdfa2cc0640"))
  }

  @Test("HKDF with SHA-256, the first vector of RFC 5869")
  func hkdf() {
    let key = HKDF<SHA256>.deriveKey(
      inputKeyMaterial: SymmetricKey(data: [UInt8](repeating: 0x0B, count: 22)),
      salt: (0...12).map { UInt8($0) }, info: (0xF0...0xF9).map { UInt8($0) },
      outputByteCount: 42)
    #expect(
      unsafe key.withUnsafeBytes { unsafe Array($0) }
        == bytes(
          "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"))
  }

  @Test("AES-256-GCM-SIV, a vector of RFC 8452, appendix C.2")
  func gcmSIV() throws {
    let key = SymmetricKey(data: [1] + [UInt8](repeating: 0, count: 31))
    let nonce = try AES.GCM._SIV.Nonce(data: [3] + [UInt8](repeating: 0, count: 11))
    let box = try AES.GCM._SIV.seal(bytes("0100000000000000"), using: key, nonce: nonce)
    #expect(Array(box.ciphertext) == bytes("c2ef328e5c71c83b"))
    #expect(Array(box.tag) == bytes("843122130f7364b761e0b97427e3df28"))
  }
}
