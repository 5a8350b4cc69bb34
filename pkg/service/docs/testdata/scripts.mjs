// Runs the scripts of the explorer and of the guides without a browser, and prints what they do as JSON. Called with
// the two scripts, the document and the data of the explorer.
import { readFileSync } from 'node:fs';
import vm from 'node:vm';

const [explorer, page, document, data] = process.argv.slice(2).map((path) => readFileSync(path, 'utf8'));
const base = 'https://api.customer.test/stage/';
const seen = { calls: [] };

function storage() {
  const kept = new Map();
  return { getItem: (k) => kept.get(k) ?? null, setItem: (k, v) => kept.set(k, String(v)), removeItem: (k) => kept.delete(k) };
}

// answer is the server: it makes what a POST asks for.
let made = 0;
async function answer(input, init = {}) {
  const url = String(input.url ?? input);
  if (url.endsWith('openapi.json')) return new Response(document);
  if (url.endsWith('explorer.json')) return new Response(data);
  seen.calls.push({ method: init.method, path: new URL(url).pathname, body: init.body ?? '' });
  return Response.json({ data: { id: `fac_${String(++made).padStart(26, '0')}` }, error: null });
}

const shared = () => ({ URL, Request, Response, JSON, crypto, setTimeout, console });
const tab = storage();

// An element as far as the scripts use it.
class Element {
  constructor(name = '') { Object.assign(this, { name, textContent: '', children: [], listeners: {}, hidden: true, dataset: {}, attributes: {} }); }
  append(...all) { this.children.push(...all); }
  replaceChildren(...all) { this.children = all; this.textContent = ''; }
  replaceWith(other) { this.replaced = other; }
  remove() { this.removed = true; }
  setAttribute(name, value) { this.attributes[name] = value; }
  addEventListener(type, f) { this.listeners[type] = f; }
  querySelector() { return this.code; }
  querySelectorAll() { return []; }
}

// open opens the explorer in the tab, and returns what it gives to its library.
async function open(search = '') {
  const button = new Element();
  button.dataset.script = 'assets/scalar.js assets/frame.css';
  let given;
  const loaded = new Promise((resolve) => {
    const head = { append: (e) => setTimeout(() => e.onload()) };
    const of = { '#try': button, '#size': new Element(), '.top': new Element(), 'link[rel="stylesheet"]': new Element() };
    vm.runInNewContext(explorer, {
      ...shared(), fetch: answer, sessionStorage: tab, location: { href: base + 'api-docs/explorer', hash: '', search, pathname: '' },
      document: { head, body: new Element(), createElement: () => new Element(), querySelector: (one) => of[one] ?? null, querySelectorAll: () => [] },
      MutationObserver: class { observe() {} }, requestAnimationFrame: (f) => f(), URLSearchParams,
      Scalar: { createApiReference: (_, options) => resolve(given = options) },
    });
  });
  if (button.disabled) throw new Error('The explorer has begun before it was asked for.');
  button.listeners.click();
  await loaded;
  return given;
}

const example = '01h455vb4pex5vsknk084sn02q';
const send = async (given, method, path, body) => {
  const request = new Request(base + path, { method, body: body && JSON.stringify(body), headers: { Authorization: 'Bearer svc_test_a' } });
  given.onRequestBuilt({ request });
  await (await given.customFetch(request)).json();
  await new Promise((resolve) => setTimeout(resolve, 0));
};

let given = await open();
seen.groups = given.content['x-tagGroups'];
seen.tags = given.content.tags.map((tag) => tag.name);
const parameters = Object.values(given.content.paths).flatMap((item) => Object.values(item)).flatMap((operation) => operation.parameters ?? []);
seen.times = parameters.filter((p) => !p.required && p.schema?.format === 'date-time').length;
seen.periods = parameters.filter((p) => p.name === 'from' && p.schema?.type === 'string').length;
seen.shell = given.content.paths['/v1/content-items'].post['x-codeSamples'].find(({ label }) => label === 'Command line').source;
seen.documented = JSON.stringify(given.content).includes('api.example.com');
await send(given, 'POST', 'v1/factories', { name: 'Acme' });
await send(given, 'POST', 'v1/content-items', { factory_id: 'fac_' + example });
await send(given, 'GET', 'v1/factories/fac_' + example);
given = await open();
seen.reloaded = JSON.stringify(given.content).match(/fac_0{24}\d\d/)?.[0] ?? '';
given.onRequestBuilt({ request: new Request(base, { headers: { Authorization: 'Bearer svc_test_b' } }) });
await send({ ...given, onRequestBuilt() {} }, 'GET', 'v1/factories/fac_' + example);

const narrow = (await open('?area=Feeds')).content;
const parts = narrow.components.schemas;
seen.narrowed = [narrow.tags.map((tag) => tag.name).join(), String('webhooks' in narrow), String('Feed' in parts || 'FeedResponse' in parts), String('Chat' in parts)];

// The page of a guide.
const pre = new Element('pre'), find = new Element('a');
pre.code = new Element('code');
pre.code.textContent = pre.textContent = 'curl https://api.example.com/v1/me';
find.code = new Element('kbd');
let copied = '';
vm.runInNewContext(page, {
  ...shared(), fetch: answer, location: { href: base + 'api-docs/guides/quick-start' }, localStorage: storage(), performance,
  navigator: { platform: 'Linux', clipboard: { writeText: async (text) => { copied = text; } } },
  document: {
    querySelectorAll: (of) => (of === 'pre' ? [pre] : []), createElement: (name) => new Element(name), addEventListener() {},
    querySelector: (of) => ({ '.find': find })[of], documentElement: { dataset: { root: '../' } },
    // The texts of a sample: one, as without colors.
    createTreeWalker: (code) => {
      let left = 1;
      return { nextNode: () => left-- > 0, currentNode: { get data() { return code.textContent; }, set data(text) { code.textContent = text; } } };
    },
  },
  NodeFilter: { SHOW_TEXT: 4 },
});
seen.sample = pre.code.textContent;
const button = pre.replaced.children[1];
await button.listeners.click();
button.textContent ||= button.children.at(-1);
seen.copied = [copied, button.textContent];
console.log(JSON.stringify(seen));
process.exit();
