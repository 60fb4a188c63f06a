// The text of objects that hold others.
import RealmSwift
import TestSupport
import Testing

private class Node: Object {
  @Persisted var name: String
  @Persisted var next: Node?
  @Persisted var numbers: List<Int>
  @Persisted var nodes: List<Node>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

@Suite(.ownThreads) struct DescriptionTests {
  /// The text without addresses.
  private func text(_ value: Any) -> String {
    "\(value)".replacing(/<0x[0-9a-f]+>/, with: "<address>")
  }

  @Test func linkedObjectsAreIndented() {
    let node = Node()
    node.name = "a"
    node.next = Node(value: ["name": "b"])
    node.numbers.append(1)
    #expect(
      text(node) == """
        Node {
        \tname = a;
        \tnext = Node {
        \t\tname = b;
        \t\tnext = (null);
        \t\tnumbers = List<int> <address> (
        \t\t
        \t\t);
        \t\tnodes = List<Node> <address> (
        \t\t
        \t\t);
        \t};
        \tnumbers = List<int> <address> (
        \t\t[0] 1
        \t);
        \tnodes = List<Node> <address> (
        \t
        \t);
        }
        """)
  }

  @Test func elementsStandLineByLine() {
    let (truths, marks) = (List<Bool>(), Map<String, Int>())
    #expect(text(truths) == "List<bool> <address> (\n\n)")
    truths.append(objectsIn: [true, false])
    #expect(text(truths) == "List<bool> <address> (\n\t[0] 1,\n\t[1] 0\n)")
    #expect(text(marks) == "Map<string, int> <address> (\n\n)")
    marks["a"] = 1
    #expect(text(marks) == "Map<string, int> <address> (\n\t[a]: 1\n)")
    #expect(truths.description == truths.description)
  }

  @Test func cyclesEnd() {
    let node = Node()
    node.name = "a"
    node.next = node
    node.nodes.append(node)
    let description = node.description
    #expect(description.contains("<Maximum depth exceeded>"))
    #expect(node.nodes.description.contains("<Maximum depth exceeded>"))
  }

  @Test func longValuesAreCut() {
    let node = Node()
    node.name = String(repeating: "x", count: 2_000)
    #expect(node.description.contains(String(repeating: "x", count: 1_000) + "...;"))
    #expect(!node.description.contains(String(repeating: "x", count: 1_001)))
  }
}
