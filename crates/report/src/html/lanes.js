// The lanes with their spans, the links between them, and the overview of everything.
const AXIS = 24, LANE = 36, BAR = 24;
const laneTop = lane => AXIS + 4 + lane * LANE;

function drawLanes(colours) {
  const height = laneTop(model.lanes.length);
  const pen = prepare($("lanes"), height);
  const drawn = painted($("lanes"), pen, viewKey(colours), () => paintLanes(pen, colours, height));
  clipToPlot(pen, height);
  for (const [at, colour] of [[view.pinned, colours.accent], [view.hover, colours.text]]) {
    if (at) outline(pen, colours, at, colour);
  }
  drawCursor(pen, colours, height);
  pen.restore();
  drawCursorTime(pen, colours);
  return drawn;
}

// Returns how many rectangles stand for the spans.
function paintLanes(pen, colours, height) {
  drawTimeAxis(pen, colours, height);
  model.lanes.forEach((lane, index) => {
    drawLabel(pen, lane.name, laneTop(index) + BAR / 2, colours.text);
    pen.fillStyle = colours.lane;
    pen.fillRect(LEFT, laneTop(index), view.width - LEFT - RIGHT, BAR);
  });
  clipToPlot(pen, height);
  if ($("links").checked) drawFlows(pen, colours, model.flows, false);
  const drawn = model.lanes.map((lane, index) => drawSpans(pen, lane, laneTop(index)));
  pen.restore();
  return drawn.reduce((sum, each) => sum + each, 0);
}

function drawTimeAxis(pen, colours, height) {
  const count = Math.max(2, (view.width - LEFT) / 110);
  for (const [time, label] of ticksBetween(model.unit, view.from, view.to, count)) {
    const x = Math.round(view.x(time)) + 0.5;
    pen.fillStyle = colours.grid;
    pen.fillRect(x - 0.5, AXIS - 4, 1, height - AXIS + 4);
    pen.fillStyle = colours.quiet;
    pen.textAlign = "center";
    if (x + widthOf(pen, label) / 2 < view.width) pen.fillText(label, x, AXIS / 2 - 2);
  }
  pen.textAlign = "left";
}

// Draws the spans in view; those below a pixel are merged into columns with the colour that takes most of the column.
// Returns how many rectangles that took.
function drawSpans(pen, lane, top) {
  const scale = (view.width - LEFT - RIGHT) / (view.to - view.from);
  const columns = new Columns(pen, top);
  const labels = [];
  for (let i = firstWhere(lane.end, end => end >= view.from); i < lane.start.length && lane.start[i] <= view.to; i++) {
    const left = LEFT + (lane.start[i] - view.from) * scale;
    const width = (lane.end[i] - lane.start[i]) * scale;
    if (width < 1.5) {
      columns.add(Math.floor(left), lane.categories[i], width, lane.lit[i]);
      continue;
    }
    columns.flush();
    pen.globalAlpha = lane.lit[i] ? 1 : DIMMED;
    pen.fillStyle = model.categories[lane.categories[i]].colour;
    pen.fillRect(left, top, width > 4 ? width - 1 : width, BAR);
    columns.drawn++;
    if (width > 24) labels.push([i, left, width]);
  }
  columns.flush();
  drawNames(pen, lane, labels, top);
  pen.globalAlpha = 1;
  return columns.drawn;
}

const DIMMED = 0.16;

// Names of spans, from the left edge of what is visible of them; on dark fills they would not be legible, so fills are light.
function drawNames(pen, lane, labels, top) {
  pen.fillStyle = "#1b1d21";
  for (const [i, left, width] of labels) {
    const from = Math.max(left, LEFT) + 5;
    const name = fitText(pen, model.texts[lane.names[i]], Math.min(left + width, view.width - RIGHT) - from - 4);
    if (!name) continue;
    pen.globalAlpha = lane.lit[i] ? 1 : 2 * DIMMED;
    pen.fillText(name, from, top + BAR / 2 + 0.5);
  }
}

