// Mouse, keys, and the first drawing.
const place = event => {
  const box = event.currentTarget.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
};

function hover(event) {
  const [x, y] = place(event);
  view.cursor = x >= LEFT ? view.time(x) : null;
  view.hover = event.currentTarget === $("lanes") ? spanAt(x, y) : null;
  showTip(view.hover, event.clientX, event.clientY);
  redraw();
}

function leave() {
  view.cursor = view.hover = null;
  showTip(null);
  redraw();
}

function wheel(event) {
  event.preventDefault();
  const sideways = event.shiftKey ? event.deltaX || event.deltaY : event.deltaX;
  if (Math.abs(sideways) > Math.abs(event.deltaY) || event.shiftKey) pan(sideways / 1000);
  else zoom(Math.exp(Math.max(-60, Math.min(60, event.deltaY)) / 250), view.time(place(event)[0]));
}

// Drag moves; with shift it selects a range to zoom into; without moving it is a click, which pins a span.
function press(event) {
  if (event.button !== 0) return;
  const canvas = event.currentTarget;
  const [x, y] = place(event);
  const start = { from: view.from, to: view.to, time: view.time(x) };
  let moved = false;
  canvas.setPointerCapture(event.pointerId);
  canvas.onpointermove = move => {
    const [now] = place(move);
    moved = moved || Math.abs(now - x) > 3;
    if (!moved) return;
    showTip(null);
    if (event.shiftKey) {
      view.cursor = view.time(now);
      view.range = [start.time, view.cursor];
      redraw();
    } else {
      const by = (now - x) / (view.width - LEFT - RIGHT) * (start.to - start.from);
      showRange(start.from - by, start.to - by);
    }
  };
  canvas.onpointerup = canvas.onpointercancel = () => {
    canvas.onpointermove = hover;
    canvas.onpointerup = canvas.onpointercancel = null;
    const range = view.range;
    view.range = null;
    if (range) showRange(Math.min(...range), Math.max(...range));
    else if (!moved && canvas === $("lanes")) pin(spanAt(x, y));
    redraw();
  };
}

function pressOverview(event) {
  const canvas = event.currentTarget;
  const move = at => {
    const [x] = place(at);
    const middle = (x - LEFT) / (view.width - LEFT - RIGHT) * model.end, half = (view.to - view.from) / 2;
    showRange(middle - half, middle + half);
  };
  canvas.setPointerCapture(event.pointerId);
  canvas.onpointermove = at => { if (at.buttons) move(at); };
  move(event);
}

const keys = {
  "+": () => zoom(0.7), "=": () => zoom(0.7), w: () => zoom(0.7), ArrowUp: () => zoom(0.7),
  "-": () => zoom(1.4), s: () => zoom(1.4), ArrowDown: () => zoom(1.4),
  a: () => pan(-0.2), ArrowLeft: () => pan(-0.2), d: () => pan(0.2), ArrowRight: () => pan(0.2),
  0: () => showRange(0, model.end), Escape: () => pin(null),
};

function listen() {
  for (const canvas of [$("lanes"), $("counters")]) {
    canvas.onpointermove = hover;
    canvas.onpointerleave = leave;
    canvas.onpointerdown = press;
    canvas.ondblclick = keys[0];
    canvas.addEventListener("wheel", wheel, { passive: false });
  }
  $("overview").onpointerdown = pressOverview;
  $("lanes").onkeydown = event => {
    if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  };
  $("zoom-in").onclick = keys["+"];
  $("zoom-out").onclick = keys["-"];
  $("zoom-all").onclick = keys[0];
  $("links").onchange = redraw;
  $("search").oninput = light;
  $("search").onkeydown = event => { if (event.key === "Enter") showNext(); };
  document.addEventListener("keydown", event => {
    if (event.key !== "/" || event.target === $("search")) return;
    event.preventDefault();
    $("search").focus();
  });
  if ($("show-peak")) $("show-peak").onclick = showPeak;
  window.addEventListener("resize", redraw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
}

function showPeak() {
  const half = model.end / 20;
  showRange(model.peak.time - half, model.peak.time + half);
  $("lanes").scrollIntoView({ block: "center", behavior: "smooth" });
}

document.documentElement.classList.add("ready");
buildLegend();
light();
listen();
draw();
document.documentElement.dataset.ready = "yes";
