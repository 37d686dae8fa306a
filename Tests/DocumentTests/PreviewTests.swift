import Files
import Foundation
import Locks
import StoredObjectsCore
import StoredObjectsDocuments
import TestFiles
import TestedBackends
import Testing

@Suite("Previews of documents")
struct PreviewTests {
  /// A PNG picture of one pixel.
  static let png = [UInt8](
    Data(
      base64Encoded: """
        iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5\
        ErkJggg==
        """) ?? Data())

  @Test("Every document has a picture, a page and a text after a save")
  func summary() async throws {
    try await Desk.with { desk in
      let document = try desk.make("Ship & <Co>.sketch", ["hull", "<script>alert(1)</script>"])
      await document.finishPreviews()
      #expect(document.previewFailure == nil)
      let preview = try DocumentPreview(of: document.path)
      let svg = try #require(preview.svg)
      #expect(svg.contains("Ship &amp; &lt;Co&gt;") && svg.contains(">Shape<"))
      _ = try XMLParsing.check(svg)
      let html = try #require(preview.html)
      #expect(html.contains("<h2>Shape (2)</h2>") && html.contains("<td>hull</td>"))
      #expect(html.contains("&lt;script&gt;") && !html.contains("<script>"))
      #expect(preview.text == "Ship & <Co>\nhull\n<script>alert(1)</script>\n")
      #expect(try DecodedPNG(#require(preview.png)).width == 256)
      document.insert(["mast"])
      try document.autosave()
      await document.finishPreviews()
      #expect(try DocumentPreview(of: document.path).text?.contains("mast") == true)
      try await document.export(to: desk.path("Ship.zip"))
      #expect(try DocumentPreview(of: desk.path("Ship.zip")) == DocumentPreview(of: document.path))
      try await document.close(.keepingChanges)
    }
  }

  @Test("The PNG picture is a page with a bar for each class, longer for more objects")
  func thumbnail() async throws {
    try await Desk.with { desk in
      let document = try desk.make("Ship.sketch", ["hull"])
      var lengths: [Int] = []
      for count in [0, 3, 60] {
        if count > 0 {
          document.insert((0..<count).map { "part \($0)" })
          try document.save()
        }
        await document.finishPreviews()
        try Thumbnail.write(of: document.path, to: desk.path("thumb.png"))
        let picture = try DecodedPNG(bytes(desk.path("thumb.png")))
        #expect((picture.width, picture.height) == (256, 256))
        // Outside of the page, and on it.
        #expect(picture.color(2, 2)[3] == 0 && picture.color(230, 12)[3] == 0)
        #expect(picture.color(100, 70) == [255, 255, 255, 255])
        lengths.append(picture.count(of: picture.color(100, 55), row: 88))
      }
      #expect(lengths[0] > 0 && lengths[0] < lengths[1] && lengths[1] < lengths[2], "\(lengths)")
      try await document.close()
    }
  }

  @Test("Hostile names and texts stay texts")
  func hostileTexts() async throws {
    try await Desk.with { desk in
      let texts = [
        "\u{202E}evil", "\u{0}\u{1}\u{8}", "]]>", "--><script>", "&amp;", "\u{FFFE}\u{FFFF}", "'\"",
        String(repeating: "x", count: 1 << 20), "\r\n\t", "\u{2028}\u{2029}",
      ]
      let document = try desk.make("a'\"\u{202E}<>.sketch", texts)
      await document.finishPreviews()
      #expect(document.previewFailure == nil)
      let preview = try DocumentPreview(of: document.path)
      _ = try XMLParsing.check(try #require(preview.svg))
      let html = try #require(preview.html)
      #expect(html.utf8.count < 20_000)
      #expect(!html.unicodeScalars.contains { $0.value < 32 && $0 != "\n" })
      #expect(!html.contains("\u{202E}") && !html.contains("<script>"))
      #expect(try #require(preview.text).utf8.count < 70 << 10)
      try await document.close()
    }
  }

  @Test("Previews that the application makes are kept, and those it no longer makes are removed")
  func ownPreviews() async throws {
    try await Desk.with { desk in
      let parts = SharedLock(DocumentPreview(svg: "<svg/>", png: Self.png, text: "words"))
      var type = desk.type
      type.makePreview = { store, _, title in
        let count = try store.count(of: Shape.self)
        #expect(count > 0 && title == "Ship")
        return parts.withLock { $0 }
      }
      let document = try StoredDocument(creating: desk.path("Ship.sketch"), as: type)
      document.insert(["hull"])
      try document.save()
      await document.finishPreviews()
      #expect(try DocumentPreview(of: document.path) == parts.withLock { $0 })
      try Thumbnail.write(of: document.path, to: desk.path("thumb.png"))
      #expect(try bytes(desk.path("thumb.png")) == Self.png)
      parts.withLock { $0 = DocumentPreview(html: "<p>") }
      document.insert(["mast"])
      try document.save()
      await document.finishPreviews()
      #expect(try DocumentPreview(of: document.path) == DocumentPreview(html: "<p>"))
      #expect(
        code { try Thumbnail.write(of: document.path, to: desk.path("other.png")) } == .noPreview)
      try await document.close()
    }
  }

