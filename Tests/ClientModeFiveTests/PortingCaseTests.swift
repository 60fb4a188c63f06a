// `scripts/port-models` on the small sources of `OldModels/Cases`: what they become, what is said,
// and that a second run changes nothing.
//
// A case begins with what it is about. `==== A.swift` begins a source, `==== A.swift ported` the
// one that it becomes; without that it stays. `==== said` and `==== not said` begin words of the
// output. `<CR>` is a carriage return.
import Foundation
import Testing

@Suite struct PortingCaseTests {
  static let names = [
    "access-of-imports", "attributes-on-a-line", "box-passed-on", "boxes-that-stay", "called",
    "comments", "conditions", "conditions-behind-code", "declared-twice", "encoded", "enumerations",
    "exported-class", "exported-import", "foreign-types", "foundation", "ignored-collections",
    "ignored-constants", "import-class",
    "interpolated", "kept-variable-box", "layout", "locals-beside-a-box", "members-of-other-types",
    "mixed-line-ends",
    "no-import", "objective-c", "objective-classes", "objective-protocols", "other-keys",
    "other-things-of-that-name", "partial-imports", "private-init", "qualified-names", "same-name",
    "statements-on-a-line",
  ]

  /// No case is left out.
  @Test func allCasesAreNamed() throws {
    let files = try FileManager.default.contentsOfDirectory(atPath: beside("OldModels/Cases").path)
    #expect(files.sorted() == Self.names.map { "\($0).txt" }.sorted())
  }

  @Test(arguments: names) func aCase(name: String) throws {
    let parts = try self.parts(name)
    let folder = try PortedFolder()
    var wanted: [String: String] = [:]
    for part in parts where part.head.hasSuffix(".swift") {
      try folder.add(part.head, Data(part.body.utf8))
      wanted[part.head] = part.body
    }
    for part in parts where part.head.hasSuffix(" ported") {
      wanted[String(part.head.dropLast(" ported".count))] = part.body
    }
    let result = try folder.port("--write")
    #expect(result.status == 0, "\(result.output)")
    for (file, text) in wanted { #expect(try folder.read(file) == text, "\(file)") }
    for part in parts {
      let words = part.body.trimmingCharacters(in: .newlines)
      let isSaid = result.output.contains(words)
      if part.head == "said" { #expect(isSaid, "\(words)\n\(result.output)") }
      if part.head == "not said" { #expect(!isSaid, "\(words)\n\(result.output)") }
    }
    let again = try folder.port("--write")
    #expect(again.output.contains("0 changed"), "\(again.output)")
    for (file, text) in wanted { #expect(try folder.read(file) == text, "\(file), again") }
  }

  private func parts(_ name: String) throws -> [(head: String, body: String)] {
    try text(of: "OldModels/Cases/\(name).txt").components(separatedBy: "\n==== ").dropFirst().map {
      part in
      let end = part.firstIndex(of: "\n") ?? part.endIndex
      // What separates the parts is the last end of a line of each; the file's own is in the last
      // part.
      let body = part[end...].dropFirst() + (part.hasSuffix("\n") ? "" : "\n")
      return (String(part[..<end]), body.replacingOccurrences(of: "<CR>\n", with: "\r\n"))
    }
  }

  // MARK: - Sources that stay as they are

  /// A source that nobody may write is named; boxes that it uses stay in the others.
  @Test func aReadOnlySourceStays() throws {
    let folder = try PortedFolder()
    try folder.add("A.swift", Data(model.utf8))
    let use = Data("import RealmSwift\nfunc f(_ cat: Cat) -> Int? { cat.age.value }\n".utf8)
    try folder.add("B.swift", use)
    let closed = folder.folder.appendingPathComponent("C.swift").path
    try folder.add("C.swift", Data("class Dog: Cat { @objc dynamic var b = 0 }\n".utf8))
    for file in ["B.swift", "C.swift"] {
      try FileManager.default.setAttributes(
        [.posixPermissions: 0o444],
        ofItemAtPath: folder.folder.appendingPathComponent(file).path)
    }
    let result = try folder.port("--write")
    #expect(result.status == 1)
    #expect(result.output.contains("C.swift: read-only: it stays as it is"), "\(result.output)")
    #expect(!result.output.contains("B.swift: read-only"), "\(result.output)")
    #expect(try folder.read("C.swift") == "class Dog: Cat { @objc dynamic var b = 0 }\n")
    #expect(try folder.data("B.swift") == use)
    #expect(
      try folder.read("A.swift")
        == model.replacingOccurrences(of: "@objc dynamic", with: "@Persisted"))
    let rights = try FileManager.default.attributesOfItem(atPath: closed)[.posixPermissions] as? Int
    #expect(rights == 0o444)
  }

  /// A source that cannot be read may use a box, which stays then.
  @Test func boxesOfASourceThatCannotBeReadStay() throws {
    let folder = try PortedFolder()
    try folder.add("A.swift", Data(model.utf8))
    try folder.add("B.swift", Data("func f(_ cat: Cat) { print(cat.age.value)".utf8))
    let result = try folder.port("--write")
    #expect(result.status == 1)
    #expect(
      result.output.contains("a source that could not be read may use it"), "\(result.output)")
    #expect(try folder.read("A.swift").contains("let age = RealmOptional<Int>()"))
  }
}

private let model = """
  import RealmSwift
  class Cat: Object {
    @objc dynamic var a = 0
    let age = RealmOptional<Int>()
  }

  """
