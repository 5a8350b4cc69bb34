// Starts the explorer. Everything that would call another host is off; the
// page's Content-Security-Policy would stop it too.
'use strict';

// The folder above the page: the API itself, also behind a stage's path.
const root = new URL('..', location.href);

// The key, and what was made last, are kept for the tab: until it is closed.
const kept = 'api-key', made = 'made-last';

// The ids of the document's examples, and the host in them.
const examples = /\b([a-z]{3})_01h455vb4pex5vsknk084sn02q\b/g, host = /\w+:\/\/api\.example\.com/g;

// withIds puts the ids of what was made last, one for each prefix, into a text in place of the examples.
function withIds(text) {
  const ids = JSON.parse(sessionStorage.getItem(made) ?? '{}');
  return text.replace(examples, (example, prefix) => ids[prefix] ?? example);
}

// remember notes the ids of what a request has made.
function remember(data) {
  const ids = JSON.parse(sessionStorage.getItem(made) ?? '{}');
  for (const one of [data].flat()) {
    if (typeof one?.id === 'string') ids[one.id.split('_')[0]] = one.id;
  }
  sessionStorage.setItem(made, JSON.stringify(ids));
}

// send sends a request about what was made last.
async function send(input, init) {
  const request = new Request(input, init), { method, headers, signal } = request;
  const body = ['GET', 'HEAD'].includes(method) ? undefined : withIds(await request.text());
  const response = await fetch(withIds(request.url), { method, headers, signal, body: body || undefined });
  if (method === 'POST' && response.ok) response.clone().json().then(({ data }) => remember(data), () => {});
  return response;
}

const style = `
  /* Colours of enough contrast (WCAG 2.2, 1.4.3). */
  .light-mode {
    --scalar-color-2: #55585c; --scalar-color-3: #606368; --scalar-color-accent: #0060a3; --scalar-color-blue: #0060a3; --scalar-color-green: #006b45;
    --scalar-color-orange: #a33e00; --scalar-color-red: #b80000; --scalar-color-yellow: #725800; --scalar-color-purple: #5c2aa8;
  }
  .dark-mode {
    --scalar-color-2: #b4b8bd; --scalar-color-3: #a0a4a9; --scalar-color-blue: #5ab0ff; --scalar-color-green: #35c48b;
    --scalar-color-orange: #ff9a5c; --scalar-color-red: #ff8080; --scalar-color-yellow: #ffcc4d; --scalar-color-purple: #c3a1ff;
  }
  .sidebar-search-placeholder { color: var(--scalar-color-2) !important; }
  /* A section that a link leads to has the focus, but nothing to use. */
  section:focus-visible { outline: none !important; }
  /* Words in tables are not divided. */
  .markdown :is(th, td) { overflow-wrap: normal !important; word-break: normal !important; }
  /* On a phone, the client would be wider than the screen, and its first button cover the address. */
  .scalar-app-layout main > * { min-width: 0; }
  @media (max-width: 600px) { .t-app__top-container > .order-last { padding-left: 2.25rem; } }
  /* An event is received, not sent. */
  [id*='/webhook/'] .show-api-client-button { display: none; }
`;

// What the explorer's components leave out for screen readers and keyboards. Each selector
// no longer matches what was mended.
const mends = [
  ['button[role="none"]', (e) => e.removeAttribute('role')],
  ['button.group\\/copy-button:not([aria-label])', (e) => e.setAttribute('aria-label', e.textContent.trim() || 'Copy')],
  ['.cm-content:not([aria-label])', (e) => e.setAttribute('aria-label', 'Body')],
  ['[role="combobox"]:not([aria-expanded])', (e) => e.setAttribute('aria-expanded', 'false')],
  ['.response-card[role="region"]', (e) => e.setAttribute('role', 'group')],
  ['.scalar-app-layout > section[aria-label^="Notifications"]', (e) => e.setAttribute('aria-label', 'Messages of the client')],
  ['ul.endpoints:not([tabindex])', (e) => e.setAttribute('tabindex', '0')],
  ['#explorer header:not([role])', (e) => {
    e.setAttribute('role', 'none');
    e.parentElement.setAttribute('role', 'region');
    e.parentElement.setAttribute('aria-label', 'Menu of the explorer');
  }],
  ['button.show-more[aria-label]', (e) => e.removeAttribute('aria-label')],
];

