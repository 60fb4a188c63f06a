// swift-tools-version: 6.2
// Small programs that use the database as a client would: by its public library alone. CI builds and runs
// each of them.
import PackageDescription

let package = Package(
  name: "Examples",
  dependencies: [.package(name: "realm", path: "..")],
  targets: [
    "crud", "background-writes", "passing-objects", "frozen-objects",
  ].map { name in
    .executableTarget(name: name, dependencies: [.product(name: "RealmSwift", package: "realm")])
  }
)
