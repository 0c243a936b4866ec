/* The roofline: what each memory can feed the units, and where the mapping stands; all points are in the data. */

function showRoofline(parent, m) {
  const c = card(
    parent, 'slim roofline', 'Roofline',
    'Each memory has a roof; the mapping is a dot for each, as far below as another limits it.');
  const series = m.roofline, r = m.report;
  if (!series) {
    add(c, 'p', 'note', 'No memory of this machine has a limited bandwidth.');
    return;
  }
  const roofs =
          series.filter((s) => s.roof && s.memory < r.levels.length && s.name.startsWith(r.levels[s.memory].name)),
        dots = series.filter((s) => !s.roof);
  const units = series.filter((s) => s.roof && !roofs.includes(s)),
        bound = r.bounds.cycles > 0 ? r.points / r.bounds.cycles : null;
  const box = add(c, 'div');
  drawIn(box, (width) => {
    box.select('svg').remove();
    const left = 58, height = 270, all = series.flatMap((s) => s.at);
    const xs = d3.extent(all, (p) => p[0]), ys = d3.extent(all, (p) => p[1]);
    const x = d3.scale.log().domain(xs).range([left, width - 12]);
    const y = d3.scale.log().domain([Math.max(ys[0], ys[1] / 1e5), ys[1] * 3]).range([height, 14]).clamp(true);
    const svg = box.append('svg').attr('height', height + 46);
    axis(
      svg.append('g').attr('transform', 'translate(0,' + height + ')'), x, 'bottom',
      decades(xs[0], xs[1], Math.max(3, Math.floor(width / 90))));
    axis(
      svg.append('g').attr('transform', 'translate(' + left + ',0)'), y, 'left',
      decades(y.domain()[0], y.domain()[1], 7));
    svg.append('text')
      .attr({x: width - 12, y: height + 38, 'text-anchor': 'end', class: 'faint'})
      .text('points a word at the memory');
    svg.append('text').attr({x: 4, y: 10, class: 'faint'}).text('points a cycle');
    const line = (s, colour, keys) =>
      svg.append('path')
        .attr({d: 'M' + s.at.map((p) => x(p[0]) + ' ' + y(p[1])).join('L'), fill: 'none', 'data-keys': keys})
        .style({stroke: colour, 'stroke-width': 2});
    units.forEach((s) => line(s, UNIT_COLOUR, 'peak'));
    roofs.forEach((s) => {
      const key = 'm' + s.memory;
      link(line(s, memoryColour(s.memory, r.levels.length), key), key, key);
    });
    labelled(
      svg, roofs.map((s) => ({
                       x: x(s.at[1][0]),
                       y: y(s.at[1][1]) - 8,
                       text: r.levels[s.memory].name + ' ridge ' + real(s.at[1][0]),
                       key: 'm' + s.memory
                     })),
      -13, width);
    if (bound) {
      svg.append('line')
        .attr({class: 'bound', x1: left, x2: width - 12, y1: y(bound), y2: y(bound)})
        .append('title')
        .text('in the cycles of the lower bound');
    }
    dots.forEach((s) => {
      const p = s.at[0], key = 'm' + s.memory;
      link(
        svg.append('circle')
          .attr({cx: x(p[0]), cy: y(p[1]), r: 5.5, fill: memoryColour(s.memory, r.levels.length)})
          .style({stroke: 'var(--ink)'}),
        key, key, true)
        .append('title')
        .text(r.levels[s.memory].name + ': ' + real(p[0]) + ' points a word, ' + real(p[1]) + ' points a cycle');
    });
    labelled(
      svg,
      dots.map((s) => ({x: x(s.at[0][0]), y: y(s.at[0][1]) + 18, text: r.levels[s.memory].name, key: 'm' + s.memory})),
      13, width);
  });
  const t = add(add(c, 'div', 'scroll'), 'table');
  row(t, 'th', ['', 'points a word', 'ridge'], [0, 1, 1]);
  roofs.forEach((s) => {
    const dot = dots.find((d) => d.memory === s.memory), key = 'm' + s.memory;
    link(
      row(
        t, 'td',
        [withSwatch(memoryColour(s.memory, r.levels.length), s.name), dot ? real(dot.at[0][0]) : '-', real(s.at[1][0])],
        [0, 1, 1]),
      key, key);
  });
  units.forEach((s) => row(t, 'td', [withSwatch(UNIT_COLOUR, s.name), '', ''], [0, 1, 1]));
  add(
    c, 'p', 'note',
    'The mapping: ' + real(r.points / r.cycles) + ' points a cycle'
      + (bound ? '; dashed: ' + real(bound) + ', in the cycles of the bound (' + times(bound, r.points / r.cycles) + ').' : '.'));
}

/* Texts beside marks: one that would lie over another moves by `step`. */
function labelled(svg, all, step, width) {
  const placed = [];
  all.slice().sort((a, b) => a.x - b.x).forEach((l) => {
    const half = 3.4 * l.text.length, mid = Math.max(62 + half, Math.min(width - 14 - half, l.x));
    let y = l.y;
    while (placed.some((p) => Math.abs(p.y - y) < 12 && Math.abs(p.mid - mid) < p.half + half + 4)) y += step;
    placed.push({mid, half, y});
    svg.append('text')
      .attr({x: mid, y, 'text-anchor': 'middle', 'data-keys': l.key})
      .style('font-size', '11px')
      .text(l.text);
  });
}
