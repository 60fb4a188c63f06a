// What a binding is, whatever it leads to.
import RealmSwift
import TestSupport
import Testing

struct Point: Equatable {
  var x = 0
  var y = 0
}

struct Field {
  @Binding var text: String
  func type(_ more: String) { text += more }
}

@MainActor
final class Model {
  var text = "a"
  var point = Point()
  var textBinding: Binding<String> { Binding(get: { self.text }, set: { self.text = $0 }) }
  var pointBinding: Binding<Point> { Binding(get: { self.point }, set: { self.point = $0 }) }
}

@MainActor
@Suite(.ownThreads) struct BindingTests {
  private func requireSendable(_ value: some Sendable) {}

  @Test func closuresAreCalled() {
    let model = Model()
    let field = Field(text: model.textBinding)
    field.type("b")
    #expect(model.text == "ab")
    #expect(field.$text.wrappedValue == "ab")
    #expect(field.text == "ab")
    requireSendable(model.textBinding)
  }

  private func shout(@Binding text: String) { text = text.uppercased() }

  @Test func parametersAreBindings() {
    let model = Model()
    let append: (Binding<String>) -> Void = { $text in text += "b" }
    append(model.textBinding)
    shout($text: model.textBinding)
    #expect(model.text == "AB")
  }

  @Test func membersAreWritten() {
    let model = Model()
    model.pointBinding.x.wrappedValue = 3
    model.pointBinding.y.wrappedValue += 4
    #expect(model.point == Point(x: 3, y: 4))
  }

  @Test func constantsStay() {
    let constant = Binding.constant(5)
    constant.wrappedValue = 6
    #expect(constant.wrappedValue == 5)
  }

  @Test func optionalsAreMadeAndOpened() throws {
    let model = Model()
    let optional = Binding<String?>(model.textBinding)
    optional.wrappedValue = "b"
    optional.wrappedValue = nil
    #expect(model.text == "b")
    let opened = try #require(Binding(optional))
    opened.wrappedValue = "c"
    #expect(model.text == "c")
    #expect(Binding<String>(Binding<String?>.constant(nil))?.wrappedValue == nil)
    let untyped = Binding<AnyHashable>(model.textBinding)
    untyped.wrappedValue = "d"
    untyped.wrappedValue = 5
    #expect(model.text == "d")
  }

  @Test func closuresOfTheMainActorStopElsewhere() async {
    let binding = Model().textBinding
    await #expect(processExitsWith: .failure) {
      let binding = await MainActor.run { Model().textBinding }
      await Task.detached { _ = binding.wrappedValue }.value
    }
    _ = binding
  }
}
