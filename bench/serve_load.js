// Load for bench/serve.py: so many connections, each in turn a prediction and its label; one line of JSON at the end.
// node serve_load.js NODE_MODULES URL CONNECTIONS SECONDS pairs|FILE [TYPE]
const [modules, url, connections, duration, what, type] = process.argv.slice(2);
const autocannon = require(`${modules}/autocannon`);
const fs = require("fs");

const FEATURES = 50;
let serial = 0;
const rows = Array.from({ length: 256 }, (_, k) =>
  Array.from({ length: FEATURES }, (_, i) => Number(Math.sin(1 + k * 12.9898 + i * 78.233).toFixed(6))));

const pairs = [
  {
    method: "POST", path: "/predict", headers: { "content-type": "application/json" },
    setupRequest: (request, context) => {
      context.serial = serial++;
      context.id = `${process.pid}-${context.serial}`;
      return { ...request, body: JSON.stringify({ id: context.id, x: rows[context.serial % rows.length] }) };
    },
  },
  {
    method: "POST", path: "/label", headers: { "content-type": "application/json" },
    setupRequest: (request, context) =>
      ({ ...request, body: JSON.stringify({ id: context.id, y: rows[context.serial % rows.length][0] > 0 ? 1 : 0 }) }),
  },
];
const batch = () => [{ method: "POST", path: new URL(url).pathname, headers: { "content-type": type }, body: fs.readFileSync(what) }];

autocannon({ url: what === "pairs" ? url : new URL(url).origin, connections: Number(connections), duration: Number(duration),
  requests: what === "pairs" ? pairs : batch() }, (error, result) => {
  if (error) throw error;
  const { p50, p97_5, p99, max } = result.latency;
  console.log(JSON.stringify({ requests: result.requests.total, seconds: result.duration, good: result["2xx"], bad: result.non2xx,
    errors: result.errors, p50, p97_5, p99, max }));
});