function mend() {
  // What is behind the open client cannot be used.
  document.querySelector('main.references-rendered')?.toggleAttribute('inert', document.querySelector('.scalar-client--open') !== null);
  for (const [selector, change] of mends) document.querySelectorAll(selector).forEach(change);
  for (const e of document.querySelectorAll('button[aria-controls]:not([aria-expanded])')) {
    if (!document.getElementById(e.getAttribute('aria-controls'))) e.removeAttribute('aria-controls');
  }
}

// prepare makes the document show what a developer would send. The explorer itself would
// send the first value of each enumeration and every default.
function prepare(api, { groups, samples }) {
  const resolve = (v) => (v?.$ref ? v.$ref.slice(2).split('/').reduce((at, name) => at[name], api) : v) ?? {};
  for (const item of Object.values(api.paths)) {
    for (const operation of Object.values(item)) {
      operation.parameters = operation.parameters?.map(resolve);
      for (const p of operation.parameters ?? []) {
        const schema = resolve(p.schema);
        // The explorer takes an empty field for a wrong time.
        if (!p.required && schema.format === 'date-time') p.schema = { ...schema, format: undefined };
        const value = p.example ?? schema.examples?.[0] ?? schema.default ?? (schema.enum ?? resolve(schema.items).enum)?.[0];
        if (p.required || value === undefined) continue;
        p.examples = { default: { value, 'x-disabled': true } };
        delete p.example;
      }
      // The explorer itself has samples of curl.
      operation['x-codeSamples'] = samples[operation.operationId]?.filter(({ lang }) => lang !== 'sh')
        .map((one) => ({ ...one, lang: { ts: 'typescript', cli: 'shell' }[one.lang] ?? one.lang }));
    }
  }
  const tags = api.tags.map((tag) => tag.name), grouped = groups.flatMap((group) => group.tags);
  api['x-tagGroups'] = [...groups, { name: 'More', tags: tags.filter((tag) => !grouped.includes(tag)) }]
    .map(({ name, tags: of }) => ({ name, tags: of.filter((tag) => tags.includes(tag)) })).filter((group) => group.tags.length > 0);
  // Events are listed by their types.
  for (const [type, ref] of Object.entries(api.webhooks ?? {})) {
    const item = (api.webhooks[type] = resolve(ref));
    item.post.description = `${item.post.summary}.\n\n${item.post.description}`;
    item.post.summary = type;
  }
  return api;
}

// narrow leaves in a document the operations of a tag alone, with what they refer to.
function narrow(api, tag) {
  for (const [path, item] of Object.entries(api.paths)) {
    if (!Object.values(item).some((operation) => operation.tags?.includes(tag))) delete api.paths[path];
  }
  const needed = new Set();
  const follow = (part) => {
    if (part === null || typeof part !== 'object') return;
    if (typeof part.$ref === 'string' && !needed.has(part.$ref)) {
      needed.add(part.$ref);
      follow(part.$ref.slice(2).split('/').reduce((at, name) => at?.[name], api));
    }
    Object.values(part).forEach(follow);
  };
  follow(api.paths);
  for (const [kind, all] of Object.entries(api.components)) {
    if (kind === 'securitySchemes') continue;
    for (const name of Object.keys(all)) if (!needed.has(`#/components/${kind}/${name}`)) delete all[name];
  }
  api.tags = api.tags.filter(({ name }) => name === tag);
  delete api.webhooks;
  api.info.description = 'Operations of one area. [All operations](explorer#all)';
  return api;
}

