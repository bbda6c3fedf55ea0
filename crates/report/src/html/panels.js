// Legend, search, tooltip and details. Texts enter the page as text only, never as markup.
function element(tag, text, className) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}

function buildLegend() {
  const total = model.categories.reduce((sum, category) => sum + category.time, 0) || 1;
  for (const category of model.categories) {
    const button = element("button");
    const swatch = element("i");
    swatch.style.background = category.colour;
    const share = model.unit === "steps" ? "" : ` · ${(100 * category.time / total).toFixed(1)} %`;
    button.append(swatch, element("span", category.name || "(none)"), element("small", show("count", category.spans) + share));
    button.type = "button";
    button.title = "Click: dim or show. Double click: show only this kind, or all again.";
    button.onclick = () => { category.on = !category.on; light(); };
    button.ondblclick = () => showOnly(category);
    category.button = button;
    $("legend").append(button);
  }
}

function showOnly(category) {
  const alone = model.categories.every(other => other.on === (other === category));
  for (const other of model.categories) other.on = alone || other === category;
  light();
}

// Marks the spans that the legend and the search let through, and says how many the search has found.
const found = { all: [], next: 0 };
function light() {
  const wanted = $("search").value.trim().toLowerCase();
  const matches = wanted ? model.texts.map(text => text.toLowerCase().includes(wanted)) : null;
  found.all = [];
  found.next = 0;
  for (const category of model.categories) category.button.setAttribute("aria-pressed", category.on);
  model.lanes.forEach((lane, index) => {
    for (let i = 0; i < lane.names.length; i++) {
      const named = !matches || matches[lane.names[i]];
      lane.lit[i] = named && model.categories[lane.categories[i]].on ? 1 : 0;
      if (matches && lane.lit[i]) found.all.push({ lane: index, span: i });
    }
  });
  found.all.sort((a, b) => startOf(a) - startOf(b));
  $("found").textContent = matches ? `${found.all.length} found${found.all.length ? " · Enter: next" : ""}` : "";
  view.lit++;
  redraw();
}

const startOf = at => model.lanes[at.lane].start[at.span];

// Pins the next span that was found, and brings it into view.
function showNext() {
  if (!found.all.length) return;
  const at = found.all[found.next++ % found.all.length];
  const start = startOf(at), end = model.lanes[at.lane].end[at.span];
  const length = Math.min(view.to - view.from, Math.max(40 * (end - start), 2));
  showRange((start + end - length) / 2, (start + end + length) / 2);
  pin(at);
}

function facts(at) {
  const lane = model.lanes[at.lane], i = at.span;
  const list = element("dl");
  const add = (key, value) => list.append(element("dt", key), element("dd", value));
  add("kind", model.categories[lane.categories[i]].name);
  add("on", lane.name);
  add("start", showTime(lane.start[i]));
  add("duration", showDuration(lane.durations[i]));
  for (let a = 0; a + 1 < lane.args[i].length; a += 2) add(model.texts[lane.args[i][a]], model.texts[lane.args[i][a + 1]]);
  const flows = lane.flows.get(i) || [];
  for (const flow of flows.slice(0, 8)) {
    const out = flow.fromLane === at.lane && flow.fromSpan === i;
    const other = model.lanes[out ? flow.toLane : flow.fromLane].name;
    add(out ? "sends" : "receives", `${flow.name} ${out ? "to" : "from"} ${other}`);
  }
  if (flows.length > 8) add("", `and ${flows.length - 8} more`);
  return [element("div", model.texts[lane.names[i]], "name"), list];
}

function showTip(at, x, y) {
  const tip = $("tip");
  tip.hidden = !at;
  if (!at) return;
  tip.replaceChildren(...facts(at));
  const { width, height } = tip.getBoundingClientRect();
  tip.style.left = Math.max(4, x + 16 + width < innerWidth ? x + 16 : x - 12 - width) + "px";
  tip.style.top = Math.max(4, Math.min(y + 16, innerHeight - height - 8)) + "px";
}

function pin(at) {
  view.pinned = at;
  $("details").hidden = !at;
  if (at) $("details").replaceChildren(...facts(at));
  redraw();
}