  @Test("A preview that fails, or is no picture, fails no save")
  func failures() async throws {
    try await Desk.with { desk in
      struct NoPaint: Error {}
      var type = desk.type
      for makePreview in [
        { _, _, _ in throw NoPaint() }, { _, _, _ in DocumentPreview(png: [1, 2, 3]) },
        { _, _, _ in DocumentPreview(text: String(repeating: "x", count: 17 << 20)) },
      ] as [DocumentType.PreviewMaking] {
        type.makePreview = makePreview
        let document = try StoredDocument(
          creating: desk.path("Ship.sketch"), as: type, replacing: true)
        document.insert(["hull"])
        try document.save()
        await document.finishPreviews()
        #expect(document.previewFailure != nil)
        try await document.close()
        #expect(try desk.shapes("Ship.sketch") == ["hull"])
      }
    }
  }

  @Test("A slow preview delays no save, and the last state wins")
  func slow() async throws {
    try await Desk.with { desk in
      let gate = SharedLock(false)
      let count = SharedLock(0)
      var type = desk.type
      type.makePreview = { store, _, _ in
        gate.change(once: { $0 }) { _ in }
        count.withLock { $0 += 1 }
        return DocumentPreview(text: "\(try store.count(of: Shape.self))")
      }
      let document = try StoredDocument(creating: desk.path("Ship.sketch"), as: type)
      for name in ["a", "b", "c", "d"] {
        document.insert([name])
        try document.save()
      }
      gate.change { $0 = true }
      await document.finishPreviews()
      #expect(try DocumentPreview(of: document.path).text == "4")
      #expect((1...2).contains(count.withLock { $0 }))
      try await document.close()
    }
  }

  @Test("Encrypted documents have no previews, unless the type wants them")
  func encrypted() async throws {
    try await Desk.with(.encryptedTokyoCabinet) { desk in
      let document = try desk.make("Ship.sketch", ["secret"])
      await document.finishPreviews()
      try await document.close()
      #expect(!isThere(desk.path("Ship.sketch/Preview")))
      var type = desk.type
      type.showsPreviewsOfEncrypted = true
      let open = try StoredDocument(opening: desk.path("Ship.sketch"), as: type, key: desk.key)
      open.insert(["x"])
      try open.save()
      await open.finishPreviews()
      #expect(try DocumentPreview(of: open.path).text?.contains("secret") == true)
      try await open.close()
    }
  }

  @Test("A link in the place of the previews leads nowhere")
  func link() async throws {
    try await Desk.with { desk in
      let document = try desk.make("Ship.sketch", ["a"])
      await document.finishPreviews()
      try FileManager.default.createDirectory(
        atPath: desk.path("private"), withIntermediateDirectories: false)
      try FileManager.default.removeItem(atPath: desk.path("Ship.sketch/Preview"))
      try FileManager.default.createSymbolicLink(
        atPath: desk.path("Ship.sketch/Preview"), withDestinationPath: desk.path("private"))
      document.insert(["b"])
      try document.save()
      await document.finishPreviews()
      #expect(document.previewFailure != nil)
      #expect(try FileManager.default.contentsOfDirectory(atPath: desk.path("private")) == [])
      try await document.close()
    }
  }
}

/// Checks that a text is well-formed XML, as far as tags and entities go.
enum XMLParsing {
  struct NotWellFormed: Error {
    let place: String
  }

  static func check(_ text: String) throws {
    var open: [Substring] = []
    var rest = text[...]
    while let start = rest.firstIndex(where: { $0 == "<" || $0 == "&" }) {
      rest = rest[start...]
      guard rest.first == "<" else {
        guard rest.prefixMatch(of: /&(amp|lt|gt|quot|#39);/) != nil else {
          throw NotWellFormed(place: String(rest.prefix(20)))
        }
        rest = rest.dropFirst()
        continue
      }
      guard
        let tag = rest.prefixMatch(
          of: /<(\/?)([a-z-]+|\?xml)((?:\s+[\w:-]+="[^"<]*")*)\s*(\/?|\?)>/)
      else { throw NotWellFormed(place: String(rest.prefix(40))) }
      rest = rest[tag.range.upperBound...]
      if tag.output.1 == "/" {
        guard open.popLast() == tag.output.2 else {
          throw NotWellFormed(place: String(tag.output.0))
        }
      } else if tag.output.4.isEmpty {
        open.append(tag.output.2)
      }
    }
    if !open.isEmpty { throw NotWellFormed(place: "the end") }
  }
}
