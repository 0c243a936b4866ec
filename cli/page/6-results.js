/* A sweep: machines in two figures and as lines through all of them; parts of either are selected by dragging, and one
 * machine by a click, which shows its points with their mappings. */

const ROWS_MOST = 200;

/* A table of CSV as objects; cells that are numbers become numbers, empty ones NaN in columns of numbers. */
function tableOf(csv) {
  const all = d3.csv.parseRows(csv || ''), names = all[0] || [];
  const numeric = names.map((n, i) => all.slice(1).every((r) => r[i] === '' || isFinite(Number(r[i]))));
  const rows = all.slice(1).map((r) => {
    const o = Object.create(null);
    names.forEach((n, i) => (o[n] = numeric[i] ? (r[i] === '' ? NaN : Number(r[i])) : r[i]));
    return o;
  });
  return {names, rows, numeric: names.filter((n, i) => numeric[i])};
}

const finite = (rows, name) => rows.map((r) => r[name]).filter((v) => isFinite(v));
/* Logarithmic where figures spread over more than a factor of 20. */
function scaleOf(values, range) {
  const lo = d3.min(values), hi = d3.max(values), log = lo > 0 && hi / lo > 20;
  const pad = log ? Math.pow(hi / lo, 0.04) : (hi - lo || Math.abs(hi) || 1) * 0.06;
  const s =
    (log ? d3.scale.log() : d3.scale.linear()).domain(log ? [lo / pad, hi * pad] : [lo - pad, hi + pad]).range(range);
  s.isLog = log;
  return s;
}
const ticksOf = (s, n) => {
  if (!s.isLog) return n;
  const all = decades(s.domain()[0], s.domain()[1], n);
  return all.length > 1 ? all : s.ticks(n).filter((v, i, a) => i % Math.ceil(a.length / n) === 0);
};

function showResults(page, data) {
  const sweep = data.sweep, machines = tableOf(data.machines), points = tableOf(data.points);
  const at = machines.names.indexOf('architecture'), bound = machines.names.findIndex((n) => n.startsWith('bound_'));
  const middle = machines.names.slice(at + 1, bound),
        goals = middle.filter((n) => machines.names.includes('bound_' + n));
  const params = middle.filter((n) => !goals.includes(n) && machines.numeric.includes(n));
  const whole = machines.rows.filter((m) => goals.every((g) => isFinite(m[g])));
  const undrawn = machines.rows.length - whole.length, beyond = data.machines_all - machines.rows.length;
  header(
    page, 'Sweep ' + sweep.sweep,
    real(data.machines_all) + ' machines, ' + real(data.points_all) + ' points, method ' + sweep.method + '; '
      + real(sweep.machines.front) + ' machines on the front, ' + real(sweep.machines.proved) + ' of them proved'
      + (undrawn ? '; ' + real(undrawn) + ' machines without a mapping for each workload are not drawn' : '')
      + (beyond ? '; ' + real(beyond) + ' machines off the front are left out of this page' : '') + '.');
  const grid = add(page, 'div', 'grid'), state = {parts: {}, one: null}, draws = [];
  const chosen = (m) => Object.values(state.parts).every((f) => f(m));
  const redraw = () => draws.forEach((d) => d());
  const choose = (part, test) => {
    if (test)
      state.parts[part] = test;
    else
      delete state.parts[part];
    redraw();
  };
  const pick = (m) => {
    state.one = m;
    redraw();
  };
  const view = {sweep, goals, params, whole, state, chosen, choose, pick, draws};
  showFront(grid, view);
  showParallel(grid, view);
  showMachine(grid, view, points, data);
  showMachines(grid, view);
  redraw();
}

