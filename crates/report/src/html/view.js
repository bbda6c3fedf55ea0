// The part of the time axis that is shown, and what all drawings share.
const LEFT = 132, RIGHT = 14;
const $ = id => document.getElementById(id);

const view = {
  from: 0, to: model.end, width: 800, lit: 0,
  hover: null, pinned: null, cursor: null, range: null,
  x(time) { return LEFT + (time - this.from) / (this.to - this.from) * (this.width - LEFT - RIGHT); },
  time(x) { return this.from + (x - LEFT) / (this.width - LEFT - RIGHT) * (this.to - this.from); },
};

// Shows a range, kept within the timeline and no shorter than two units of time.
function showRange(from, to) {
  const length = Math.min(model.end, Math.max(2, to - from));
  view.from = Math.min(Math.max(0, from), model.end - length);
  view.to = view.from + length;
  redraw();
}

function zoom(factor, around = (view.from + view.to) / 2) {
  showRange(around - (around - view.from) * factor, around + (view.to - around) * factor);
}

function pan(share) {
  const by = (view.to - view.from) * share;
  showRange(view.from + by, view.to + by);
}

let waiting = false;
function redraw() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => { waiting = false; draw(); });
}

function draw() {
  const style = getComputedStyle(document.documentElement);
  const colours = {};
  for (const name of ["ground", "card", "edge", "text", "quiet", "lane", "grid", "accent", "link", "warn", "curve"]) {
    colours[name] = style.getPropertyValue("--" + name);
  }
  view.width = $("lanes").parentElement.clientWidth;
  drawOverview(colours);
  document.documentElement.dataset.drawn = drawLanes(colours);
  drawCounters(colours);
}

// A cleared canvas of the given height, scaled to the screen's pixels.
function prepare(canvas, height) {
  const ratio = window.devicePixelRatio || 1;
  const [width, tall] = [Math.round(view.width * ratio), Math.round(height * ratio)];
  if (canvas.width !== width || canvas.height !== tall) {
    canvas.width = width;
    canvas.height = tall;
    canvas.style.height = height + "px";
  }
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, view.width, height);
  pen.font = FONT;
  pen.textBaseline = "middle";
  return pen;
}

// What decides how spans and curves look, but for the mouse.
function viewKey(colours) {
  return [view.from, view.to, view.lit, $("links").checked, $("lanes").width, colours.card].join();
}

// Paints a canvas, or copies what was painted there last if that was for the same key: moving the mouse over a million
// spans must not draw them again. Returns what the painting returned.
function painted(canvas, pen, key, paint) {
  if (!canvas.kept || canvas.kept.key !== key) {
    const result = paint(), image = document.createElement("canvas");
    [image.width, image.height] = [canvas.width, canvas.height];
    if (image.width && image.height) image.getContext("2d").drawImage(canvas, 0, 0);
    canvas.kept = { key, image, result };
  } else if (canvas.width && canvas.height) {
    pen.save();
    pen.resetTransform();
    pen.drawImage(canvas.kept.image, 0, 0);
    pen.restore();
  }
  return canvas.kept.result;
}

const FONT = "12px system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif";

// Widths of texts are asked for again and again while panning.
const widths = new Map();
function widthOf(pen, text) {
  let width = widths.get(text);
  if (width === undefined) {
    if (widths.size > 20000) widths.clear();
    widths.set(text, width = pen.measureText(text).width);
  }
  return width;
}

// The text, or as much of its last path segment as fits: the names of a model share long beginnings.
function fitText(pen, text, room) {
  if (room < 14) return "";
  if (widthOf(pen, text) <= room) return text;
  const tail = text.slice(text.lastIndexOf("/") + 1) || text;
  if (widthOf(pen, tail) <= room) return tail;
  const letters = Math.floor(room / 6.8) - 1;
  return letters < 3 ? "" : tail.slice(0, letters) + "…";
}

// Text that stays legible on whatever is below it.
function drawOver(pen, text, x, y, colour, ground) {
  pen.strokeStyle = ground;
  pen.lineWidth = 4;
  pen.lineJoin = "round";
  pen.globalAlpha = 0.8;
  pen.strokeText(text, x, y);
  pen.globalAlpha = 1;
  pen.fillStyle = colour;
  pen.fillText(text, x, y);
}

// The label of a row, at the right of the left margin.
function drawLabel(pen, text, y, colour) {
  pen.fillStyle = colour;
  pen.textAlign = "right";
  pen.fillText(fitText(pen, text, LEFT - 16), LEFT - 10, y);
  pen.textAlign = "left";
}

function clipToPlot(pen, height) {
  pen.save();
  pen.beginPath();
  pen.rect(LEFT, 0, view.width - LEFT - RIGHT, height);
  pen.clip();
}

