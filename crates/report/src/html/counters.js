// Counters as step charts below the lanes, over the same time axis and, for equal units, the same scale.
const COUNTER = 78, CURVE = 56;

function drawCounters(colours) {
  const height = model.counters.length * COUNTER + (model.counters.length ? 6 : 0);
  const pen = prepare($("counters"), height);
  painted($("counters"), pen, viewKey(colours), () => paintCounters(pen, colours, height));
  clipToPlot(pen, height);
  drawCursor(pen, colours, height);
  pen.restore();
  if (view.cursor !== null && !view.range) drawReadings(pen, colours);
}

function paintCounters(pen, colours, height) {
  const scales = counterScales();
  model.counters.forEach((counter, index) => {
    const base = (index + 1) * COUNTER - 4;
    const y = value => base - CURVE * Math.max(0, value) / (scales[counter.unit] || 1);
    drawCounterFrame(pen, colours, counter, base, y);
    clipToPlot(pen, height);
    drawCurve(pen, counter, y, base, colours.curve);
    drawLimit(pen, colours, counter, scales[counter.unit], y);
    if (model.peak && model.peak.counter === index) drawPeak(pen, colours, counter, y, base);
    pen.restore();
  });
}

// What the height of a curve stands for, by unit.
function counterScales() {
  const scales = {};
  for (const { unit, highest, limit } of model.counters) {
    // A limit far above every value would flatten the curves, so it does not count.
    const shown = limit !== null && limit <= 1.6 * highest ? Math.max(limit, highest) : highest;
    scales[unit] = Math.max(scales[unit] || 0, shown);
  }
  return scales;
}

function drawCounterFrame(pen, colours, counter, base, y) {
  pen.fillStyle = colours.grid;
  pen.fillRect(LEFT, Math.round(y(counter.highest)), view.width - LEFT - RIGHT, 1);
  pen.fillRect(LEFT, base, view.width - LEFT - RIGHT, 1);
  drawLabel(pen, counter.name, base - 26, colours.text);
  drawLabel(pen, "max " + show(counter.unit, counter.highest), base - 9, colours.quiet);
}

// The curve with, for each column of pixels, the first, lowest, highest and last value: no peak is lost.
function drawCurve(pen, counter, y, base, colour) {
  const { times, values } = counter;
  const right = view.width - RIGHT;
  let i = firstWhere(times, time => time >= view.from);
  let held = i > 0 ? values[i - 1] : 0;
  pen.beginPath();
  pen.moveTo(LEFT, y(held));
  while (i < times.length && times[i] <= view.to) {
    const x = Math.floor(view.x(times[i])) + 0.5;
    let low = held, high = held;
    pen.lineTo(x, y(held));
    for (; i < times.length && view.x(times[i]) < x + 0.5; i++) {
      held = values[i];
      low = Math.min(low, held);
      high = Math.max(high, held);
    }
    pen.lineTo(x, y(high));
    pen.lineTo(x, y(low));
    pen.lineTo(x, y(held));
  }
  pen.lineTo(right, y(held));
  pen.strokeStyle = pen.fillStyle = colour;
  pen.lineWidth = 1.25;
  pen.stroke();
  pen.lineTo(right, base);
  pen.lineTo(LEFT, base);
  pen.globalAlpha = 0.28;
  pen.fill();
  pen.globalAlpha = 1;
}

function drawLimit(pen, colours, counter, scale, y) {
  if (counter.limit === null || counter.limit > scale) return;
  const at = Math.round(y(counter.limit)) + 0.5;
  pen.strokeStyle = colours.warn;
  pen.lineWidth = 1;
  pen.setLineDash([5, 4]);
  pen.beginPath();
  pen.moveTo(LEFT, at);
  pen.lineTo(view.width - RIGHT, at);
  pen.stroke();
  pen.setLineDash([]);
  pen.textAlign = "right";
  drawOver(pen, "limit " + show(counter.unit, counter.limit), view.width - RIGHT - 4, at - 8, colours.warn, colours.card);
  pen.textAlign = "left";
}

function drawPeak(pen, colours, counter, y, base) {
  const { time, name } = model.peak;
  if (time < view.from || time > view.to) return;
  const [x, value] = [view.x(time), highestAt(counter, time)];
  pen.fillStyle = colours.warn;
  pen.fillRect(Math.round(x), y(value), 1, base - y(value));
  pen.beginPath();
  pen.arc(x, y(value), 4, 0, 7);
  pen.fill();
  // Where there is more room: right of the mark, or left of it.
  const [before, after] = [x - LEFT - 12, view.width - RIGHT - x - 12];
  const amount = `peak ${show(counter.unit, value)}`;
  const short = fitText(pen, name, Math.max(before, after) - widthOf(pen, amount + ": "));
  const label = short ? `${amount}: ${short}` : amount;
  drawOver(pen, label, after >= before ? x + 8 : x - 8 - widthOf(pen, label), y(value) + 14, colours.warn, colours.card);
}

// The value that holds at a time.
function valueAt(counter, time) {
  const i = firstWhere(counter.times, other => other > time);
  return i > 0 ? counter.values[i - 1] : 0;
}

// The highest value at a time, also if it holds for no time at all.
function highestAt(counter, time) {
  let highest = valueAt(counter, time);
  for (let i = firstWhere(counter.times, other => other > time) - 1; i >= 0 && counter.times[i] === time; i--) {
    highest = Math.max(highest, counter.values[i]);
  }
  return highest;
}

// What each counter is under the mouse, in place of its maximum.
function drawReadings(pen, colours) {
  model.counters.forEach((counter, index) => {
    const base = (index + 1) * COUNTER - 4;
    pen.fillStyle = colours.card;
    pen.fillRect(0, base - 17, LEFT - 4, 16);
    drawLabel(pen, "now " + show(counter.unit, valueAt(counter, view.cursor)), base - 9, colours.accent);
  });
}

