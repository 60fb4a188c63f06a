// swift-tools-version: 6.2
// Small programs that use the database as a client would: by its public library alone. CI builds and runs
// each of them.
import PackageDescription

/// One program, in the folder of its name.
func program(_ name: String) -> Target {
  .executableTarget(name: name, dependencies: [.product(name: "RealmSwift", package: "realm")])
}

let package = Package(
  name: "Examples",
  dependencies: [.package(name: "realm", path: "..")],
  targets: [
    program("crud"),
    program("actor-open"),
    program("actor-crud"),
    program("actor-handover"),
    program("actor-observe"),
  ]
)