// Merges what falls into one column of pixels.
class Columns {
  constructor(pen, top) {
    this.pen = pen;
    this.top = top;
    this.column = null;
    this.weights = new Float64Array(2 * model.categories.length);
    this.used = [];
    this.covered = 0;
    this.drawn = 0;
  }

  add(column, category, width, lit) {
    if (column !== this.column) this.flush();
    this.column = column;
    const slot = 2 * category + lit;
    if (this.weights[slot] === 0) this.used.push(slot);
    // Spans without duration count a little; those that were searched for win over any that were not.
    this.weights[slot] += (width + 1e-3) * (lit ? 1e6 : 1);
    this.covered += width;
  }

  flush() {
    if (this.column === null) return;
    const winner = this.used.reduce((a, b) => (this.weights[b] > this.weights[a] ? b : a));
    // The paler, the more of the column is idle.
    this.pen.globalAlpha = (winner % 2 ? 1 : DIMMED) * Math.min(1, 0.3 + this.covered);
    this.pen.fillStyle = model.categories[winner >> 1].colour;
    this.pen.fillRect(this.column, this.top, 1.5, BAR);
    for (const slot of this.used) this.weights[slot] = 0;
    this.used.length = 0;
    this.column = null;
    this.covered = 0;
    this.drawn++;
  }
}

// Links leave at the edge of a lane that faces the other one, and pass below spans. Of those that fall on the same pixels
// one is drawn, and the more there are the fainter they get.
function drawFlows(pen, colours, flows, strong) {
  const seen = new Set(), paths = [], lanes = model.lanes.length;
  for (const flow of flows) {
    if (flow.arrives < view.from || flow.leaves > view.to) continue;
    const [x1, x2] = [view.x(flow.leaves), view.x(flow.arrives)];
    const key = (((x1 >> 1) * 8192 + (x2 >> 1)) * lanes + flow.fromLane) * lanes + flow.toLane;
    if (seen.has(key)) continue;
    seen.add(key);
    paths.push([flow, x1, x2]);
  }
  pen.globalAlpha = strong ? 1 : Math.min(0.8, Math.max(0.15, 120 / (paths.length + 1)));
  pen.strokeStyle = pen.fillStyle = strong ? colours.accent : colours.link;
  pen.lineWidth = strong ? 2 : 1;
  for (const [flow, x1, x2] of paths) drawFlow(pen, flow, x1, x2, strong || paths.length < 150);
  pen.globalAlpha = 1;
}

function drawFlow(pen, flow, x1, x2, withHead) {
  const down = flow.fromLane <= flow.toLane ? 1 : -1;
  const y1 = laneTop(flow.fromLane) + (down > 0 ? BAR : 0);
  const y2 = laneTop(flow.toLane) + (flow.fromLane === flow.toLane ? BAR : down > 0 ? 0 : BAR);
  const bend = flow.fromLane === flow.toLane ? (LANE - BAR) : 0;
  pen.beginPath();
  pen.moveTo(x1, y1);
  const middle = (y1 + y2) / 2 + bend;
  pen.bezierCurveTo(x1, middle, x2, middle, x2, y2);
  pen.stroke();
  if (!withHead) return;
  const side = bend ? -1 : down;
  pen.beginPath();
  pen.moveTo(x2, y2);
  pen.lineTo(x2 - 3.2, y2 - 5 * side);
  pen.lineTo(x2 + 3.2, y2 - 5 * side);
  pen.fill();
}

// A frame around a span, and its links.
function outline(pen, colours, at, colour) {
  const lane = model.lanes[at.lane];
  const [left, right] = [view.x(lane.start[at.span]), view.x(lane.end[at.span])];
  pen.strokeStyle = colour;
  pen.lineWidth = 2;
  pen.strokeRect(left - 1, laneTop(at.lane) - 1, Math.max(2, right - left) + 1, BAR + 2);
  drawFlows(pen, colours, lane.flows.get(at.span) || [], true);
}

