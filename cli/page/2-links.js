/* What belongs together in the views of one mapping.  Every element that shows something names it in data-keys, and
 * what it focuses on in data-focus: n5 (node 5), l5.2 (its loop 2), e3 (edge 3: a tensor between two memories), c7 (entry 7
 * of "why"), t4 (tensor 4), m1 (memory 1), u0 (unit 0), f3:12 (line 12 of file 3).  Hovering, focusing or clicking it lights
 * up all that is related; a click, or Enter, keeps it so until the next. */

function Links(m, root) {
  const {tree, edges, links, report} = m;
  const why = report.why || [];
  const tensorNo = {};
  m.tensors.forEach((t, i) => (tensorNo[t.name] = i));
  const edgeOf = [];
  edges.forEach((e, i) => e.causes.forEach((c) => (edgeOf[c] = i)));
  let kept = null;

  const lineKey = (node, line) => 'f' + tree[node].file + ':' + line;
  function withNode(all, i) {
    all.add('n' + i);
    all.add(lineKey(i, tree[i].line));
  }
  function withLoop(all, i, slot) {
    if (i < 0) return;
    if (slot < 0) return withNode(all, i);
    all.add('l' + i + '.' + slot);
    all.add(lineKey(i, tree[i].loops[slot].line));
  }
  /* An entry of "why": its edge, tensor, node and loop. */
  function withCause(all, c) {
    all.add('c' + c);
    all.add('e' + edgeOf[c]);
    all.add('t' + tensorNo[why[c].tensor]);
    withNode(all, links[c][0]);
    withLoop(all, links[c][1], links[c][2]);
  }
  const causesWhere = (test) => d3.range(links.length).filter(test);
  const within = (i, node) => i >= node && i < tree[node].end;

  const causesOf = {
    n: (i) => causesWhere(
      (c) =>
        (tree[i].kind === 'scope' ? within(links[c][0], i) :
                                    links[c][0] === i || (links[c][1] === i && links[c][2] < 0))),
    l: (i, slot) => causesWhere((c) => links[c][1] === i && links[c][2] === slot),
    e: (i) => edges[i].causes,
    c: (i) => [i],
    t: (i) => causesWhere((c) => tensorNo[why[c].tensor] === i),
    m: (i) => edges.reduce((all, e) => (e.from === i || e.into === i ? all.concat(e.causes) : all), []),
    u: () => [],
  };

  /* The letter and numbers of what is focused on: l5.2 is of loops, node 5, loop 2. */
  function parts(key) {
    const [a, b] = key.slice(1).split('.').map(Number);
    return {kind: key[0], a, b};
  }

  function related(key) {
    const {kind, a, b} = parts(key), all = new Set([key]);
    causesOf[kind](a, b).forEach((c) => withCause(all, c));
    if (kind === 'n') d3.range(a, tree[a].end).forEach((i) => withNode(all, i));
    if (kind === 'n' && tree[a].level >= 0) all.add('m' + tree[a].level);
    if (kind === 'l') all.add(lineKey(a, tree[a].loops[b].line));
    if (kind === 'm') tree.forEach((n, i) => n.level === a && withNode(all, i));
    if (kind === 'u')
      tree.forEach(
        (n, i) =>
          n.op && report.ops.some((o) => o.name === n.op && o.unit === report.compute[a].name) && withNode(all, i));
    if (kind === 'n' && tree[a].op)
      report.compute.forEach(
        (u, i) => report.ops.some((o) => o.name === tree[a].op && o.unit === u.name) && all.add('u' + i));
    return all;
  }

  /* What the line at the bottom says: the thing, and its traffic, the largest first. */
  function says(key) {
    const {kind, a, b} = parts(key);
    const head = {
      n: () => report.nodes[a].text + ' (line ' + tree[a].line + ')',
      l: () => 'loop ' + tree[a].loops[b].text + ' of ' + tree[a].head + ' (line ' + tree[a].loops[b].line + ')',
      e: () => edges[a].tensor + ' ' + edgeName(edges[a]),
      c: () => why[a].tensor + ' ' + edgeName(edges[edgeOf[a]]),
      t: () => 'tensor ' + m.tensors[a].name,
      m: () => report.levels[a].name,
      u: () => report.compute[a].name,
    }[kind]();
    const rows = causesOf[kind](a, b).slice().sort((x, y) => wordsOf(why[y]) - wordsOf(why[x]));
    const list = rows.slice(0, 4).map(
      (c) => why[c].tensor + ' ' + edgeName(edges[edgeOf[c]]) + ' ' + real(wordsOf(why[c])) + ' words ('
        + times(why[c].passes, 1) + '): ' + why[c].text);
    if (rows.length > 4) list.push('and ' + (rows.length - 4) + ' more');
    const none = {
      l: 'nothing passes again because of it',
      n: tree[a] && tree[a].kind === 'op' ? '' : 'moves nothing itself'
    }[kind];
    return {head, text: list.length ? list.join('; ') : none || ''};
  }
  function edgeName(e) {
    const to = e.into < 0 ? 'units' : report.levels[e.into].name;
    return report.levels[e.from].name + (e.down ? ' -> ' : ' <- ') + to;
  }

  let lit = new Set();
  /* Marks the elements there are now; whoever draws anew calls it again. */
  function mark() {
    root.classed('focused', lit.size > 0);
    root.selectAll('[data-keys]')
      .each(function() { this.classList.toggle('lit', this.dataset.keys.split(' ').some((k) => lit.has(k))); });
  }
  function show(key) {
    lit = key ? related(key) : new Set();
    mark();
    const bar = d3.select('#says');
    bar.style('display', key ? null : 'none').text('');
    if (!key) return;
    const s = says(key);
    add(bar, 'b', null, s.head + (s.text ? ': ' : ''));
    add(bar, 'span', null, s.text);
    showLine();
  }
  /* Scrolls the shown file, and nothing else, to the first line that is lit. */
  function showLine() {
    const line = root.node().querySelector('.file span.lit');
    if (!line) return;
    const box = line.parentNode, at = line.offsetTop;
    if (at < box.scrollTop || at > box.scrollTop + box.clientHeight - 20)
      box.scrollTop = Math.max(0, at - box.clientHeight / 2);
  }
  const target = () => {
    const e = d3.event.target.closest && d3.event.target.closest('[data-focus]');
    return e ? e.dataset.focus : null;
  };
  const keep = (key) => show((kept = key === kept ? null : key));
  root.on('mouseover.links', () => show(target() || kept));
  root.on('mouseleave.links', () => show(kept));
  root.on('focusin.links', () => target() && show(target()));
  root.on('focusout.links', () => show(kept));
  root.on('click.links', () => target() && keep(target()));
  root.on('keydown.links', () => {
    if (d3.event.key === 'Escape') show((kept = null));
    if (d3.event.key === 'Enter' && target()) keep(target());
  });
  return {mark, edgeName, lineKey, tensorNo, causesOf};
}

const wordsOf = (w) => w.read + w.update;

/* Names what an element shows, and makes it one to hover over; `stop`: the Tab key stops there. */
function link(e, keys, focus, stop) {
  e.attr('data-keys', keys).attr('data-focus', focus);
  if (stop) e.attr('tabindex', 0);
  return e;
}
