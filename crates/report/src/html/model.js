// The data of the page, unpacked into arrays.
const model = (() => {
  const raw = JSON.parse(document.getElementById("data").textContent);
  const sums = (differences, length) => {
    const all = new Float64Array(length);
    let sum = 0;
    differences.forEach((difference, i) => { all[i] = sum += difference; });
    return all;
  };
  const lanes = raw.lanes.map(([name, names, categories, starts, durations, args]) => {
    const start = sums(starts, starts.length);
    return {
      name: raw.texts[name],
      names: Uint32Array.from(names),
      categories: Uint32Array.from(categories),
      start,
      end: start.map((time, i) => time + durations[i]),
      durations,
      args,
      lit: new Uint8Array(names.length).fill(1),
      flows: new Map(),
    };
  });
  const flows = raw.flows.map(([name, fromLane, fromSpan, toLane, toSpan, leaves, arrives]) =>
    ({ name: raw.texts[name], fromLane, fromSpan, toLane, toSpan, leaves, arrives }));
  const attach = (lane, span, flow) => {
    const at = lanes[lane].flows;
    if (at.has(span)) at.get(span).push(flow); else at.set(span, [flow]);
  };
  for (const flow of flows) {
    attach(flow.fromLane, flow.fromSpan, flow);
    attach(flow.toLane, flow.toSpan, flow);
  }
  const counters = raw.counters.map(([name, unit, limit, times, values]) => ({
    name: raw.texts[name], unit, limit, times: sums(times, times.length), values,
    highest: values.reduce((a, b) => Math.max(a, b), 0),
  }));
  return {
    unit: raw.unit, end: Math.max(1, raw.end), texts: raw.texts, lanes, flows, counters,
    categories: raw.categories.map(([name, colour, time, spans]) => ({ name: raw.texts[name], colour, time, spans, on: true })),
    peak: raw.peak && { counter: raw.peak[0], time: raw.peak[1], name: raw.peak[2] },
  };
})();

// Index of the first element of an ascending array for which the condition holds, as it does for all after it.
function firstWhere(sorted, holds) {
  let low = 0, high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(sorted[middle])) high = middle; else low = middle + 1;
  }
  return low;
}

