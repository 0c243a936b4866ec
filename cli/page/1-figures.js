/* Figures as the command line prints them (cli/text.c), and elements of a page. */

const decimals = (v) => (v < 9.9995 ? 3 : v < 99.995 ? 2 : 1);

/* 9999, 65.54k, 1.049M */
function real(v) {
  if (v === null || v === undefined || !isFinite(v)) return '-';
  if (v < 9999.5) return String(Number(v.toPrecision(4)));
  let k = 0;
  for (; v >= 999.95 && k < 6; k++) v /= 1000;
  return v.toFixed(decimals(v)) + ' kMGTPE'[k];
}

/* 209.7 uJ, from joules */
function si(v, unit) {
  if (v === null || v === undefined) return '-';
  if (!(v > 0) || !isFinite(v)) return v + ' ' + unit;
  const prefix = ['a', 'f', 'p', 'n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];
  let k = 0;
  for (v *= 1e18; v >= 999.95 && k < 12; k++) v /= 1000;
  return v.toFixed(decimals(v)) + ' ' + prefix[k] + unit;
}

function percent(part, of) {
  if (!(of > 0)) return '-';
  const p = (100 * part) / of;
  return p.toFixed(p > 0 && p < 0.95 ? 1 : 0) + ' %';
}

const times = (value, bound) => (bound > 0 ? (value / bound).toFixed(2) + ' x' : '-');
const joules = (pj) => (pj === null ? '-' : si(pj * 1e-12, 'J'));

/* Figures of a column of results by its name, with their unit. */
function ofColumn(name, v) {
  if (v === null || isNaN(v)) return '-';
  if (/energy_pj$/.test(name)) return joules(v);
  if (/seconds$/.test(name)) return si(v, 's');
  if (/edp$/.test(name)) return si(v * 1e-12, 'J s');
  if (/area_um2$/.test(name)) return real(v * 1e-6) + ' mm2';
  return real(v);
}
const UNITS = {
  cycles: 'cycles',
  seconds: 's',
  energy_pj: 'J',
  edp: 'J s',
  traffic_words: 'words',
  area_um2: 'mm2'
};
/* "energy_pj" as an axis calls it: energy (J); params keep the name that the user gave them. */
function columnTitle(name) {
  if (!UNITS[name]) return name;
  const plain = name.replace(/_(pj|um2|words)$/, '').replace(/_/g, ' ');
  return UNITS[name] !== plain ? plain + ' (' + UNITS[name] + ')' : plain;
}

/* An element below `parent` (a D3 selection), with a class and a text, which is never read as HTML. */
function add(parent, tag, cls, text) {
  const e = parent.append(tag);
  if (cls) e.attr('class', cls);
  if (text !== undefined && text !== null) e.text(text);
  return e;
}

function card(parent, cls, title, note) {
  const c = add(parent, 'section', 'card ' + cls);
  add(c, 'h2', null, title);
  if (note) add(c, 'p', 'note', note);
  return c;
}

/* A row of a table: cells are texts, or functions that fill their cell; right: which stand at the right. */
function row(table, tag, cells, right) {
  const r = table.append('tr');
  cells.forEach((c, i) => {
    const cell = add(r, tag, right && right[i] ? 'right' : null, typeof c === 'function' ? null : c);
    if (typeof c === 'function') c(cell);
  });
  return r;
}

/* A name behind a patch of its colour. */
const withSwatch = (colour, name) => (cell) => {
  add(cell.classed('name', true), 'span', 'swatch').style('background', colour);
  add(cell, 'span', null, name);
};

/* A text and below it a bar of that share of its width. */
const withBar = (text, share, bad) => (cell) => {
  add(cell, 'span', null, text);
  add(cell, 'span', 'bar' + (bad ? ' bad' : ''))
    .append('i')
    .style('width', 100 * Math.min(1, Math.max(0, share || 0)) + '%');
};

/* Colours that the colour-blind tell apart (Okabe and Ito), then the same, darker; names stand beside them everywhere. */
const HUES = ['#E69F00', '#56B4E9', '#009E73', '#F0E442', '#0072B2', '#D55E00', '#CC79A7', '#999999'];
function colours(names) {
  const of = {};
  names.forEach((n) => {
    const k = Object.keys(of).length;
    if (!Object.hasOwn(of, n)) of[n] = k % 16 < 8 ? HUES[k % 8] : String(d3.rgb(HUES[k % 8]).darker(1.3));
  });
  return (n) => (Object.hasOwn(of, n) ? of[n] : '#8a94a3');
}
/* What can be read on a colour. */
const inkOn = (colour) => (d3.lab(colour).l > 52 ? '#10151c' : '#ffffff');
/* Memories from dark, the outermost, to light; units are ochre. */
const memoryColour = (level, n) => 'hsl(213,48%,' + (34 + (38 * level) / Math.max(1, n - 1)) + '%)';
const UNIT_COLOUR = '#b8860b';

/* Draws now and whenever the width of the element changes. */
function drawIn(element, draw) {
  let width = 0;
  const again = () => {
    const w = element.node().clientWidth;
    if (w && w !== width) draw((width = w));
  };
  new ResizeObserver(again).observe(element.node());
  again();
}

/* An axis with readable figures below or left of a picture. */
function axis(g, scale, orient, ticks, format) {
  const a = d3.svg.axis().scale(scale).orient(orient).tickFormat(format || real).tickSize(4, 0);
  if (Array.isArray(ticks))
    a.tickValues(ticks);
  else
    a.ticks(ticks);
  return g.attr('class', 'axis').call(a);
}

/* Powers of ten within a range, at most `most`. */
function decades(lo, hi, most) {
  let all = [];
  for (let e = Math.ceil(Math.log10(lo) - 1e-9); Math.pow(10, e) <= hi * 1.0001; e++) all.push(Math.pow(10, e));
  const step = Math.ceil(all.length / most);
  return all.filter((v, i) => i % step === 0);
}
