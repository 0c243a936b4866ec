/* Pages of two mappings, and of a network's plan. */

/* ---- diff ---- */
function showDiff(page, data) {
  const d = data.diff;
  const side = (s) => s.file + ' (' + s.workload + ' on ' + s.architecture + ')' + (s.feasible ? '' : ', DOES NOT FIT');
  header(page, 'A and B', 'A: ' + side(d.a) + '\nB: ' + side(d.b));
  const grid = add(page, 'div', 'grid');
  showTerms(grid, d.terms, tableOf(data.rows).rows.map((r) => r.why));
  const c = card(grid, '', 'The mappings'), buttons = add(c, 'div', 'buttons'), below = add(page, 'div');
  below.style('margin-top', '14px');
  const show = (s) => {
    buttons.selectAll('button').attr('aria-pressed', (b) => b === s);
    below.selectAll('*').remove();
    showMapping(add(below, 'div'), data[s]);
  };
  buttons.selectAll('button')
    .data(['a', 'b'])
    .enter()
    .append('button')
    .text((s) => s.toUpperCase() + ': ' + d[s].file.replace(/.*\//, ''))
    .on('click', show);
  show('a');
  terminal(page, data.terminal);
}

const TERMS_MOST = 150;
const KINDS = {
  total: 'totals',
  cycles: 'busy cycles',
  words: 'words',
  energy_pj: 'energy',
  used: 'in use',
  held_words: 'words held'
};

/* A figure of a term, by its kind or name. */
function ofTerm(t, v) {
  if (t.name === 'compute_utilization') return percent(v, 1);
  return ofColumn(t.kind === 'total' ? t.name : t.kind, v);
}

/* reasons: one for each term, or "". */
function showTerms(parent, terms, reasons) {
  const c = card(
    parent, 'terms', 'What differs',
    'The larger difference of a kind first. Bars: B over A, to the left where B has less; cut at a factor of 10; hatched: one of them has none.');
  const all = terms.map((t, i) => Object.assign({}, t, {why: reasons[i]}))
                .filter((t) => t.a !== t.b && (!t.counter || t.counter === 'read' || t.counter === 'update'));
  const table = add(add(c, 'div', 'scroll'), 'table'), right = [0, 1, 1, 1, 0, 0];
  row(table, 'th', ['', 'A', 'B', 'B / A', '', 'because'], right);
  let kind = null;
  all.slice(0, TERMS_MOST).forEach((t) => {
    if (t.kind !== kind) row(table, 'th', [KINDS[(kind = t.kind)] || kind, '', '', '', '', '']);
    const name = t.name.replace('energy_pj', 'energy').replace(/_/g, ' ');
    row(
      table, 'td',
      [
        [name, t.tensor, t.counter].filter(Boolean).join(' '), ofTerm(t, t.a), ofTerm(t, t.b),
        t.a > 0 && t.b > 0 ? times(t.b, t.a) : (t.a > 0 ? 'gone' : 'new'), ratioBar(t), t.why || ''
      ],
      right)
      .attr('class', 'term');
  });
  if (all.length > TERMS_MOST)
    add(c, 'p', 'note', 'And ' + real(all.length - TERMS_MOST) + ' more: --json and --csv have all.');
}

const ratioBar = (t) => (cell) => {
  const both = t.a > 0 && t.b > 0, r = both ? Math.log10(t.b / t.a) : (t.a > 0 ? -1 : 1);
  const half = Math.min(1, Math.abs(r)) * 50, colour = r < 0 ? '#0072B2' : '#E69F00';
  cell.style('min-width', '110px');
  const bar = add(cell, 'span', 'bar').style({height: '9px', position: 'relative', 'margin-top': '5px'});
  bar.append('i').style({
    position: 'absolute',
    left: (r < 0 ? 50 - half : 50) + '%',
    width: half + '%',
    background: both ? colour : 'repeating-linear-gradient(135deg,' + colour + ' 0 3px,transparent 3px 6px)'
  });
};

/* ---- plan ---- */
function showPlan(page, data) {
  const p = data.plan, groups = p.groups;
  header(
    page, p.workload + ' on ' + p.architecture,
    real(groups.length) + ' groups'
      + (p.search ? ', for ' + p.search.objective + (p.search.exact ? ', the best cut of those considered' : '') : '')
      + '.');
  const f = add(page, 'div', 'figures');
  figure(
    f, 'cycles', real(p.cycles),
    'bound ' + real(p.bounds.cycles) + ': ' + times(p.cycles, p.bounds.cycles) + ', ' + si(p.seconds, 's'),
    p.bounds.cycles / p.cycles);
  figure(
    f, 'energy', joules(p.energy_pj),
    'bound ' + joules(p.bounds.energy_pj) + ': ' + times(p.energy_pj, p.bounds.energy_pj),
    p.bounds.energy_pj / p.energy_pj);
  figure(
    f, 'outermost words', real(p.traffic_words),
    'bound ' + real(p.bounds.traffic_words) + ': ' + times(p.traffic_words, p.bounds.traffic_words),
    p.bounds.traffic_words / p.traffic_words);
  figure(
    f, 'arena', real(p.arena.bytes) + ' bytes', 'least: ' + real(p.arena.least),
    p.arena.bytes ? p.arena.least / p.arena.bytes : 1);
  const grid = add(page, 'div', 'grid');
  const lives = data.passing.map((t, i) => Object.assign({no: i}, t)), light = planLinks(grid, lives);
  showGroups(grid, p, lives);
  showArena(grid, p, lives, light);
  terminal(page, data.terminal);
}

/* A group (g3) lights up with the tensors (z1) that live while it runs, and a tensor with its groups. */
function planLinks(root, lives) {
  let lit = new Set(), kept = null;
  const related = (key) => {
    const n = Number(key.slice(1)), all = new Set([key]);
    if (key[0] === 'g')
      lives.forEach((t) => t.first <= n && n <= t.last && all.add('z' + t.no));
    else
      [lives[n].first, lives[n].last].forEach((g) => all.add('g' + g));
    return all;
  };
  const mark = () => {
    root.classed('focused', lit.size > 0)
      .selectAll('[data-keys]')
      .each(function() { this.classList.toggle('lit', lit.has(this.dataset.keys)); });
  };
  const show = (key) => {
    lit = key ? related(key) : new Set();
    mark();
  };
  const target = () => {
    const e = d3.event.target.closest('[data-focus]');
    return e && e.dataset.focus;
  };
  root.on('mouseover', () => show(target() || kept)).on('mouseleave', () => show(kept));
  root.on('focusin', () => show(target() || kept)).on('focusout', () => show(kept));
  root.on('click', () => target() && show((kept = target() === kept ? null : target())));
  return mark;
}

function showGroups(parent, p, lives) {
  const c = card(
    parent, 'groups', 'Groups, in the order in which they run',
    'Bars: cycles as a share of the longest group\'s. A click opens the mapping.');
  const kinds = Array.from(new Set(p.groups.map((g) => g.bottleneck))), colour = colours(kinds);
  const legend = add(c, 'div', 'buttons');
  kinds.forEach((k) => {
    withSwatch(colour(k), k)(add(legend, 'span', 'chip'));
  });
  const t = add(add(c, 'div', 'scroll'), 'table'), most = d3.max(p.groups, (g) => g.cycles);
  row(t, 'th', ['', 'ops', 'cycles', 'of its bound', 'energy'], [1, 0, 1, 1, 1]);
  p.groups.forEach((g, i) => {
    const ops =
      g.ops.length > 6 ? g.ops.slice(0, 5).join(', ') + ' and ' + (g.ops.length - 5) + ' more' : g.ops.join(', ');
    let open = null;
    const r = row(
      t, 'td',
      [
        String(i + 1), ops + (g.like !== i ? ' (like ' + (g.like + 1) + ')' : ''),
        (cell) => {
          withBar(real(g.cycles), g.cycles / most)(cell);
          cell.select('.bar i').style('background', colour(g.bottleneck));
          cell.attr('title', g.bottleneck);
        },
        times(g.cycles, g.bounds.cycles), joules(g.energy_pj)
      ],
      [1, 0, 1, 1, 1]);
    link(r, 'g' + i, 'g' + i, true).attr('class', 'group');
    const toggle = () => {
      if (open) {
        open.remove();
        open = null;
        return;
      }
      open = t.insert('tr', () => r.node().nextSibling);
      add(open.append('td').attr('colspan', 5), 'pre', 'mapping', g.mapping);
    };
    r.on('click', toggle).on('keydown', () => d3.event.key === 'Enter' && toggle());
  });
}

function showArena(parent, p, lives, mark) {
  const c = card(
    parent, '', 'What passes between groups',
    'The arena: a box for each tensor, from the group that makes it to the last that reads it.');
  if (!lives.length) {
    add(c, 'p', 'note', 'Nothing passes between groups.');
    return;
  }
  const box = add(c, 'div');
  drawIn(box, (width) => {
    box.select('svg').remove();
    const left = 64, height = 300, n = p.groups.length, svg = box.append('svg').attr('height', height + 42);
    const x = d3.scale.linear().domain([0.5, n + 0.5]).range([left, width - 12]),
          y = d3.scale.linear().domain([0, p.arena.bytes]).range([height, 8]);
    axis(
      svg.append('g').attr('transform', 'translate(0,' + height + ')'), x, 'bottom',
      Math.min(n, Math.floor(width / 60)), (v) => (v === Math.round(v) ? String(v) : ''));
    axis(svg.append('g').attr('transform', 'translate(' + left + ',0)'), y, 'left', 6);
    svg.append('text').attr({x: width - 12, y: height + 37, 'text-anchor': 'end', class: 'faint'}).text('group');
    svg.append('text').attr({x: left + 6, y: 12, class: 'faint'}).text('bytes of the arena');
    lives.forEach((t) => {
      const a = x(t.first + 0.55), b = x(t.last + 1.45), g = link(svg.append('g'), 'z' + t.no, 'z' + t.no, true);
      g.append('rect')
        .attr({
          x: a,
          y: y(t.offset + t.bytes),
          width: Math.max(1, b - a),
          height: Math.max(1, y(t.offset) - y(t.offset + t.bytes)),
          fill: HUES[t.no % 7],
          'fill-opacity': 0.75
        })
        .append('title')
        .text(t.name + ': ' + real(t.bytes) + ' bytes, groups ' + (t.first + 1) + ' to ' + (t.last + 1));
      if (b - a > 7 * t.name.length + 8 && y(t.offset) - y(t.offset + t.bytes) > 15)
        g.append('text')
          .attr({class: 'inside', x: a + 5, y: y(t.offset + t.bytes / 2) + 4})
          .style('fill', inkOn(HUES[t.no % 7]))
          .text(t.name);
    });
    mark();
  });
}
