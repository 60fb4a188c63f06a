// The workload: what customers do, and what has to hold meanwhile.
import RealmBench
import RealmSwift

struct Shop: Workload {
  enum Operation: String, WorkloadOperation {
    case browse
    case buy

    var share: Int { self == .browse ? 80 : 20 }
    var writes: Bool { self == .buy }
  }

  enum Check: String, WorkloadCheck {
    case stock
    case orders

    var summary: String {
      switch self {
      case .stock: "What is left of an article and what was sold of it are what there was."
      case .orders: "The orders hold what was sold, no more and no less."
      }
    }
  }

  /// A mistake that this program makes on purpose, so that one sees a check find it.
  enum Mistake: String, CaseIterable {
    case none
    /// One order in ten is not counted in its articles.
    case forgetsSales = "forgets-sales"
  }

  static let basket = Flag.count("basket", default: 3, in: 1...100, "articles that one order takes")
  static let mistake = Flag.choice(
    "mistake", default: Mistake.none, "a mistake of the shop, for its checks to find")

  static let name = "shop"
  static let summary = "customers look at articles by price, and buy some"
  static let help = """
    Each thread is a customer: it looks at the cheapest articles above a price (browse), or orders
    --basket articles in one transaction (buy). An order takes from what is left of an article and
    adds to what was sold of it.
    """
  static let objectTypes: [ObjectBase.Type] = [Article.self, Order.self, OrderLine.self]
  static let flags: [any WorkloadFlag] = [basket, mistake]
  static let defaults = WorkloadDefaults(threads: 2, objects: 10_000)
  /// Of each article, at the beginning.
  static let supply = 1_000_000

  // MARK: - Before the run

  static func setUp(_ realm: Realm, _ setUp: WorkloadSetUp<Shop>) throws {
    var made = 0
    while made < setUp.settings.objects && !setUp.isCancelled {
      try realm.write {
        for number in made..<min(made + 1_000, setUp.settings.objects) {
          let article = Article()
          article.number = number
          article.name = "article \(number)"
          article.price = Int.random(in: 1...10_000, using: &setUp.random)
          article.left = supply
          realm.add(article)
        }
      }
      made = min(made + 1_000, setUp.settings.objects)
      setUp.made(made)
    }
  }

  // MARK: - A customer

  private let thread: WorkloadThread<Shop>
  private let basket: Int
  private let mistake: Mistake
  private var orders = 0

  init(_ thread: WorkloadThread<Shop>) {
    self.thread = thread
    basket = thread.settings[Self.basket]
    mistake = thread.settings[Self.mistake]
  }

  mutating func perform(_ operation: Operation) throws {
    switch operation {
    case .browse: try browse()
    case .buy: try buy()
    }
  }

  private func browse() throws {
    let price = Int.random(in: 1...10_000, using: &thread.random)
    let offers = thread.realm.objects(Article.self).where { $0.price >= price }
    guard let article = offers.sorted(by: \.price).first else { return }
    try thread.check(
      .stock, article.left + article.sold == Self.supply,
      "article \(article.number): \(article.left) left and \(article.sold) sold, of \(Self.supply)")
  }

  private mutating func buy() throws {
    // What is chosen is no part of the operation's time.
    let numbers = thread.untimed {
      (0..<basket).map { _ in
        Int.random(in: 0..<thread.settings.objects, using: &thread.random)
      }
    }
    orders += 1
    let isForgotten = mistake == .forgetsSales && orders % 10 == 0
    let realm = thread.realm
    try realm.write {
      let order = Order()
      for number in numbers {
        guard let article = realm.object(ofType: Article.self, forPrimaryKey: number) else {
          continue
        }
        article.left -= 1
        if !isForgotten { article.sold += 1 }
        order.total += article.price
        let line = OrderLine()
        line.article = article
        line.count = 1
        order.lines.append(line)
      }
      realm.add(order)
    }
  }

  // MARK: - After the run

  static func checkEnd(_ realm: Realm, _ end: WorkloadEnd<Shop>) throws {
    let articles = realm.objects(Article.self)
    try end.check(.stock) {
      articles.first { $0.left + $0.sold != supply }.map {
        "article \($0.number): \($0.left) left and \($0.sold) sold, of \(supply)"
      }
    }
    try end.check(.orders) {
      let sold: Int = articles.sum(of: \.sold)
      let ordered = realm.objects(Order.self).reduce(0) { sum, order in
        sum + order.lines.reduce(0) { $0 + $1.count }
      }
      return sold == ordered ? nil : "\(sold) articles sold, \(ordered) in orders"
    }
  }
}