/* ---- two figures ---- */
function showFront(parent, v) {
  const c = card(
    parent, 'half front', 'Machines and their front',
    'Filled: on the front, which no machine beats in all objectives. Drag to select; click one to see its mappings.');
  const names = v.goals.concat(v.params), controls = add(c, 'div', 'buttons'), box = add(c, 'div');
  const choice = {x: names[0], y: names[1] || names[0]};
  if (v.goals.includes('area_um2') && v.goals.length > 1)
    [choice.x, choice.y] = ['area_um2', v.goals.find((g) => g !== 'area_um2')];
  let width = 0;
  const draw = () => {
    if (!width) return;
    box.select('svg').remove();
    const left = 64, height = 330, svg = box.append('svg').attr('height', height + 44);
    const x = scaleOf(finite(v.whole, choice.x), [left, width - 12]),
          y = scaleOf(finite(v.whole, choice.y), [height, 16]);
    axis(
      svg.append('g').attr('transform', 'translate(0,' + height + ')'), x, 'bottom',
      ticksOf(x, Math.max(2, Math.floor(width / 110))), (t) => plain(choice.x, t));
    axis(
      svg.append('g').attr('transform', 'translate(' + left + ',0)'), y, 'left', ticksOf(y, 6),
      (t) => plain(choice.y, t));
    svg.append('text')
      .attr({x: width - 12, y: height + 38, 'text-anchor': 'end', class: 'faint'})
      .text(columnTitle(choice.x));
    svg.append('text').attr({x: 4, y: 10, class: 'faint'}).text(columnTitle(choice.y));
    /* The machine at the mouse, if one is near: marks lie below the brush, so that dragging can begin on one. */
    const near = () => {
      const [px, py] = d3.mouse(svg.node()), far = (m) => Math.hypot(x(m[choice.x]) - px, y(m[choice.y]) - py);
      const best = v.whole.reduce((a, m) => (!a || far(m) < far(a) ? m : a), null);
      return best && far(best) < 12 ? best : null;
    };
    let from;
    const brush = d3.svg.brush()
                    .x(x)
                    .y(y)
                    .on('brushstart', () => (from = d3.mouse(svg.node())))
                    .on('brushend', () => {
                      const e = brush.extent(), to = d3.mouse(svg.node()),
                            m = Math.hypot(to[0] - from[0], to[1] - from[1]) < 4 && near();
                      if (m) return pickOne(m);
                      choice.part = brush.empty() ? null : e;
                      v.choose('front', choice.part && ((m) => m[choice.x] >= e[0][0] && m[choice.x] <= e[1][0] && m[choice.y] >= e[0][1] && m[choice.y] <= e[1][1]));
                    });
    /* A click leaves the part that is selected as it was. */
    const pickOne = (m) => {
      v.pick(m);
      if (choice.part)
        brush.extent(choice.part);
      else
        brush.clear();
      g.call(brush);
    };
    if (choice.part) brush.extent(choice.part);
    svg.selectAll('circle')
      .data(v.whole.slice().sort((a, b) => a.front - b.front))
      .enter()
      .append('circle')
      .attr(
        {class: 'machine', cx: (m) => x(m[choice.x]), cy: (m) => y(m[choice.y]), tabindex: (m) => (m.front ? 0 : null)})
      .on('keydown', (m) => d3.event.key === 'Enter' && v.pick(m))
      .on('focus', (m) => tell(m, names))
      .on('blur', () => tell(null));
    const g = svg.append('g')
                .attr('class', 'brush zoomable')
                .call(brush)
                .on('mousemove', () => tell(near(), names))
                .on('mouseleave', () => tell(null));
    mark();
  };
  const mark = () => box.selectAll('circle.machine')
                       .attr(
                         'r',
                         (m) =>
                           (m === v.state.one ? 8 :
                              m.front         ? 5.5 :
                                                3.5))
                       .classed('chosen', v.chosen)
                       .style({
                         fill: (m) => (m.front ? 'var(--accent)' : 'var(--card)'),
                         stroke: (m) => (m === v.state.one ? 'var(--lit)' : 'var(--accent)'),
                         'stroke-width': (m) => (m === v.state.one ? 3 : 1.2),
                         opacity: (m) => (v.chosen(m) ? 1 : 0.15),
                         cursor: 'pointer'
                       });
  v.draws.push(mark);
  ['x', 'y'].forEach((way) => {
    const s = add(add(controls, 'label', null, way + ' '), 'select').on('change', function() {
      choice[way] = this.value;
      choice.part = null;
      v.choose('front', null);
      draw();
    });
    s.selectAll('option')
      .data(names)
      .enter()
      .append('option')
      .attr('value', String)
      .text(columnTitle)
      .property('selected', (n) => n === choice[way]);
  });
  add(controls, 'button', null, 'select all').on('click', () => {
    v.state.parts = {};
    choice.part = null;
    draw();
    v.draws.forEach((d) => d());
  });
  drawIn(box, (w) => {
    width = w;
    draw();
  });
}

