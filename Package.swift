// swift-tools-version: 6.2
// One place for every target and switch of the project. Layers import downward only:
// realm-bench, RealmBench > Harness > RealmSwift > ObjectStore > Trees > Storage > Platform > C.
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
  // Puts the scheduler of RaceHunt under the engine's locks, waits, atomics, threads and clock.
  .define("CONTROLLED_SCHEDULING", .when(traits: ["ControlledScheduling"])),
  // Lets realm-bench drive SQLite and LMDB, beside RealmSwift.
  .define("PEERS", .when(traits: ["Peers"])),
]

let package = Package(
  name: "realm",
  products: [
    .library(name: "RealmSwift", targets: ["RealmSwift"]),
    .library(name: "Realm", targets: ["Realm"]),
    .library(name: "Harness", targets: ["Harness"]),
    .library(name: "RealmBench", targets: ["RealmBench"]),
    .library(name: "RaceHunt", targets: ["RaceHunt"]),
    .library(name: "RaceHuntTesting", targets: ["RaceHuntTesting"]),
    .library(name: "RaceHuntXCTest", targets: ["RaceHuntXCTest"]),
    .executable(name: "realm-bench", targets: ["realm-bench"]),
  ],
  traits: [
    .trait(name: "Jemalloc", description: "Link realm-bench with jemalloc (libjemalloc-dev)."),
    .trait(name: "PlantedBugs", description: "Compile switches that break the engine on purpose."),
    .trait(name: "InvariantChecks", description: "Check every structure after each commit."),
    .trait(
      name: "ControlledScheduling", description: "Run the engine's threads one step at a time."),
    .trait(
      name: "Peers",
      description: "Let realm-bench drive SQLite and LMDB (libsqlite3-dev, liblmdb-dev)."),
    .default(enabledTraits: ["Jemalloc"]),
  ],
  targets: [
    .systemLibrary(name: "CXXHash", providers: [.apt(["libxxhash-dev"])]),
    .systemLibrary(
      name: "COpenSSL", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(
      name: "CJemalloc", pkgConfig: "jemalloc", providers: [.apt(["libjemalloc-dev"])]),
    .systemLibrary(
      name: "CSQLiteLibrary", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(
      name: "CLMDBLibrary", pkgConfig: "lmdb", providers: [.apt(["liblmdb-dev"])]),
    .target(name: "CCountedCalls"),
    // Allocations and instructions of a thread: programs with the tool count them.
    .target(name: "CThreadCounts"),
    // What the tool asks of the system about its processes.
    .target(name: "CProcess"),
    // Finds interleavings of threads, tasks and actors that fail; knows nothing of the database.
    .target(name: "CRaceHunt"),
    .target(name: "RaceHunt", dependencies: ["CRaceHunt"], swiftSettings: strict),
    // The trait of Swift Testing.
    .target(
      name: "RaceHuntTesting", dependencies: ["RaceHunt", "CRaceHunt"], swiftSettings: strict),
    // The test case of XCTest.
    .target(name: "RaceHuntXCTest", dependencies: ["RaceHunt"], swiftSettings: strict),
    // Small programs with known bugs, and how soon they are found.
    .target(name: "RacePrograms", dependencies: ["RaceHunt"], swiftSettings: strict),
    .executableTarget(
      name: "RaceScore", dependencies: ["RacePrograms", "RaceHunt"], path: "Benchmarks/RaceScore",
      swiftSettings: strict),
    // What each method of looking for races sees.
    .executableTarget(
      name: "RaceMethods", dependencies: ["RacePrograms", "RaceHunt"],
      path: "Benchmarks/RaceMethods", swiftSettings: strict),
    .target(
      name: "CShim", dependencies: ["CXXHash", "COpenSSL"],
      linkerSettings: [.linkedLibrary("crypto")]),
    .target(
      name: "Platform",
      dependencies: [
        "CShim",
        .target(name: "RaceHunt", condition: .when(traits: ["ControlledScheduling"])),
      ],
      // Functions of C declared in Swift: an imported module of C is one that clients have to find.
      swiftSettings: strict + [.enableExperimentalFeature("Extern")]),
    // A disk in memory with power cuts and failing calls: for tests and for the hunt.
    .target(name: "Simulation", dependencies: ["Platform"], swiftSettings: strict),
    .target(name: "Storage", dependencies: ["Platform"], swiftSettings: strict),
    .target(name: "Trees", dependencies: ["Storage", "Platform"], swiftSettings: strict),
    .target(
      name: "ObjectStore", dependencies: ["Trees", "Storage", "Platform"], swiftSettings: strict),
    .target(
      name: "RealmSwift", dependencies: ["ObjectStore", "Storage", "Platform"],
      swiftSettings: strict),
    // Names of the vendor's Objective-C module, for sources that import it.
    .target(name: "Realm", dependencies: ["RealmSwift"], swiftSettings: strict),
    // Programs of actors with Realms and what has to come of them: for tests and for the hunt.
    .target(
      name: "ActorSchedules", dependencies: ["RealmSwift", "Platform"], swiftSettings: strict),
    .target(
      name: "Harness",
      dependencies: [
        "RacePrograms", "RaceHunt", "Simulation", "RealmSwift", "ObjectStore", "Storage",
        "Platform", "CProcess", "CThreadCounts",
        .target(name: "CSQLiteLibrary", condition: .when(traits: ["Peers"])),
        .target(name: "CLMDBLibrary", condition: .when(traits: ["Peers"])),
        .target(name: "CCountedCalls", condition: .when(traits: ["Peers"])),
      ],
      swiftSettings: strict),
    // Workloads of a user's own, with the tool around them.
    .target(
      name: "RealmBench", dependencies: ["Harness", "RealmSwift", "Platform"],
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

    .target(name: "CTestSupport", path: "Tests/CTestSupport"),
    .target(
      name: "TestSupport", dependencies: ["CTestSupport", "Simulation", "Storage", "Platform"],
      path: "Tests/TestSupport", swiftSettings: strict),
    .testTarget(
      name: "PlatformTests", dependencies: ["Platform", "TestSupport"], swiftSettings: strict),
    .executableTarget(
      name: "CommittingProcess", dependencies: ["Storage", "Simulation", "Platform"],
      path: "Tests/CommittingProcess",
      swiftSettings: strict),
    .testTarget(
      name: "StorageTests",
      dependencies: ["Storage", "Platform", "TestSupport", "CommittingProcess"],
      swiftSettings: strict),
    .testTarget(
      name: "TreesTests", dependencies: ["Trees", "Storage", "Platform", "TestSupport"],
      swiftSettings: strict),
    .executableTarget(
      name: "SealedAttack",
      dependencies: ["ObjectStore", "Trees", "Storage", "Platform"],
      path: "Tests/SealedAttack", swiftSettings: strict),
    .testTarget(
      name: "ObjectStoreTests",
      dependencies: [
        "ObjectStore", "Trees", "Storage", "Platform", "TestSupport", "SealedAttack",
      ],
      exclude: ["Golden"], swiftSettings: strict),
    .target(
      name: "OpenFile", dependencies: ["ObjectStore", "Storage", "Platform", "TestSupport"],
      path: "Fuzz/OpenFile", swiftSettings: strict),
    .testTarget(
      name: "FuzzTests", dependencies: ["OpenFile", "Storage", "Platform", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "RealmSwiftTests",
      dependencies: [
        "RealmSwift", "ObjectStore", "Storage", "Simulation", "Platform", "TestSupport",
        "ActorSchedules",
      ],
      exclude: ["Values/decimal-cases.csv"], swiftSettings: strict),
    .executableTarget(
      name: "EditingProcess", dependencies: ["RealmSwift"], path: "Tests/EditingProcess",
      swiftSettings: strict),
    .testTarget(
      name: "QuickWritesTests",
      dependencies: ["RealmSwift", "Storage", "Platform", "TestSupport", "EditingProcess"],
      swiftSettings: strict),
    // What queries do with whole columns and held results, beside plain Swift.
    .testTarget(
      name: "QueryKernelTests",
      dependencies: ["RealmSwift", "ObjectStore", "Storage", "Platform", "TestSupport"],
      swiftSettings: strict),
    // Every way of a query finds the same: small, so that its cycle is short.
    .testTarget(
      name: "QueryPlanTests",
      dependencies: ["RealmSwift", "ObjectStore", "Storage", "Platform", "TestSupport"],
      swiftSettings: strict),
    // Realms of processes that have reached a limit of the system.
    .testTarget(
      name: "LimitTests", dependencies: ["RealmSwift", "Storage", "Platform", "TestSupport"],
      swiftSettings: strict),
    // Classes that cannot be stored, among those of the program.
    .testTarget(
      name: "DeclarationTests", dependencies: ["RealmSwift", "TestSupport"],
      swiftSettings: strict),
    // Programs as clients write them: old ones unchanged, and the same in the newer language.
    .testTarget(
      name: "ClientModeFiveTests", dependencies: ["RealmSwift", "Realm"], exclude: ["OldModels"],
      swiftSettings: [.swiftLanguageMode(.v5)]),
    .testTarget(
      name: "ClientModeSixTests", dependencies: ["RealmSwift"],
      swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]),
    .testTarget(
      name: "CompileTests", dependencies: ["RealmSwift", "Realm", "TestSupport"],
      exclude: ["Fixtures"], swiftSettings: strict),
    .testTarget(
      name: "RaceHuntTests",
      dependencies: [
        "RacePrograms", "RaceHunt", "RaceHuntTesting", "RaceHuntXCTest", "TestSupport",
      ],
      swiftSettings: strict),
    // A user's own tool, as in Examples/: its workload, its checks, and a mistake to be found.
    .executableTarget(
      name: "ShopBench", dependencies: ["RealmBench", "RealmSwift"],
      path: "Examples/Sources/shop-bench", swiftSettings: strict),
    .testTarget(
      name: "HarnessTests",
      dependencies: [
        "Harness", "RacePrograms", "RaceHunt", "RealmSwift", "Storage", "Platform", "TestSupport",
        // Background processes of runs are this tool.
        "realm-bench", "ShopBench",
        // Keeps the write lock of a run's file.
        "CommittingProcess",
      ],
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

// Tests in a debug build spend most of their time in the engine and in RaceHunt: scripts/test has
// these optimized, with their assertions and checks of exclusivity. Not for those who depend on the
// package: they may not have such flags.
if Context.environment["REALM_OPTIMIZED_ENGINE"] == "1" {
  let engine: Set = [
    "Platform", "Storage", "Trees", "ObjectStore", "Simulation", "RaceHunt", "RacePrograms",
  ]
  for target in package.targets where engine.contains(target.name) {
    target.swiftSettings?.append(
      .unsafeFlags(["-O", "-assert-config", "Debug"], .when(configuration: .debug)))
  }
}

// A shorter build while one works on a part: REALM_TARGETS=StorageTests,TreesTests keeps these
// targets and what they depend on, so that `swift test` builds nothing else.
if let names = Context.environment["REALM_TARGETS"] {
  var kept = Set(names.split(separator: ",").map(String.init))
  var growing = true
  while growing {
    let before = kept.count
    for target in package.targets where kept.contains(target.name) {
      for dependency in target.dependencies {
        switch dependency {
        case .targetItem(let name, _), .byNameItem(let name, _): kept.insert(name)
        default: break
        }
      }
    }
    growing = kept.count > before
  }
  package.targets.removeAll { !kept.contains($0.name) }
  package.products.removeAll { !kept.contains($0.name) }
}
