// What the shop stores: plain model classes, as an app has them.
import RealmSwift

final class Article: Object {
  @Persisted(primaryKey: true) var number = 0
  @Persisted var name = ""
  @Persisted(indexed: true) var price = 0
  @Persisted var left = 0
  @Persisted var sold = 0
}

final class Order: Object {
  @Persisted(primaryKey: true) var number = ObjectId.generate()
  @Persisted var lines: List<OrderLine>
  @Persisted var total = 0
}

final class OrderLine: EmbeddedObject {
  @Persisted var article: Article?
  @Persisted var count = 0
}
