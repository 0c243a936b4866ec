/* The views over time, which share one range of cycles: a lane for each port and unit, and what each memory holds. */

/* Kinds of an interval, as the data numbers them. */
const LOAD = 0, WORK = 1, STORE = 2, HOLD = 3;
const asInterval = (a) =>
  ({kind: a[0], level: a[1], unit: a[2], node: a[3], tensor: a[4], begin: a[5], end: a[6], words: a[7]});

/* Puts intervals at one time below each other: a node's all in one row where it can.  Returns the height. */
function inRows(own) {
  const ends = [], last = {}, H = 19;
  own.forEach((x) => {
    const slack = 1e-6 * (x.end - x.begin), free = (k) => ends[k] === undefined || ends[k] <= x.begin + slack;
    let k = last[x.node];
    if (k === undefined || !free(k))
      for (k = 0; !free(k); k++)
        ;
    ends[k] = x.end;
    last[x.node] = k;
    x.top = k * H;
    x.height = H - 2;
  });
  return ends.length * H - 2;
}

/* Gives each interval of work the part of the lane that is its share of the units, where nothing else works then. */
function inShares(m, own) {
  const shareOf = {};
  own.forEach((x) => {
    const op = opOf(m, x.node), o = op && m.report.ops.find((p) => p.name === op),
          all = m.report.compute[x.unit].machine.units;
    shareOf[x.node] = o && all > 0 ? Math.min(1, o.units_used / all) : 1;
  });
  const whole = d3.min(d3.values(shareOf)) > 0.99, H = whole ? 17 : 38;
  let active = [];
  own.forEach((x) => {
    const share = shareOf[x.node];
    active = active.filter((a) => a.end > x.begin + 1e-6 * (x.end - x.begin)).sort((a, b) => a.at - b.at);
    let at = 0;
    active.forEach((a) => (at = a.at < at + share - 1e-9 ? Math.max(at, a.at + a.share) : at));
    at = Math.max(0, Math.min(at, 1 - share));
    active.push({end: x.end, at, share});
    x.height = Math.max(4, share * H);
    x.top = Math.min(at * H, H - x.height);
  });
  return H;
}

/* Lanes in the order of the machine. */
function lanesOf(m, all) {
  const names = [];
  m.report.levels.forEach(
    (l, i) =>
      names.push({name: l.name + ' load', kind: LOAD, level: i}, {name: l.name + ' store', kind: STORE, level: i}));
  m.report.compute.forEach((u, i) => names.push({name: u.name, kind: WORK, unit: i}));
  return names
    .map((lane) => {
      const own =
        all.filter((x) => x.kind === lane.kind && (x.kind === WORK ? x.unit === lane.unit : x.level === lane.level))
          .sort((a, b) => a.begin - b.begin || a.node - b.node);
      return Object.assign(lane, {own, height: lane.kind === WORK && own.length ? inShares(m, own) : inRows(own)});
    })
    .filter((l) => l.own.length);
}

/* Bars of at least a pixel; those of one node that would be narrower are joined. */
function barsOf(own, x, view) {
  const bars = [], open = {};
  own.forEach((i) => {
    if (i.end < view[0] || i.begin > view[1]) return;
    const a = Math.max(x.range()[0], x(i.begin)), b = Math.min(x.range()[1], x(i.end)), key = i.node + '/' + i.top,
          o = open[key];
    if (o && a < o.b + 1 && b - o.a < 40 && (b - a < 2 || o.n > 1)) {
      o.b = Math.max(o.b, b);
      o.n++;
      o.words += i.words;
      o.end = i.end;
    } else {
      bars.push((open[key] = {i, a, b: Math.max(b, a + 1), n: 1, words: i.words, end: i.end}));
    }
  });
  return bars;
}

/* The op that a node is about, if it is one. */
function opOf(m, node) {
  const ops = m.tree.slice(node, m.tree[node].end).filter((n) => n.op);
  return ops.length === 1 ? ops[0].op : null;
}