async function start() {
  const load = async (path) => (await fetch(new URL(path, root))).text();
  const [text, data] = (await Promise.all([load('openapi.json'), load('api-docs/explorer.json')]))
    .map((one) => withIds(one).replace(host, root.href.replace(/\/$/, '')));
  const api = JSON.parse(text), area = new URLSearchParams(location.search).get('area');
  if (area && api.tags.some(({ name }) => name === area)) narrow(api, area);
  Scalar.createApiReference('#explorer', {
    content: prepare(api, JSON.parse(data)),
    customFetch: send,
    // Calls go straight to where the page came from, with the key typed into it.
    servers: [{ url: root.href.replace(/\/$/, '') }],
    authentication: {
      preferredSecurityScheme: 'apiKey',
      securitySchemes: { apiKey: { token: sessionStorage.getItem(kept) ?? '' } },
    },
    persistAuth: false, // in the browser's storage, it would outlive the tab
    onRequestBuilt({ request }) {
      const key = /^Bearer (svc_\w+)$/.exec(request.headers.get('Authorization'));
      if (key && key[1] !== sessionStorage.getItem(kept)) {
        sessionStorage.setItem(kept, key[1]);
        sessionStorage.removeItem(made); // another key may not find it
      }
      // Each send is a new request, unless its key was typed in.
      if (request.method !== 'GET' && !request.headers.get('Idempotency-Key')) {
        request.headers.set('Idempotency-Key', crypto.randomUUID());
      }
    },

    telemetry: false,
    withDefaultFonts: false,
    agent: { disabled: true },
    mcp: { disabled: true },
    hideClientButton: true,
    showDeveloperTools: 'never',

    customCss: style,
    hideModels: true,
    documentDownloadType: 'both',
    hiddenClients: [
      'c', 'clojure', 'csharp', 'dart', 'fsharp', 'http', 'java', 'js', 'julia', 'kotlin', 'node', 'objc', 'ocaml', 'php', 'powershell',
      'r', 'ruby', 'rust', 'swift', 'shell/httpie', 'shell/wget', 'python/aiohttp', 'python/httpx_async', 'python/httpx_sync', 'python/python3',
    ],
    defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
  });
}

// The account area opens the explorer with a key of its own for this tab.
const began = location.hash;
if (began.startsWith('#key=')) {
  sessionStorage.setItem(kept, decodeURIComponent(location.hash.slice('#key='.length)));
  sessionStorage.removeItem(made);
  history.replaceState(null, '', location.pathname);
}

// open puts the explorer in place of the page, and loads its script and its style.
async function open() {
  const [script, style] = button.dataset.script.split(' ');
  const add = (name, attributes) => new Promise((resolve, reject) => {
    const e = Object.assign(document.createElement(name), attributes, { onload: resolve, onerror: reject });
    document.head.append(e);
  });
  button.disabled = true;
  const explorer = document.createElement('div'), wait = document.createElement('div');
  explorer.id = 'explorer';
  wait.className = 'skeleton';
  wait.setAttribute('role', 'status');
  wait.innerHTML = '<p>Loading the explorer …</p>' + '<div aria-hidden="true"><i></i><i></i><i class="block"></i><i></i></div>'.repeat(3);
  await add('link', { rel: 'stylesheet', href: style });
  document.querySelector('link[rel="stylesheet"]').remove();
  document.body.className = 'trying';
  document.body.replaceChildren(document.querySelector('.top'), explorer, wait);
  try {
    await Promise.all([add('script', { src: script }), new Promise((resolve) => { requestAnimationFrame(resolve); })]);
    await start();
  } catch {
    wait.innerHTML = '<p>The explorer could not be loaded. Load the page again.</p>';
    return;
  }
  new MutationObserver(mend).observe(document.body, { subtree: true, childList: true, attributeFilter: ['class', 'role', 'aria-label', 'aria-controls'] });
}

// The account area, and the pages of operations, open the explorer at once.
const button = document.querySelector('#try');
button.hidden = document.querySelector('#size').hidden = false;
button.addEventListener('click', open);
if (began) open();
