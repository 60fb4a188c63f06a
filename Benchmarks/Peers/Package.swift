// swift-tools-version: 6.2
// The side-by-side benchmark of this project and its peers. A package of its own, so that users of
// the library never need SQLite or LMDB; it sees only the public API of RealmSwift.
import PackageDescription

let strict: [SwiftSetting] = [
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("ExistentialAny"),
  .treatAllWarnings(as: .error),
]

let package = Package(
  name: "realm-peers",
  products: [.executable(name: "peers", targets: ["peers"])],
  traits: [
    .trait(
      name: "Jemalloc", description: "Link with jemalloc, as realm-bench is; for all engines."),
    .default(enabledTraits: ["Jemalloc"]),
  ],
  dependencies: [.package(name: "realm", path: "../..")],
  targets: [
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(name: "CLMDB", pkgConfig: "lmdb", providers: [.apt(["liblmdb-dev"])]),
    .systemLibrary(
      name: "CAllocator", pkgConfig: "jemalloc", providers: [.apt(["libjemalloc-dev"])]),
    .target(name: "CPeersShim", dependencies: ["CSQLite"]),
    .executableTarget(
      name: "peers",
      dependencies: [
        .product(name: "RealmSwift", package: "realm"),
        // Only for the verb `inspect`, which tells how many bytes of a file are live.
        .product(name: "Harness", package: "realm"),
        "CSQLite", "CLMDB", "CPeersShim",
        .target(name: "CAllocator", condition: .when(traits: ["Jemalloc"])),
      ], swiftSettings: strict),
  ]
)
