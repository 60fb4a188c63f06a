// swift-tools-version: 6.2
// One place for every target and switch of the project. Layers import downward only:
// realm-bench > Harness > RealmSwift > ObjectStore > Trees > Storage > Platform > C targets.
import PackageDescription

/// Settings of every Swift target: Swift 6 language mode (complete concurrency checking) comes with
/// the tools version; these add the explicit forms that keep imports and existentials readable.
let strict: [SwiftSetting] = [
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("ExistentialAny"),
  .treatAllWarnings(as: .error),
  // Breaks the engine on purpose, one named bug at a time: the checkers have to find each.
  .define("PLANTED_BUGS", .when(traits: ["PlantedBugs"])),
  // Walks the whole structure after each commit. Slow; for tests.
  .define("INVARIANT_CHECKS", .when(traits: ["InvariantChecks"])),
]

let package = Package(
  name: "realm",
  products: [
    .library(name: "RealmSwift", targets: ["RealmSwift"]),
    .library(name: "Harness", targets: ["Harness"]),
    .executable(name: "realm-bench", targets: ["realm-bench"]),
  ],
  traits: [
    .trait(name: "Jemalloc", description: "Link realm-bench with jemalloc (libjemalloc-dev)."),
    .trait(name: "PlantedBugs", description: "Compile switches that break the engine on purpose."),
    .trait(name: "InvariantChecks", description: "Check every structure after each commit."),
    .default(enabledTraits: ["Jemalloc"]),
  ],
  targets: [
    .systemLibrary(name: "CXXHash", providers: [.apt(["libxxhash-dev"])]),
    .systemLibrary(
      name: "COpenSSL", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(
      name: "CJemalloc", pkgConfig: "jemalloc", providers: [.apt(["libjemalloc-dev"])]),
    .target(name: "CShim", dependencies: ["CXXHash"]),
    .target(name: "Platform", dependencies: ["CShim", "COpenSSL"], swiftSettings: strict),
    .target(name: "Storage", dependencies: ["Platform"], swiftSettings: strict),
    .target(name: "Trees", dependencies: ["Storage", "Platform"], swiftSettings: strict),
    .target(
      name: "ObjectStore", dependencies: ["Trees", "Storage", "Platform"], swiftSettings: strict),
    .target(
      name: "RealmSwift", dependencies: ["ObjectStore", "Storage", "Platform"],
      swiftSettings: strict),
    .target(
      name: "Harness", dependencies: ["RealmSwift", "ObjectStore", "Storage", "Platform"],
      swiftSettings: strict),
    .executableTarget(
      name: "realm-bench",
      dependencies: [
        "Harness",
        .target(name: "CJemalloc", condition: .when(traits: ["Jemalloc"])),
      ], swiftSettings: strict),
    .executableTarget(
      name: "Micro",
      dependencies: [
        "RealmSwift", "ObjectStore", "Trees", "Storage", "Platform", "ActorSchedules",
      ],
      path: "Benchmarks/Micro", swiftSettings: strict),

    .target(
      name: "TestSupport", dependencies: ["Storage", "Platform"], path: "Tests/TestSupport",
      swiftSettings: strict),
    .testTarget(
      name: "PlatformTests", dependencies: ["Platform", "TestSupport"], swiftSettings: strict),
    .executableTarget(
      name: "CommittingProcess", dependencies: ["Storage"],
      path: "Tests/CommittingProcess",
      swiftSettings: strict),
    .testTarget(
      name: "StorageTests",
      dependencies: ["Storage", "Platform", "TestSupport", "CommittingProcess"],
      swiftSettings: strict),
    .testTarget(
      name: "TreesTests", dependencies: ["Trees", "Storage", "Platform", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "ObjectStoreTests",
      dependencies: ["ObjectStore", "Trees", "Storage", "Platform", "TestSupport"],
      exclude: ["Golden"], swiftSettings: strict),
    .target(
      name: "OpenFile", dependencies: ["ObjectStore", "Storage", "Platform", "TestSupport"],
      path: "Fuzz/OpenFile", swiftSettings: strict),
    .testTarget(
      name: "FuzzTests", dependencies: ["OpenFile", "Storage", "Platform", "TestSupport"],
      swiftSettings: strict),
    .target(
      name: "ActorSchedules", dependencies: ["RealmSwift", "Platform"],
      path: "Tests/ActorSchedules", swiftSettings: strict),
    .testTarget(
      name: "RealmSwiftTests",
      dependencies: [
        "RealmSwift", "ObjectStore", "Storage", "Platform", "TestSupport", "ActorSchedules",
      ],
      exclude: ["Values/decimal-cases.csv"], swiftSettings: strict),
    // Programs as clients write them: old ones unchanged, and the same in the newer language.
    .testTarget(
      name: "ClientModeFiveTests", dependencies: ["RealmSwift"],
      swiftSettings: [.swiftLanguageMode(.v5)]),
    .testTarget(
      name: "ClientModeSixTests", dependencies: ["RealmSwift"],
      swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]),
    .testTarget(
      name: "CompileTests", dependencies: ["RealmSwift", "TestSupport"], exclude: ["Fixtures"],
      swiftSettings: strict),
    .testTarget(
      name: "HarnessTests",
      dependencies: ["Harness", "RealmSwift", "Storage", "Platform", "TestSupport"],
      swiftSettings: strict),
  ]
)

// The fuzzer links with libFuzzer, which needs `--sanitize fuzzer`: see scripts/fuzz.
if Context.environment["REALM_FUZZ"] != nil {
  package.targets.append(
    .executableTarget(
      name: "open-file-fuzzer", dependencies: ["OpenFile"], path: "Fuzz/Driver",
      swiftSettings: strict))
}
