/* The views of one mapping but those over time: figures, tree, files, flow of tensors, memories, energy, causes. */

function figure(parent, name, value, more, share) {
  const f = add(parent, 'div', 'figure');
  add(f, 'div', 'name', name);
  add(f, 'b', null, value);
  if (share !== undefined) {
    f.append('div')
      .attr('class', 'gap')
      .attr('title', 'filled: the bound; hatched: the gap')
      .append('i')
      .style('width', 100 * share + '%');
  }
  if (more) add(f, 'div', 'more', more);
}

function showFigures(parent, m) {
  const r = m.report, b = r.bounds, f = add(parent, 'div', 'figures');
  const beside = (value, bound, text) => bound > 0 ? 'bound ' + text + ': ' + times(value, bound) : 'no bound';
  figure(
    f, 'cycles', real(r.cycles), beside(r.cycles, b.cycles, real(b.cycles)) + ', ' + si(r.seconds, 's'),
    b.cycles / r.cycles);
  figure(
    f, 'energy', joules(r.energy_pj), beside(r.energy_pj, b.energy_pj, joules(b.energy_pj)), b.energy_pj / r.energy_pj);
  figure(
    f, r.levels[0].name + ' words', real(m.traffic_words),
    beside(m.traffic_words, b.traffic_words, real(b.traffic_words)), b.traffic_words / m.traffic_words);
  figure(f, 'units in use', percent(r.compute_utilization, 1), 'of their peak');
  figure(f, 'bottleneck', r.bottleneck, 'what the cycles wait for');
  const s = r.search;
  if (s) {
    const value = {
      latency: real(s.value) + ' cycles',
      traffic: real(s.value) + ' words',
      energy: joules(s.value),
      edp: si(s.value * 1e-12, 'J s')
    }[s.objective];
    figure(
      f, 'search for ' + s.objective, s.proved ? 'proved' : 'gap ' + percent(s.gap, 1),
      value + ', of ' + real(s.evaluations) + ' mappings tried (' + s.method + ')', s.bound / s.value);
  }
}

/* ---- tree ---- */
function showTree(parent, m, links) {
  const c = card(
    parent, 'wide tree', 'Tree',
    'Boxes nest as loops do; dashed: spatial. Hover or focus a loop or a node: its traffic lights up everywhere; a click keeps it lit.');
  const {tree, report} = m;
  const node = (into, i) => {
    const n = tree[i], box = link(add(into, 'div', 'node'), 'n' + i, 'n' + i);
    const tint = n.kind === 'op' ? m.colour(n.op) : n.level >= 0 ? memoryColour(n.level, report.levels.length) : null;
    if (tint) box.style('--tint', tint);
    const line = add(box, 'div', 'line');
    link(add(line, 'span', 'chip head', n.head), 'n' + i, 'n' + i, true);
    n.loops.forEach(
      (l, k) => link(
        add(line, 'span', 'chip' + (l.spatial ? ' spatial' : ''), l.text), 'l' + i + '.' + k, 'l' + i + '.' + k, true));
    if (n.rest) add(line, 'span', 'chip', n.rest);
    add(line, 'span', 'facts', facts(report.nodes[i], n, report));
    const kids = add(box, 'div', 'kids' + (/^(Para|Pipe)/.test(n.head) ? ' beside' : ''));
    for (let k = i + 1; k < n.end; k = tree[k].end) node(kids, k);
  };
  node(add(c, 'div'), 0);
}

function facts(r, n, report) {
  if (n.op) {
    const o = report.ops.find((x) => x.name === n.op);
    return real(o.points) + ' points on ' + real(o.units_used) + ' of ' + o.unit + ', ' + real(o.cycles) + ' cycles';
  }
  const all = [real(r.cycles) + ' cycles in ' + real(r.runs) + (r.runs === 1 ? ' run' : ' runs')];
  if (r.held) all.push('holds ' + real(r.held));
  if (r.loads) all.push('loads ' + real(r.loads));
  if (r.stores) all.push('stores ' + real(r.stores));
  return all.join(', ') + (r.held || r.loads || r.stores ? ' words' : '');
}

