// Runs the scripts of the explorer and of the guides without a browser, and prints what they do as JSON. Called with
// the two scripts, the document and the index of the guides.
import { readFileSync } from 'node:fs';
import vm from 'node:vm';

const [explorer, page, document, index] = process.argv.slice(2).map((path) => readFileSync(path, 'utf8'));
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
  if (url.endsWith('index.json')) return new Response(index);
  seen.calls.push({ method: init.method, path: new URL(url).pathname, body: init.body ?? '' });
  return Response.json({ data: { id: `fac_${String(++made).padStart(26, '0')}` }, error: null });
}

const shared = () => ({ URL, Request, Response, JSON, crypto, setTimeout, console });
const tab = storage();

// open opens the explorer in the tab, and returns what it gives to its library.
async function open() {
  let given;
  const loaded = new Promise((resolve) => {
    vm.runInNewContext(explorer, {
      ...shared(), fetch: answer, sessionStorage: tab, location: { href: base + 'api-docs/explorer' },
      document: { body: {}, querySelector: () => null, querySelectorAll: () => [] },
      MutationObserver: class { observe() {} },
      Scalar: { createApiReference: (_, options) => resolve(given = options) },
    });
  });
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
seen.headings = given.content.info.description.match(/^## .*$/gm);
seen.documented = JSON.stringify(given.content).includes('api.example.com');
await send(given, 'POST', 'v1/factories', { name: 'Acme' });
await send(given, 'POST', 'v1/content-items', { factory_id: 'fac_' + example });
await send(given, 'GET', 'v1/factories/fac_' + example);
given = await open();
seen.reloaded = JSON.stringify(given.content).match(/fac_0{24}\d\d/)?.[0] ?? '';
given.onRequestBuilt({ request: new Request(base, { headers: { Authorization: 'Bearer svc_test_b' } }) });
await send({ ...given, onRequestBuilt() {} }, 'GET', 'v1/factories/fac_' + example);

// The page of a guide: elements as far as its script uses them.
class Element {
  constructor(textContent = '') { Object.assign(this, { textContent, children: [], listeners: {}, hidden: true, dataset: {} }); }
  append(...all) { this.children.push(...all); }
  replaceChildren(...all) { this.children = all; this.textContent = ''; }
  replaceWith(other) { this.replaced = other; }
  addEventListener(type, f) { this.listeners[type] = f; }
  querySelector() { return this.code; }
}
const pre = new Element('curl https://api.example.com/v1/me'), search = new Element(), found = new Element(), nav = new Element();
pre.code = new Element(pre.textContent);
search.parentElement = new Element();
nav.dataset.root = '../';
let copied = '';
vm.runInNewContext(page, {
  ...shared(), fetch: answer, location: { href: base + 'api-docs/guides/quick-start' },
  navigator: { clipboard: { writeText: async (text) => { copied = text; } } },
  document: {
    querySelectorAll: () => [pre], createElement: () => new Element(),
    querySelector: (of) => ({ 'nav[data-root]': nav, '#search': search, '#found': found })[of],
    documentElement: { lang: 'en' },
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
seen.copied = [copied, button.textContent];
const look = async (words) => {
  search.value = words;
  await search.listeners.input();
  return found.children.map((item) => item.children[0].textContent + ' ' + item.children[0].href).concat(found.textContent || []);
};
seen.searched = { shown: !search.parentElement.hidden, hits: await look('Webhook signature'), none: await look('zzzz') };
console.log(JSON.stringify(seen));
process.exit();
