// A benchmark of a program's own models: every verb of realm-bench, with the workload `shop`.
//
//   swift run -c release shop-bench run shop --duration 10s --threads 4
import RealmBench

@main
struct ShopBench: BenchmarkTool {
  static let workloads: [any Workload.Type] = [Shop.self]
}
