"""Style and script of the page. Colours differ in lightness, lines also in dashes: neither hue nor screen decides."""

STYLE = """
:root{--paper:#fff;--ink:#1b1f24;--soft:#57606a;--rule:#d8dee4;--card:#f6f8fa;--c0:#0550ae;--c1:#bc4c00;
--c2:#1a7f37;
--c3:#8250df;--c4:#cf222e;--focus:#0969da}
@media(prefers-color-scheme:dark){:root{--paper:#0d1117;--ink:#e6edf3;--soft:#9da7b3;--rule:#30363d;
--card:#161b22;--c0:#79c0ff;
--c1:#ffa657;--c2:#56d364;--c3:#d2a8ff;--c4:#ff7b72;--focus:#58a6ff}
}
*{box-sizing:border-box}
body{margin:0 auto;max-width:60rem;padding:1rem;background:var(--paper);color:var(--ink);
font:1rem/1.5 system-ui,sans-serif}
h1{font-size:1.5rem;overflow-wrap:anywhere}
h2{font-size:1.15rem;margin:2rem 0 .25rem}
p{margin:.25rem 0 .75rem;max-width:46rem}
.skip{position:absolute;left:-99rem}
.skip:focus{position:static}
:focus-visible{outline:3px solid var(--focus);outline-offset:2px}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(8.5rem,1fr));gap:.75rem;margin:0}
.card{background:var(--card);border:1px solid var(--rule);border-radius:.5rem;padding:.6rem .8rem}
dt{color:var(--soft);font-size:.85rem}
dd{margin:0;font-size:1.2rem;font-variant-numeric:tabular-nums}
.legend{list-style:none;display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;padding:0;margin:.25rem 0}
.swatch{width:28px;height:8px;margin-right:.4rem;vertical-align:middle}
.chart{margin:0;border:1px solid var(--rule);border-radius:.5rem;padding:.5rem}
.plot{display:block;width:100%;height:auto;touch-action:pan-y}
.narrow{display:none}
.unit,.now{color:var(--soft);font-size:.85rem;margin:0 .25rem;font-variant-numeric:tabular-nums}
.grid{stroke:var(--rule)}
.tick,.label{fill:var(--soft);font-size:12px}
.cursor{stroke:var(--soft);stroke-dasharray:3 3}
.line{fill:none;stroke-width:2.25;stroke-linejoin:round;stroke:var(--c0)}
.look1{stroke:var(--c1);stroke-dasharray:8 4}
.look2{stroke:var(--c2);stroke-dasharray:2 4;stroke-width:3}
.look3{stroke:var(--c3)}
.look4{stroke:var(--c4);stroke-dasharray:12 4 2 4}
.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:.95rem}
th,td{text-align:left;padding:.35rem .6rem;border-bottom:1px solid var(--rule);vertical-align:top;
font-variant-numeric:tabular-nums}
thead th{color:var(--soft);font-weight:600}
summary{cursor:pointer;margin:.5rem 0;color:var(--soft)}
.bars{list-style:none;padding:0}
.bars li{display:grid;grid-template-columns:minmax(6rem,14rem) minmax(0,1fr) 6.25rem;gap:.75rem;align-items:center;
line-height:1.3;padding:.2rem 0}
.name{overflow-wrap:anywhere}
.bar{display:block;height:.8rem;border-radius:.2rem;background:var(--c0)}
.minus{background:var(--c1)}
.value{text-align:right;font-variant-numeric:tabular-nums}
.warn{border-left:4px solid var(--c4);padding-left:.75rem}
.notes{color:var(--soft);padding-left:1.2rem}
footer{color:var(--soft);margin:2rem 0;font-size:.85rem}
@media(max-width:38rem){.wide{display:none}
.narrow{display:block}
.bars li{grid-template-columns:7rem minmax(0,1fr) 6.25rem;gap:.5rem}
td,th{padding:.3rem .4rem}
}
@media(prefers-reduced-motion:no-preference){html{scroll-behavior:smooth}
}
"""

SCRIPT = """
'use strict';
for (const figure of document.querySelectorAll('.chart')) {
  const data = JSON.parse(figure.dataset.chart), now = figure.querySelector('.now');
  const plots = [...figure.querySelectorAll('.plot')];
  const xs = [...new Set(data.lines.flatMap(line => line.points.map(point => point[0])))].sort((a, b) => a - b);
  let at = xs.length - 1;
  const shown = value => Math.abs(value) >= 1000 || value === 0 ? value.toLocaleString('en', {maximumFractionDigits: 0})
    : value.toPrecision(4);
  const near = (points, x) => points.reduce((best, p) => Math.abs(p[0] - x) < Math.abs(best[0] - x) ? p : best);
  const show = place => {
    at = Math.max(0, Math.min(xs.length - 1, place));
    plots.forEach((plot, k) => {
      const [left, right, from, to] = data.frames[k], cursor = plot.querySelector('.cursor');
      const x = left + (xs[at] - from) / (to - from) * (right - left);
      cursor.setAttribute('x1', x); cursor.setAttribute('x2', x); cursor.setAttribute('visibility', 'visible');
    });
    now.textContent = data.xlabel + ' ' + shown(xs[at]) + ': '
      + data.lines.map(line => line.name + ' ' + shown(near(line.points, xs[at])[1])).join('; ');
  };
  plots.forEach((plot, k) => plot.addEventListener('pointermove', event => {
    const [left, right, from, to] = data.frames[k];
    const box = plot.getBoundingClientRect(), scale = plot.viewBox.baseVal.width / box.width;
    const x = from + ((event.clientX - box.left) * scale - left) / (right - left) * (to - from);
    show(xs.reduce((best, _, k) => Math.abs(xs[k] - x) < Math.abs(xs[best] - x) ? k : best, 0));
  }));
  figure.addEventListener('keydown', event => {
    const step = {ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10, Home: -xs.length, End: xs.length}[event.key];
    if (step === undefined) return;
    event.preventDefault();
    show(at + step);
  });
  figure.dataset.ready = 'yes';
}
"""
