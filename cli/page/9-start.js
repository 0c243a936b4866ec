/* Reads the data and shows the page that it is of. */

function header(page, title, text) {
  const top = add(page, 'header', 'top'), words = add(top, 'div');
  add(words, 'h1', null, title);
  add(words, 'div', 'faint', text);
  const button =
    add(top, 'button', 'theme', 'dark / light').attr('title', 'dark or light; at first as the system says');
  button.on('click', () => {
    const root = document.documentElement,
          dark =
            root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
    root.dataset.theme = dark ? 'light' : 'dark';
  });
}

function terminal(page, text, open) {
  if (!text) return;
  const d = add(add(page, 'section', 'card').style('margin-top', '14px'), 'details').attr('open', open ? '' : null);
  add(d, 'summary', null, 'As the terminal says it');
  add(d, 'pre', null, text);
}

function showMapping(root, m) {
  m.colour = colours(m.tensors.map((t) => t.name).concat(m.report.ops.map((o) => o.name)));
  const links = Links(m, root);
  showFigures(root, m);
  m.report.mapping.violations.forEach(
    (v) => add(root, 'p', 'violation', 'DOES NOT FIT: ' + v.message).style('color', 'var(--bad)'));
  const grid = add(root, 'div', 'grid');
  showTree(grid, m, links);
  const side = add(grid, 'div', 'side');
  showFlow(side, m, links);
  showFiles(side, m);
  showTime(grid, m, links);
  showParts(grid, m);
  showRoofline(grid, m);
  showCauses(grid, m, links);
  links.mark();
}

function showOne(page, data) {
  const r = data.mapping.report, how = {
    given: 'the mapping given',
    solve: 'a mapping found by the solver',
    search: 'a mapping found by a search',
    tune: 'a mapping found by measuring'
  };
  header(
    page, r.workload + ' on ' + r.architecture,
    data.kind + ': ' + (how[r.mapping.origin] || r.mapping.origin) + '; tileflow ' + r.tileflow);
  const edit = data.set && add(page, 'div', 'edit'), root = add(page, 'div'), draw = (m) => {
    root.selectAll('*').remove();
    showMapping(root, m);
  };
  draw(data.mapping);
  if (edit) showLive(edit, data.mapping, data.set, draw);
  terminal(page, data.terminal, data.kind === 'best');
}

const data = JSON.parse(document.getElementById('data').textContent), page = d3.select('#page');
({eval: showOne, best: showOne, diff: showDiff, results: showResults, plan: showPlan})[data.kind](page, data);
d3.select('body').append('div').attr({id: 'says', 'aria-live': 'polite'}).style('display', 'none');
