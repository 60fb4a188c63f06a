// scratch
import ObjectStore
import Platform
import Storage

let clock = MonotonicClock()
func time(_ name: String, _ n: Int, _ body: () throws -> Void) rethrows {
  let s = clock.nanoseconds(); try body(); let e = clock.nanoseconds()
  print(name, Double(e - s) / Double(n), "ns each")
}
let path = "/tmp/mb/bench.realm"
let fs = LinuxFileSystem()
_ = try? Store.deleteFiles(path: path, fileSystem: fs)
let durability: Durability = CommandLine.arguments.contains("full") ? .full : .memory
let N = 1_000_000
var store = try Store.open(StoreOptions(path: path, durability: durability))
let schema = TableSchema(
  name: "P",
  columns: [
    ColumnSchema(name: "id", type: .int, isOptional: false, isIndexed: false),
    ColumnSchema(name: "name", type: .string, isOptional: false, isIndexed: false),
    ColumnSchema(name: "age", type: .int, isOptional: false, isIndexed: false),
    ColumnSchema(name: "score", type: .double, isOptional: false, isIndexed: false),
    ColumnSchema(name: "payload", type: .data, isOptional: false, isIndexed: false),
  ], primaryKey: "id", isEmbedded: false)
var random = RandomGenerator(seed: 1)
let payload = [UInt8](repeating: 7, count: 100)
try time("bulk insert", N) {
  let t = try store.beginWrite()
  let g = GroupTransaction(t.editor, root: t.root)
  g.createTable(schema)
  let table = g.schema.tables[0]
  var name = [UInt8]("person 0000000".utf8.prefix(12))
  for i in 0..<N {
    let (k, _) = g.insert(table, primaryKeyInteger: Int64(i))
    name[11] = UInt8(i & 63) + 32
    name.withUnsafeBytes { g.setBytes(table, k, 1, $0) }
    g.setInteger(table, k, 2, Int64(random.next() % 100))
    g.setInteger(table, k, 3, Int64(bitPattern: (Double(i) * 1.5).bitPattern))
    payload.withUnsafeBytes { g.setBytes(table, k, 4, $0) }
  }
  t.root = g.finish()
  _ = try t.commit()
}
let s = try store.statistics()
print(
  "file", s.fileBytes, "live", s.liveBytes, "per object", Double(s.liveBytes) / Double(N),
  Double(s.fileBytes) / Double(N))
var snap = try store.pinNewest()
let st = StoredSchema.load(snap.reader, root: snap.root)
let table = st.tables[0]
let reader = TableReader(reader: snap.reader, root: snap.root, table: table)
var sum: Int64 = 0
time("lookup+int", 1_000_000) {
  for _ in 0..<1_000_000 {
    let k = reader.find(integer: Int64(random.next() % UInt64(N)))!
    sum &+= reader.integer(reader.locate(k)!, 2)
  }
}
let loc = reader.locate(ObjectKey(rawValue: 5000))!
time("held integer", 100_000_000) { for _ in 0..<100_000_000 { sum &+= reader.integer(loc, 2) } }
time("sum", N * 10) { for _ in 0..<10 { sum &+= reader.sum(2) } }
time("count", N * 10) { for _ in 0..<10 { sum &+= Int64(reader.count(2, equalTo: 42)) } }
time("pinNewest", 1_000_000) {
  for _ in 0..<1_000_000 { sum &+= Int64((try! store.pinNewest()).version.rawValue) }
}
var gs = st
var times: [UInt64] = []
for i in 0..<20000 {
  let a = clock.nanoseconds()
  let t = try store.beginWrite()
  let g = GroupTransaction(t.editor, root: t.root, schema: gs)
  g.setInteger(table, ObjectKey(rawValue: Int64(random.next() % UInt64(N))), 2, Int64(i % 100))
  t.root = g.finish()
  _ = try t.commit()
  times.append(clock.nanoseconds() - a)
  if durability == .full && i == 3000 { break }
}
times.sort()
print(
  "commit p50", times[times.count / 2], "p99", times[times.count * 99 / 100], "max", times.last!)
let s2 = try store.statistics()
print(
  "written per commit", Double(s2.writtenBytes - s.writtenBytes) / Double(times.count), "file",
  s2.fileBytes, "live", s2.liveBytes)
print(sum & 1, try store.checkInvariants().findings.prefix(3))