// The moment under the mouse, and the range that is being selected, over all drawings.
function drawCursor(pen, colours, height) {
  if (view.range) {
    const [a, b] = view.range.map(time => view.x(time)).sort((x, y) => x - y);
    pen.globalAlpha = 0.18;
    pen.fillStyle = colours.accent;
    pen.fillRect(a, 0, b - a, height);
    pen.globalAlpha = 1;
  } else if (view.cursor !== null) {
    pen.fillStyle = colours.quiet;
    pen.fillRect(Math.round(view.x(view.cursor)), 0, 1, height);
  }
}

function drawCursorTime(pen, colours) {
  if (view.cursor === null) return;
  const times = view.range ? showDuration(Math.round(Math.abs(view.range[1] - view.range[0]))) : showTime(Math.floor(view.cursor));
  const half = widthOf(pen, times) / 2 + 6;
  const x = Math.min(Math.max(view.x(view.cursor), LEFT + half), view.width - RIGHT - half);
  pen.fillStyle = colours.accent;
  pen.fillRect(x - half, 1, 2 * half, AXIS - 5);
  pen.fillStyle = colours.card;
  pen.textAlign = "center";
  pen.fillText(times, x, AXIS / 2 - 1);
  pen.textAlign = "left";
}

// The span under a point, or the nearest within three pixels.
function spanAt(x, y) {
  const index = Math.floor((y - laneTop(0)) / LANE);
  const lane = model.lanes[index];
  if (!lane || x < LEFT || y - laneTop(index) > BAR + 2) return null;
  const time = view.time(x), reach = view.time(x + 3) - time;
  let best = null, nearest = reach;
  for (let i = firstWhere(lane.end, end => end >= time - reach); i < lane.start.length && lane.start[i] <= time + reach; i++) {
    const distance = Math.max(0, lane.start[i] - time, time - lane.end[i]);
    if (distance < nearest || best === null) [best, nearest] = [i, distance];
    if (nearest === 0) break;
  }
  return best === null ? null : { lane: index, span: best };
}

// All lanes in a thin strip, painted once per width and theme; what is not shown below is shaded.
const STRIP = 22;

function drawOverview(colours) {
  const pen = prepare($("overview"), STRIP);
  const key = `${$("overview").width} ${colours.card}`;
  painted($("overview"), pen, key, () => drawStrip(pen, colours));
  const plot = view.width - LEFT - RIGHT;
  const [a, b] = [view.from, view.to].map(time => LEFT + time / model.end * plot);
  pen.fillStyle = colours.card;
  pen.globalAlpha = 0.6;
  pen.fillRect(LEFT, 0, a - LEFT, STRIP);
  pen.fillRect(b, 0, LEFT + plot - b, STRIP);
  pen.globalAlpha = 1;
  pen.strokeStyle = colours.quiet;
  pen.lineWidth = 1;
  pen.strokeRect(a + 0.5, 0.5, Math.max(2, b - a - 1), STRIP - 1);
}

function drawStrip(pen, colours) {
  const plot = view.width - LEFT - RIGHT, each = STRIP / Math.max(1, model.lanes.length);
  pen.fillStyle = colours.lane;
  pen.fillRect(LEFT, 0, plot, STRIP);
  drawLabel(pen, "overview", STRIP / 2, colours.quiet);
  model.lanes.forEach((lane, index) => {
    let column = -1;
    for (let i = 0; i < lane.start.length; i++) {
      const left = lane.start[i] / model.end * plot, right = lane.end[i] / model.end * plot;
      if (right < column + 1) continue;
      column = Math.floor(right);
      pen.fillStyle = model.categories[lane.categories[i]].colour;
      pen.fillRect(LEFT + left, index * each, Math.max(1, right - left), Math.max(1, each - 1));
    }
  });
}

