// swift-tools-version: 6.2
// Small programs that use the database as a client would, by its public library alone, and a
// benchmark of a program's own models. CI builds and runs each of them.
import PackageDescription

/// One program, in the folder of its name.
func program(_ name: String, _ mode: SwiftLanguageMode = .v6) -> Target {
  .executableTarget(
    name: name, dependencies: [.product(name: "RealmSwift", package: "realm")],
    swiftSettings: [.swiftLanguageMode(mode)])
}

let package = Package(
  name: "Examples",
  dependencies: [.package(name: "realm", path: "..")],
  targets: [
    program("crud"),
    program("background-writes"),
    // A local @ThreadSafe variable in a closure of another queue is refused by Swift 6.
    program("passing-objects", .v5),
    program("frozen-objects"),
    program("actor-open"),
    program("actor-crud"),
    program("actor-handover"),
    program("actor-observe"),
    program("list-editor"),
    // Races that RaceHunt finds: one without a database, one with it.
    .executableTarget(
      name: "hunt-actor", dependencies: [.product(name: "RaceHunt", package: "realm")]),
    .executableTarget(
      name: "hunt-realm",
      dependencies: [
        .product(name: "RaceHunt", package: "realm"),
        .product(name: "RealmSwift", package: "realm"),
      ]),
    .executableTarget(
      name: "shop-bench",
      dependencies: [
        .product(name: "RealmBench", package: "realm"),
        .product(name: "RealmSwift", package: "realm"),
      ]),
  ]
)