function showTime(parent, m, links) {
  const t = m.time,
        c = card(
          parent, 'timeline', 'Timeline',
          t ? 'A lane for each port and each kind of units; the height of work is the share of the units that it has.'
              + (t.whole ? '' : ' Up to ' + real(t.most) + ' runs of a Tile are shown one by one; of more, the sum.') :
              null);
  if (!t) {
    add(c, 'p', 'note', 'Left out: this mapping has too many intervals, even summed over runs.');
    return;
  }
  const all = t.intervals.map(asInterval), lanes = lanesOf(m, all), whole = [0, t.cycles];
  let view = whole.slice();
  const draws = [], redraw = () => draws.forEach((d) => d());
  const go = (a, b) => {
    const span = Math.min(t.cycles, Math.max(b - a, t.cycles * 1e-6));
    a = Math.max(0, Math.min(a, t.cycles - span));
    view = [a, a + span];
    redraw();
  };
  const zoom = (f, at) => {
    const mid = at === undefined ? (view[0] + view[1]) / 2 : at;
    go(mid - (mid - view[0]) * f, mid + (view[1] - mid) * f);
  };
  const pan = (f) => go(view[0] + f * (view[1] - view[0]), view[1] + f * (view[1] - view[0]));
  const buttons = add(c, 'div', 'buttons');
  [['nearer', () => zoom(0.5)], ['farther', () => zoom(2)], ['←', () => pan(-0.4)], ['→', () => pan(0.4)],
   ['whole', () => go(0, t.cycles)]]
    .forEach(([name, f]) => add(buttons, 'button', null, name).on('click', f));
  const range = add(buttons, 'span', 'faint');
  add(c, 'p', 'note', 'Drag over a part to see it alone; with the picture focused: + - arrows 0; Ctrl and the wheel.');
  draws.push(() => range.text(real(view[0]) + ' to ' + real(view[1]) + ' of ' + real(t.cycles) + ' cycles'));
  const keys = {
    '+': () => zoom(0.5),
    '=': () => zoom(0.5),
    '-': () => zoom(2),
    ArrowLeft: () => pan(-0.3),
    ArrowRight: () => pan(0.3),
    0: () => go(0, t.cycles)
  };
  const control = {get view() { return view; }, go, zoom, keys, onDraw: (d) => draws.push(d)};
  timePicture(c, control, links, (svg, x, left) => drawLanes(svg, x, left, m, lanes, view));
  showHeld(parent, m, all.filter((i) => i.kind === HOLD), control, links);
  redraw();
}

/* A picture over the cycles in view: body(svg, x, left) draws from y = 0 and returns its height. */
function timePicture(c, control, links, body) {
  const box = add(c, 'div'), left = () => (box.node().clientWidth < 600 ? 78 : 120);
  const svg = box.append('svg').attr('tabindex', 0).attr('class', 'zoomable');
  let width = 0, x = null;
  const draw = () => {
    if (!width) return;
    svg.selectAll('*').remove();
    x = d3.scale.linear().domain(control.view).range([left(), width - 14]);
    const brush = d3.svg.brush().x(x).on('brushend', () => {
      const e = brush.extent();
      if (!brush.empty() && e[1] > e[0]) control.go(e[0], e[1]);
    });
    const under = svg.append('g').attr('class', 'brush');
    const h = body(svg, x, left());
    under.call(brush).selectAll('rect').attr('height', h);
    svg.attr('height', h + 38);
    axis(
      svg.append('g').attr('transform', 'translate(0,' + (h + 3) + ')'), x, 'bottom',
      Math.max(2, Math.floor(width / 130)));
    svg.append('text').attr({x: width - 14, y: h + 35, 'text-anchor': 'end', class: 'faint'}).text('cycles');
    links.mark();
  };
  control.onDraw(draw);
  drawIn(box, (w) => {
    width = w;
    draw();
  });
  svg.on('keydown', () => {
    const f = control.keys[d3.event.key];
    if (!f || d3.event.ctrlKey || d3.event.metaKey) return;
    d3.event.preventDefault();
    f();
  });
  svg.node().addEventListener('wheel', (e) => {
    if (!e.ctrlKey) return;
    e.preventDefault();
    control.zoom(e.deltaY > 0 ? 1.3 : 1 / 1.3, x.invert(e.offsetX));
  }, {passive: false});
}

function drawLanes(svg, x, left, m, lanes, view) {
  let y = 2;
  lanes.forEach((lane) => {
    const h = lane.height, key = lane.kind === WORK ? 'u' + lane.unit : 'm' + lane.level;
    svg.append('rect')
      .attr({class: 'bar-lane', x: left, y, width: x.range()[1] - left, height: h})
      .style('pointer-events', 'none');
    link(
      svg.append('text')
        .attr({x: left - 6, y: y + 13, 'text-anchor': 'end'})
        .text(cut(lane.name, left < 100 ? 11 : 17)),
      key, key)
      .append('title')
      .text(lane.name);
    barsOf(lane.own, x, view).forEach((b) => drawBar(svg, b, y + b.i.top, b.i.height, m, lane));
    y += h + 6;
  });
  return y;
}