/* ---- files ---- */
function showFiles(parent, m) {
  const c = card(parent, 'files', 'Inputs'), tabs = add(c, 'div', 'buttons'), note = add(c, 'p', 'note'),
        pre = add(c, 'pre', 'file').attr('tabindex', 0);
  const nodeAt = {};
  m.tree.forEach((n, i) => {
    const key = n.file + ':' + n.line;
    if (!(key in nodeAt)) nodeAt[key] = i;
  });
  const show = (f) => {
    tabs.selectAll('button').attr('aria-pressed', (d) => d === f);
    note.style('display', f.left_out ? null : 'none').text(real(f.left_out) + ' bytes are left out at the end');
    pre.selectAll('*').remove();
    f.text.replace(/\n$/, '').split('\n').forEach((text, k) => {
      const key = f.file + ':' + (k + 1), span = add(pre, 'span');
      if (key in nodeAt) link(span, 'f' + key, 'n' + nodeAt[key]);
      add(span, 'i', null, k + 1);
      span.node().appendChild(document.createTextNode(text));
    });
  };
  tabs.selectAll('button')
    .data(m.files)
    .enter()
    .append('button')
    .text((f) => f.name.replace(/.*\//, ''))
    .attr('title', (f) => f.name)
    .on('click', show);
  const first = m.files.find((f) => f.file === m.tree[0].file) || m.files[0];
  if (first) show(first);
}

/* ---- flow ---- */
/* Rows of edges that do not lie over each other: one that passes a memory by stands below. */
function flowRows(edges) {
  const rows = [];
  edges.forEach((e) => {
    const to = e.into < 0 ? 99 : e.into;
    let r = rows.find((x) => x.every((o) => e.from >= (o.into < 0 ? 99 : o.into) || to <= o.from));
    if (!r) rows.push((r = []));
    r.push(e);
  });
  return rows;
}

function showFlow(parent, m, links) {
  const c = card(
    parent, 'flow', 'Flow of each tensor through the memories',
    'Words that pass, and how often that is the whole tensor; -> inwards above the line, <- outwards below. Thickness: the square root of words.');
  const levels = m.report.levels, box = add(c, 'div', 'scroll'), n = levels.length;
  const byTensor =
    m.tensors
      .map(
        (t, i) =>
          ({t, i, rows: flowRows(m.edges.map((e, k) => Object.assign({no: k}, e)).filter((e) => e.tensor === t.name))}))
      .filter((x) => x.rows.length);
  if (!byTensor.length)
    add(c, 'p', 'note', 'The words of this mapping were counted by a walk too long to attribute them.');
  const most = d3.max(m.edges, (e) => Math.max(e.down, e.up)) || 1;
  drawIn(box, (outer) => {
    box.select('svg').remove();
    const label = Math.min(110, 14 + 7.5 * d3.max(m.tensors, (t) => t.name.length)),
          width = Math.max(outer, label + n * 96 + 40);
    const right = outer < 600 ? 24 : 50, narrow = (width - label - right) / n < 125;
    const x = (l) => label + 10 + ((l < 0 ? n : l) * (width - label - right)) / n,
          thick = d3.scale.sqrt().domain([0, most]).range([1, 9]);
    const svg = box.append('svg').style('width', width + 'px'), ROW = 50;
    let y = 24;
    byTensor.forEach(({t, i, rows}) => {
      const g = svg.append('g'), top = y;
      rows.forEach((r) => {
        r.forEach((e) => flowEdge(g, e, x, y + 22, thick, m.colour(t.name), narrow));
        y += ROW;
      });
      g.append('line').attr({x1: 0, x2: width, y1: y - 3, y2: y - 3}).style('stroke', 'var(--soft)');
      const name = link(g.append('text').attr({x: 16, y: top + 24}).text(cut(t.name, 12)), 't' + i, 't' + i, true);
      name.append('title').text(t.name);
      link(
        g.append('rect').attr({x: 0, y: top + 14, width: 11, height: 11, rx: 2, fill: m.colour(t.name)}), 't' + i,
        't' + i);
    });
    svg.attr('height', y);
    for (let l = 0; l <= n; l++) {
      svg.insert('line', 'g').attr({x1: x(l), x2: x(l), y1: 20, y2: y - 4}).style({
        stroke: 'var(--line)',
        'stroke-width': 2
      });
      const name = svg.append('text')
                     .attr({x: l < n ? x(l) : x(l) + 14, y: 12, 'text-anchor': l < n ? 'middle' : 'end'})
                     .style('font-weight', 700)
                     .text(l < n ? cut(levels[l].name, 13) : 'units');
      if (l < n) link(name, 'm' + l, 'm' + l, true);
    }
    links.mark();
  });
}

/* Narrow: the picture alone says the direction. */
function flowEdge(g, e, x, y, thick, colour, narrow) {
  const text = (arrow, v) => (narrow ? real(v) + ' ' : arrow + real(v) + ', ') + times(v, e.size);
  const a = x(e.from) + 3, b = x(e.into) - 3, mid = (a + b) / 2, h = thick(e.down), k = thick(e.up);
  const one = link(g.append('g'), 'e' + e.no + ' ' + e.causes.map((c) => 'c' + c).join(' '), 'e' + e.no, true);
  one.append('rect').attr({x: a, y: y - 20, width: b - a, height: 40, opacity: 0});
  if (e.down) {
    one.append('path')
      .attr('d', `M${a} ${y - 1}V${y - 1 - h}H${b - 6}L${b} ${y - 1 - h / 2}L${b - 6} ${y - 1}Z`)
      .style('fill', colour);
    one.append('text')
      .attr({x: mid, y: y - h - 4, 'text-anchor': 'middle'})
      .style('font-size', '11px')
      .text(text('-> ', e.down));
  }
  if (e.up) {
    one.append('path')
      .attr('d', `M${b} ${y + 1}V${y + 1 + k}H${a + 6}L${a} ${y + 1 + k / 2}L${a + 6} ${y + 1}Z`)
      .style('fill', colour)
      .style('fill-opacity', 0.6);
    one.append('text')
      .attr({x: mid, y: y + k + 12, 'text-anchor': 'middle'})
      .style('font-size', '11px')
      .text(text('<- ', e.up));
  }
}

const cut = (text, most) => (text.length > most ? text.slice(0, most - 1) + '…' : text);

/* ---- energy, memories and units ---- */
function showParts(parent, m) {
  const r = m.report, n = r.levels.length;
  const c = card(
    parent, 'wide parts', 'Energy by component, memories and units',
    'In all ' + joules(r.energy_pj) + '; no mapping takes less than ' + joules(r.bounds.energy_pj)
      + '. *: energy from tables, not given.');
  if (r.leakage_pj)
    add(
      c, 'p', 'note',
      'Leakage of all instances takes ' + joules(r.leakage_pj) + ' of it, ' + percent(r.leakage_pj, r.energy_pj)
        + '; the parts below are without it.');
  const all = r.levels.map((l, i) => ({key: 'm' + i, p: l, colour: memoryColour(i, n)}))
                .concat(r.compute.map((u, i) => ({key: 'u' + i, p: u, colour: UNIT_COLOUR})));
  const stack = add(c, 'div', 'stack');
  all.forEach(
    (x) => link(stack.append('div'), x.key, x.key)
             .style('flex', (x.p.energy_pj || 0) + ' 0 0')
             .style('background', x.colour)
             .attr('title', x.p.name + ' ' + joules(x.p.energy_pj)));
  const t = add(add(c, 'div', 'scroll'), 'table'), right = [0, 1, 1, 1, 1];
  row(t, 'th', ['', 'energy', 'busy', 'holds of capacity (words)', 'words read / written'], right);
  all.forEach((x) => {
    const p = x.p, limits = r.bottleneck.startsWith(p.name + ' '), unit = x.key[0] === 'u';
    const one = row(
      t, 'td',
      [
        withSwatch(x.colour, p.name + (p.energy_source === 'table' ? ' *' : '')),
        joules(p.energy_pj) + ', ' + percent(p.energy_pj, r.energy_pj),
        withBar(
          percent(Math.min(p.cycles, r.cycles), r.cycles) + (limits ? ', bottleneck' : ''), p.cycles / r.cycles,
          limits),
        unit                        ? real(p.units_used) + ' of ' + real(p.machine.units) + ' units' :
          p.capacity_words === null ? real(p.peak_words) + ', no limit' :
                                      withBar(
                                        real(p.peak_words) + ' of ' + real(p.capacity_words),
                                        p.peak_words / p.capacity_words, p.peak_words > p.capacity_words),
        unit ?
          real(p.points) + ' points' :
          real((p.bits.read + p.bits.drain) / p.word_bits) + ' / ' + real((p.bits.fill + p.bits.update) / p.word_bits),
      ],
      right);
    link(one, x.key, x.key, true);
  });
}

/* ---- causes ---- */
const CAUSES_MOST = 60;
function showCauses(parent, m, links) {
  const why = m.report.why || [];
  const all =
    d3.range(why.length)
      .filter(
        (c) => why[c].cause !== 'needed' && why[c].into !== null && wordsOf(why[c]) > 0 && why[c].cause !== 'units')
      .sort((a, b) => wordsOf(why[b]) - wordsOf(why[a]));
  if (!all.length) return;
  const c = card(
    parent, 'causes', 'What passes more than once, and because of what',
    all.length > CAUSES_MOST ? 'The ' + CAUSES_MOST + ' largest of ' + all.length + '.' : null);
  const t = add(add(c, 'div', 'scroll'), 'table'), most = wordsOf(why[all[0]]);
  row(t, 'th', ['tensor', 'passes', 'words', 'times', 'because'], [0, 0, 1, 1, 0]);
  all.slice(0, CAUSES_MOST).forEach((i) => {
    const w = why[i], e = m.edges.findIndex((x) => x.causes.includes(i));
    const one = row(
      t, 'td',
      [
        withSwatch(m.colour(w.tensor), w.tensor),
        links.edgeName(m.edges[e]),
        withBar(real(wordsOf(w)), wordsOf(w) / most),
        times(w.passes, 1),
        w.text,
      ],
      [0, 0, 1, 1, 0]);
    link(one, 'c' + i, 'c' + i, true);
  });
}
