// The frame of a report: one page of HTML that needs no network, in light and dark, on paper and on
// a phone. Scripts only sort and copy tables; everything can be read without them.

/// A page of sections.
package struct ReportPage {
  private let title: String
  private var sections: [(name: String, html: String)] = []

  package init(_ title: String) { self.title = title }

  package mutating func add(_ name: String, _ html: String) { sections.append((name, html)) }

  /// A table with a header; cells that are numbers are set to the right.
  package static func table(_ header: [String], _ rows: [[String]], source: String) -> String {
    let head = header.map { "<th scope=\"col\">\(escapedHTML($0))</th>" }.joined()
    let body = rows.map { row in
      "<tr>"
        + row.map { cell in
          let isNumber = cell.first.map { $0.isNumber || $0 == "-" || $0 == "+" } ?? false
          let kind = isNumber ? " class=\"n\"" : (cell.count > 40 ? " class=\"wide\"" : "")
          return "<td\(kind)>\(escapedHTML(cell))</td>"
        }.joined() + "</tr>"
    }.joined(separator: "\n")
    return """
      <div class="table"><table><caption class="source">\(escapedHTML(source))</caption>
      <thead><tr>\(head)</tr></thead>
      <tbody>
      \(body)
      </tbody></table></div>

      """
  }

  /// Whether a page that begins so is one of the tool's.
  static func isBegun(by text: String) -> Bool {
    text.hasPrefix("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n")
      && text.contains("<style>\(style.prefix(60))")
  }

  package func html() -> String {
    let links = sections.enumerated().map { number, section in
      "<a href=\"#section\(number)\">\(escapedHTML(section.name))</a>"
    }.joined(separator: " ")
    let body = sections.enumerated().map { number, section in
      "<section id=\"section\(number)\"><h2>\(escapedHTML(section.name))</h2>\n\(section.html)</section>\n"
    }.joined()
    return """
      <!DOCTYPE html>
      <html lang="en"><head><meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <title>\(escapedHTML(title))</title>
      <style>\(Self.style)</style></head>
      <body><main><h1>\(escapedHTML(title))</h1>
      <nav>\(links)</nav>
      \(body)</main>
      <script>\(Self.script)</script></body></html>

      """
  }

  private static let style = """
    \(colours)
    *{box-sizing:border-box}body{margin:0;background:var(--paper);color:var(--ink);
    font:16px/1.5 system-ui,sans-serif}main{max-width:980px;margin:0 auto;padding:1rem}
    h1{font-size:1.4rem;line-height:1.25}h2{font-size:1.1rem;border-bottom:1px solid var(--rule);padding-bottom:.2rem;margin-top:2rem}
    nav a{margin-right:.8rem}a{color:var(--c1)}figure{margin:1rem 0}figcaption,.source{font-size:.9rem}
    .source{color:var(--faint);text-align:left}svg{width:100%;height:auto;display:block}
    \(drawings)
    .legend{list-style:none;display:flex;flex-wrap:wrap;gap:.2rem 1rem;padding:0;margin:.3rem 0;font-size:.9rem}
    .key{display:inline-block;width:1.1em;height:.25em;margin-right:.4em;vertical-align:middle}
    \((1...LineChart.seriesMax).map { ".key.s\($0){background:var(--c\($0))}" }.joined())
    .table{overflow-x:auto}table{border-collapse:collapse;font-size:.9rem;margin:.6rem 0}caption{padding:.2rem 0}
    pre{white-space:pre-wrap}p,pre,li,h1,figcaption{overflow-wrap:anywhere}td.wide{white-space:normal;min-width:16rem}
    th,td{padding:.25rem .6rem;border-bottom:1px solid var(--rule);text-align:left;white-space:nowrap}
    th{background:var(--band)}td.n{text-align:right;font-variant-numeric:tabular-nums}
    th[aria-sort]{text-decoration:underline}button{font:inherit;font-size:.8rem;color:inherit;background:var(--band);border:1px solid var(--rule);border-radius:4px}
    .bad{color:var(--bad);font-weight:600}.good{color:var(--good);font-weight:600}
    svg.narrow{display:none}
    @media (max-width:600px){svg.wide{display:none}svg.narrow{display:block}}
    @media print{nav,button{display:none}section{break-inside:avoid}:root{--paper:#fff;--ink:#000}}
    """

  /// The colours by their names, light and dark.
  static let colours = """
    :root{color-scheme:light dark;--paper:#fff;--ink:#1d2330;--faint:#687084;--rule:#dfe3ea;--band:#f5f7fa;
    --bad:#b3261e;--good:#1b7a43;
    --c1:#1f6fd1;--c2:#d1571f;--c3:#1b8a5a;--c4:#8a4fc7;--c5:#b8860b;--c6:#c2337a;--c7:#0e8f9e;--c8:#6b6f76}
    @media (prefers-color-scheme:dark){:root{--paper:#14171d;--ink:#e6e9ef;--faint:#98a1b3;--rule:#2c323d;
    --band:#1b2028;--bad:#ff8a80;--good:#7ad69b;
    --c1:#6aa9ff;--c2:#ff9a62;--c3:#5fd39c;--c4:#c49bff;--c5:#e5b84a;--c6:#ff86bb;--c7:#5ed6e4;--c8:#b0b5bd}}
    """

  /// How the parts of a drawing look.
  static let drawings = """
    svg text{fill:var(--faint);font-size:12px}.grid{stroke:var(--rule);stroke-width:1}
    polyline{fill:none;stroke-width:2;stroke-linejoin:round}
    \((1...LineChart.seriesMax).map { "polyline.s\($0),circle.s\($0){stroke:var(--c\($0))}circle.s\($0){fill:var(--c\($0))}" }.joined())
    """

  private static let script = """
    for (const table of document.querySelectorAll('table')) {
      const body = table.tBodies[0], heads = [...table.tHead.rows[0].cells];
      const units = {ns: 1, us: 1e3, ms: 1e6, s: 1e9, B: 1, KiB: 1024, MiB: 1048576, GiB: 1073741824};
      const form = /^([+-]?[\\d,]*\\.?\\d+)(?: (ns|us|ms|s|B|KiB|MiB|GiB))?(?: ?%|\\/s)?( .*)?$/;
      const number = text => {
        const parts = form.exec(text.trim());
        return parts ? parseFloat(parts[1].replace(/,/g, '')) * (units[parts[2]] ?? 1) : NaN;
      };
      heads.forEach((head, column) => {
        head.style.cursor = 'pointer';
        head.title = 'sort';
        head.onclick = () => {
          const down = head.getAttribute('aria-sort') === 'ascending';
          heads.forEach(other => other.removeAttribute('aria-sort'));
          head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
          const rows = [...body.rows].sort((a, b) => {
            const x = a.cells[column].textContent, y = b.cells[column].textContent;
            const p = number(x), q = number(y);
            // What is no number stands behind those that are, in both orders.
            if (isNaN(p) !== isNaN(q)) return isNaN(p) ? 1 : -1;
            const order = isNaN(p) ? x.localeCompare(y, undefined, {numeric: true}) : p - q;
            return down ? -order : order;
          });
          body.append(...rows);
        };
      });
      const copy = document.createElement('button');
      copy.textContent = 'copy';
      copy.onclick = () => navigator.clipboard.writeText([...table.rows]
        .map(row => [...row.cells].map(cell => cell.textContent).join('\\t')).join('\\n'));
      table.parentElement.before(copy);
    }
    """
}