function drawBar(svg, b, y, h, m, lane) {
  const op = opOf(m, b.i.node), g = link(svg.append('g'), 'n' + b.i.node, 'n' + b.i.node),
        o = op && m.report.ops.find((p) => p.name === op);
  g.append('rect').attr({
    class: 'interval',
    x: b.a,
    y,
    width: b.b - b.a,
    height: h,
    fill: op ? m.colour(op) : '#8a94a3',
    'fill-opacity': b.n > 1 ? 0.65 : 0.95
  });
  const what = lane.kind === WORK ? 'points' : 'words';
  g.append('title').text(
    lane.name + ': ' + (op || m.tree[b.i.node].head + ' (line ' + m.tree[b.i.node].line + ')') + '\n' + real(b.i.begin)
    + ' to ' + real(b.end) + ' cycles' + (b.n > 1 ? ', ' + b.n + ' runs' : '') + '\n' + real(b.words) + ' ' + what
    + (lane.kind === WORK && o ? '\n' + real(o.units_used) + ' of ' + real(m.report.compute[lane.unit].machine.units) + ' units' : ''));
  const name = op || m.tree[b.i.node].head;
  if (b.n === 1 && h > 14 && b.b - b.a > 8 * name.length + 6)
    g.append('text')
      .attr({class: 'inside', x: b.a + 4, y: y + 13})
      .style('fill', inkOn(op ? m.colour(op) : '#8a94a3'))
      .text(name);
}

/* ---- what memories hold ---- */
/* Steps of what one memory holds of each tensor, stacked: [{tensor, at: [[cycle, from, to], ...]}]. */
function stackHeld(own) {
  const moments = Array.from(new Set(own.flatMap((i) => [i.begin, i.end]))).sort((a, b) => a - b);
  const index = new Map(moments.map((t, k) => [t, k])), base = moments.map(() => 0);
  const tensors = Array.from(new Set(own.map((i) => i.tensor))).sort((a, b) => a - b);
  return tensors.map((tensor) => {
    const change = moments.map(() => 0);
    own.filter((i) => i.tensor === tensor).forEach((i) => {
      change[index.get(i.begin)] += i.words;
      change[index.get(i.end)] -= i.words;
    });
    let sum = 0;
    const at = moments.map((t, k) => {
      sum += change[k];
      const held = sum > 1e-6 ? sum : 0, from = base[k];
      base[k] += held;
      return [t, from, base[k]];
    });
    return {tensor, at};
  });
}

function showHeld(parent, m, holds, control, links) {
  const c = card(
    parent, 'held', 'What each memory holds',
    'Words in one instance, by tensor, over the cycles of the timeline; dashed: the capacity.');
  const legend = add(c, 'div', 'buttons');
  const levels = m.report.levels.map((l, i) => ({l, i, own: holds.filter((h) => h.level === i && h.words > 0)}))
                   .filter((x) => x.own.length);
  const seen = new Set(levels.flatMap((x) => x.own.map((h) => h.tensor)));
  seen.forEach((z) => {
    withSwatch(
      m.colour(m.tensors[z].name), m.tensors[z].name)(link(add(legend, 'span', 'chip'), 't' + z, 't' + z, true));
  });
  const stacks = levels.map((x) => Object.assign(x, {stack: stackHeld(x.own)}));
  stacks.forEach((s) => (s.most = d3.max(s.stack[s.stack.length - 1].at, (p) => p[2])));
  timePicture(c, control, links, (svg, x, left) => {
    let y = 16;
    stacks.forEach((s) => {
      drawHeld(svg, x, left, y, 84, m, s, control.view);
      y += 84 + 34;
    });
    return y - 26;
  });
}

function drawHeld(svg, x, left, top, height, m, s, view) {
  const cap = s.l.capacity_words, near = cap !== null && cap <= 4 * s.most;
  const y = d3.scale.linear().domain([0, (near ? Math.max(cap, s.most) : s.most) * 1.08]).range([top + height, top]);
  const say = cap === null ? 'no limit' :
    near                   ? 'capacity ' + real(cap) :
                             'capacity ' + real(cap) + ', above the picture';
  link(
    svg.append('text').attr({x: left, y: top - 4}).style('font-weight', 600).text(s.l.name + ' (words): ' + say),
    'm' + s.i, 'm' + s.i);
  s.stack.forEach((t) => {
    const up = [], down = [];
    t.at.forEach((p, k) => {
      const next = k + 1 < t.at.length ? t.at[k + 1][0] : p[0];
      if (next < view[0] || p[0] > view[1]) return;
      const a = Math.max(x.range()[0], x(p[0])), b = Math.min(x.range()[1], x(next));
      up.push([a, y(p[2])], [b, y(p[2])]);
      down.push([a, y(p[1])], [b, y(p[1])]);
    });
    if (!up.length) return;
    link(
      svg.append('path').attr({
        class: 'held-area',
        d: 'M' + up.concat(down.reverse()).map((p) => p[0].toFixed(1) + ' ' + p[1].toFixed(1)).join('L') + 'Z',
        fill: m.colour(m.tensors[t.tensor].name)
      }),
      't' + t.tensor, 't' + t.tensor)
      .append('title')
      .text(m.tensors[t.tensor].name + ' in ' + s.l.name);
  });
  if (near) svg.append('line').attr({class: 'limit', x1: left, x2: x.range()[1], y1: y(cap), y2: y(cap)});
  axis(svg.append('g').attr('transform', 'translate(' + left + ',0)'), y, 'left', 3);
}
