// Amounts for people, as crate::units does.
const PREFIXES = {
  ns: [[1, " ns"], [1e3, " µs"], [1e6, " ms"], [1e9, " s"]],
  bytes: [[1, " B"], [2 ** 10, " KiB"], [2 ** 20, " MiB"], [2 ** 30, " GiB"], [2 ** 40, " TiB"]],
  count: [[1, ""], [1e3, "k"], [1e6, "M"], [1e9, "G"]],
  percent: [[0.01, " %"]],
  number: [[1, ""]],
  steps: [[1, ""]],
};

function prefixFor(unit, value) {
  let best = PREFIXES[unit][0];
  for (const prefix of PREFIXES[unit].slice(1)) {
    if (Math.abs(value) / best[0] < prefix[0] / best[0] - 0.5) break;
    best = prefix;
  }
  return best;
}

// Three significant digits, integers in full.
function show(unit, value) {
  const [size, suffix] = prefixFor(unit, value);
  const scaled = value / size;
  const text = Math.abs(scaled) >= 99.95 ? scaled.toFixed(0) : String(Number(scaled.toPrecision(3)));
  return text + suffix;
}

// A moment, exact enough to tell it from the next pixel of a long timeline.
function showTime(time) {
  if (model.unit === "steps") return "step " + Math.floor(time);
  const [size, suffix] = prefixFor("ns", time);
  return Number((time / size).toPrecision(7)) + suffix;
}

function showDuration(time) {
  return model.unit === "steps" ? time + (time === 1 ? " step" : " steps") : show("ns", time);
}

// Ticks at multiples of 1, 2 or 5 times a power of ten, with as many decimals as tell them apart.
function ticksBetween(unit, from, to, count) {
  const [size, suffix] = prefixFor(unit, Math.max(Math.abs(from), Math.abs(to)));
  const raw = (to - from) / size / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  let step = [1, 2, 5, 10].find(factor => factor * power >= raw * 0.999) * power;
  if (unit === "steps") step = Math.max(1, step);
  const decimals = Math.max(0, Math.min(9, -Math.floor(Math.log10(step) + 1e-9)));
  const ticks = [];
  for (let i = Math.ceil(from / size / step); i * step * size <= to; i++) {
    ticks.push([i * step * size, i === 0 ? "0" : (i * step).toFixed(decimals) + suffix]);
  }
  return ticks;
}