/* Says a machine's figures in the line at the bottom. */
function tell(m, names) {
  const bar = d3.select('#says').style('display', m ? null : 'none').text('');
  if (!m) return;
  add(bar, 'b', null, 'machine ' + m.machine + (m.front ? ', on the front: ' : ': '));
  add(bar, 'span', null, names.map((n) => columnTitle(n).replace(/ \(.*/, '') + ' ' + ofColumn(n, m[n])).join(', '));
}

/* A figure on an axis whose title has the unit. */
function plain(name, value) {
  const scale = {energy_pj: 1e-12, edp: 1e-12, area_um2: 1e-6}[name] || 1;
  const x = value * scale;
  return x !== 0 && Math.abs(x) < 1e-3 ? si(x, '').trim() : real(x);
}

/* ---- all figures ---- */
function showParallel(parent, v) {
  const c =
    card(parent, 'half parallel', 'Machines in all figures', 'A line for each machine; drag along an axis to select.');
  const names = v.params.concat(v.goals).filter((n) => finite(v.whole, n).length), scroll = add(c, 'div', 'scroll'),
        box = add(scroll, 'div');
  box.style('min-width', names.length * 74 + 'px');
  const mark = () => box.selectAll('path.machine').classed('chosen', v.chosen).style({
    stroke: (m) =>
      (m === v.state.one ? 'var(--lit)' :
         m.front         ? 'var(--accent)' :
                           'var(--faint)'),
    'stroke-width': (m) =>
      (m === v.state.one ? 3 :
         m.front         ? 1.6 :
                           0.8),
    opacity: (m) => (v.chosen(m) ? 0.85 : 0.07)
  });
  const parts = {}, brushes = []; /* what is selected along an axis; its brush */
  v.draws.push(() => {
    mark();
    brushes.filter((b) => parts[b.n] && !v.state.parts['axis ' + b.n]).forEach((b) => {
      delete parts[b.n];
      b.g.call(b.brush.clear());
    });
  });
  drawIn(box, (width) => {
    box.select('svg').remove();
    brushes.length = 0;
    const height = 300, top = 40,
          svg = box.append('svg').attr('height', top + height + 10).style('width', width + 'px');
    const x = d3.scale.ordinal().domain(names).rangePoints([40, width - 34]), y = {};
    names.forEach((n) => (y[n] = scaleOf(finite(v.whole, n), [top + height, top])));
    svg.selectAll('path.machine')
      .data(v.whole)
      .enter()
      .append('path')
      .attr({class: 'machine', fill: 'none', d: (m) => 'M' + names.map((n) => x(n) + ' ' + y[n](m[n])).join('L')})
      .style('cursor', 'pointer')
      .on('click', v.pick);
    names.forEach((n, i) => {
      const g = svg.append('g').attr('transform', 'translate(' + x(n) + ',0)'), title = columnTitle(n);
      axis(g.append('g'), y[n], 'left', ticksOf(y[n], 4), (t) => plain(n, t));
      g.append('text')
        .attr({y: i % 2 ? 28 : 13, 'text-anchor': 'middle'})
        .style('font-size', '11px')
        .text(cut(title, 18))
        .append('title')
        .text(title);
      const brush = d3.svg.brush().y(y[n]).on('brushend', () => {
        const e = brush.extent();
        parts[n] = brush.empty() ? null : e;
        v.choose('axis ' + n, parts[n] && ((m) => m[n] >= e[0] && m[n] <= e[1]));
      });
      if (parts[n]) brush.extent(parts[n]);
      const b = g.append('g').attr('class', 'brush').call(brush);
      b.selectAll('rect').attr({x: -11, width: 22});
      brushes.push({n, g: b, brush});
    });
    mark();
  });
}

/* ---- the table ---- */
function showMachines(parent, v) {
  const c = card(parent, 'machines', 'Selected machines'), note = add(c, 'p', 'note'),
        t = add(add(c, 'div', 'scroll'), 'table');
  const names = v.params.concat(v.goals), right = [1].concat(names.map(() => 1), 0);
  v.draws.push(() => {
    const some = v.whole.filter(v.chosen).sort((a, b) => b.front - a.front || a[v.goals[0]] - b[v.goals[0]]);
    note.text(
      real(some.length) + ' of ' + real(v.whole.length)
      + (some.length > ROWS_MOST ? ', of which the first ' + ROWS_MOST + ' are listed' : '')
      + '; those on the front first.');
    t.selectAll('*').remove();
    row(t, 'th', ['machine'].concat(names.map(columnTitle), 'front'), right);
    some.slice(0, ROWS_MOST).forEach((m) => {
      row(
        t, 'td',
        [real(m.machine)].concat(
          names.map((n) => ofColumn(n, m[n])), m.front ? 'front' + (m.proved ? ', proved' : '') : ''),
        right)
        .attr('tabindex', 0)
        .classed('lit', m === v.state.one)
        .on('click', () => v.pick(m))
        .on('keydown', () => d3.event.key === 'Enter' && v.pick(m));
    });
  });
}

/* ---- one machine ---- */
function showMachine(parent, v, points, data) {
  const c = card(parent, 'machine-points', 'Points and mappings'), body = add(c, 'div');
  let shown;
  v.draws.push(() => {
    if (v.state.one === shown && shown !== undefined) return;
    shown = v.state.one;
    body.selectAll('*').remove();
    if (!shown) {
      add(body, 'p', 'note', 'Click a machine.');
      return;
    }
    const own = points.rows.filter((p) => p.machine === shown.machine), m = shown;
    add(
      body, 'p', null,
      'Machine ' + m.machine + ' (' + m.architecture + '): ' + v.params.map((n) => n + ' ' + real(m[n])).join(', '));
    if (!own.length)
      add(
        body, 'p', 'note',
        'Its points are left out of this page: tileflow results STORE --where "machine == ' + m.machine
          + '" has them.');
    own.forEach((p) => {
      const d = add(body, 'details').attr('open', own.length < 3 ? '' : null);
      add(
        d, 'summary', null,
        p.workload + ': ' + real(p.cycles) + ' cycles, ' + joules(p.energy_pj) + ', ' + p.state
          + (p.bottleneck ? ', ' + p.bottleneck : ''));
      const text = data.mappings[p.point];
      add(
        d, 'pre', 'mapping',
        text
          || 'tileflow results STORE --point ' + p.point
            + ' prints its mapping, if it has one; this page has no room for it.');
    });
  });
}
