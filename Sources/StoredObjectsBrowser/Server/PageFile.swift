/// A file of the page, which is part of the program.
struct PageFile: Sendable {
  let type: String
  let bytes: [UInt8]

  /// The files by their paths; there is nothing at any other path.
  static let all: [String: PageFile] = [
    "/": PageFile(type: "text/html; charset=utf-8", bytes: PackageResources.page_html),
    "/page.css": PageFile(type: "text/css; charset=utf-8", bytes: PackageResources.page_css),
    "/icon.svg": PageFile(type: "image/svg+xml", bytes: PackageResources.icon_svg),
    "/app.js": script(PackageResources.app_js),
    "/dom.js": script(PackageResources.dom_js),
    "/objects.js": script(PackageResources.objects_js),
    "/tables.js": script(PackageResources.tables_js),
    "/editing.js": script(PackageResources.editing_js),
    "/views.js": script(PackageResources.views_js),
    "/diagram.js": script(PackageResources.diagram_js),
    "/design.js": script(PackageResources.design_js),
  ]

  private static func script(_ bytes: [UInt8]) -> PageFile {
    PageFile(type: "text/javascript; charset=utf-8", bytes: bytes)
  }
}
