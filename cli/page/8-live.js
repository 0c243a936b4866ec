/* The model in the page (`eval --html PAGE --live`): files are edited, and all is counted and drawn anew. */

/* Calls the module that stands in the page: an object of files and settings in, what cli/page/live/live.c says of it out. */
async function liveModel() {
  const packed = Uint8Array.from(atob(document.getElementById('live').textContent.trim()), (c) => c.charCodeAt(0));
  const code =
    await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'))).arrayBuffer();
  let memory = null;
  const cells = () => new DataView(memory.buffer);
  const system = {
    clock_time_get: (clock, precision, at) =>
      cells().setBigUint64(at, BigInt(Math.round(performance.now() * 1e6)), true) || 0,
    environ_sizes_get: (n, bytes) => cells().setUint32(n, 0, true) || cells().setUint32(bytes, 0, true) || 0,
    environ_get: () => 0,
  };
  const imports = {wasi_snapshot_preview1: system, env: {emscripten_notify_memory_growth: () => undefined}};
  const exported = (await WebAssembly.instantiate(code, imports)).instance.exports;
  memory = exported.memory;
  if (exported._initialize) exported._initialize();
  return (inputs) => {
    const text = new TextEncoder().encode(JSON.stringify(inputs) + '\0'), at = exported.malloc(text.length);
    new Uint8Array(memory.buffer, at, text.length).set(text);
    const said = exported.live_eval(at), bytes = new Uint8Array(memory.buffer), end = bytes.indexOf(0, said);
    exported.free(at);
    const answer = JSON.parse(new TextDecoder().decode(bytes.subarray(said, end)));
    exported.free(said);
    return answer;
  };
}

/* The number in `text` that position `at` touches: where it begins and ends; null: none. */
function numberAt(text, at) {
  const number = /\d+(\.\d+)?/g;
  for (let m; (m = number.exec(text)) && m.index <= at;)
    if (at <= m.index + m[0].length) return {begin: m.index, end: m.index + m[0].length, value: Number(m[0])};
  return null;
}

/* The card in which files are edited; `draw` shows a mapping that was counted. */
function showLive(parent, first, set, draw) {
  const c = card(
    parent, 'live', 'Edit',
    'Change a file, and everything below is counted anew, here in the page. With the cursor on a number, the slider changes it.');
  const files = first.files.map((f) => ({name: f.name, text: f.text})), tabs = add(c, 'div', 'buttons'),
        area = add(c, 'textarea').attr({spellcheck: 'false', 'aria-label': 'the text of the file'}),
        row = add(c, 'div', 'buttons'),
        slider = add(row, 'input').attr({type: 'range', 'aria-label': 'the number at the cursor'}),
        shown = add(row, 'span', 'faint'), back = add(row, 'button', 'back', 'as it was'),
        says = add(c, 'p', 'note').attr('aria-live', 'polite'), faults = add(c, 'pre', 'faults');
  let current = files.find((f, i) => first.files[i].file === first.tree[0].file) || files[0], number = null,
      model = null, waiting = false;

  function count() {
    waiting = false;
    const begun = performance.now(), answer = model({files, set}), ms = performance.now() - begun;
    faults.text(answer.says || '');
    if (!answer.mapping) return says.text('This does not count; below stands the last that did.');
    const r = answer.mapping.report, was = first.report;
    says.text(
      real(r.cycles) + ' cycles, ' + times(r.cycles, was.cycles) + ' those of the file; ' + joules(r.energy_pj) + ', '
      + times(r.energy_pj, was.energy_pj) + '; ' + real(answer.mapping.traffic_words) + ' words of ' + r.levels[0].name
      + ', ' + times(answer.mapping.traffic_words, first.traffic_words) + '. Counted in ' + ms.toFixed(1) + ' ms.');
    const y = window.scrollY;
    draw(answer.mapping);
    window.scrollTo(0, y);
  }
  function changed() {
    current.text = area.property('value');
    if (model && !waiting) waiting = !!requestAnimationFrame(count);
  }
  function atCursor() {
    number = numberAt(area.property('value'), area.node().selectionStart);
    slider.property('disabled', !number);
    shown.text(number ? number.value : 'no number at the cursor');
    if (!number) return;
    const whole = Number.isInteger(number.value);
    slider.attr(
      {min: whole ? 1 : number.value / 10, max: Math.max(4 * number.value, 16), step: whole ? 1 : number.value / 50});
    slider.property('value', number.value);
  }
  function slide() {
    const text = area.property('value'), value = String(Number(Number(slider.property('value')).toPrecision(6)));
    area.property('value', text.slice(0, number.begin) + value + text.slice(number.end));
    number.end = number.begin + value.length;
    shown.text(value);
    changed();
  }
  function open(file) {
    current = file;
    tabs.selectAll('button').attr('aria-pressed', (d) => d === file);
    area.property('value', file.text);
    const first = file.text.search(/(=|: )\d/); /* a loop's count, or a value */
    if (first >= 0) area.node().setSelectionRange(first + 2, first + 2);
    atCursor();
  }
  tabs.selectAll('button')
    .data(files)
    .enter()
    .append('button')
    .text((f) => f.name.replace(/.*\//, ''))
    .on('click', open);
  area.on('input', () => (atCursor(), changed()));
  ['click', 'keyup', 'select'].forEach((e) => area.on(e, atCursor));
  slider.on('input', slide);
  back.on('click', () => {
    files.forEach((f, i) => (f.text = first.files[i].text));
    open(current);
    changed();
  });
  open(current);
  if (first.files.some((f) => f.left_out)) return says.text('A file is too long to be edited here.');
  liveModel().then((m) => {
    model = m;
    count();
  }, (e) => says.text('The model does not run in this browser: ' + e.message));
}
