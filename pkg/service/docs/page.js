// Adds to the pages what needs a script: the address of this service in samples and buttons that copy them, tabs that
// remember the language, the search by keys, and whether the service answers.
'use strict';

// The folder of the documentation, and the folder above it: the API itself.
const docs = new URL(document.documentElement.dataset.root || '.', location.href);
const api = new URL('..', docs).href.replace(/\/$/, '');
const make = (name, attributes = {}, ...children) => {
  const e = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
  e.append(...children);
  return e;
};

// place puts the address of this service into a sample, and leaves its colors.
function place(code) {
  const parts = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
  while (parts.nextNode()) parts.currentNode.data = parts.currentNode.data.replace(/\w+:\/\/api\.example\.com/g, api);
}

for (const pre of document.querySelectorAll('pre')) {
  const code = pre.querySelector('code');
  if (code) place(code);
  if (!navigator.clipboard) continue;
  const box = make('div', { class: 'sample' }), button = make('button', { type: 'button' }, 'Copy');
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(pre.textContent);
    button.textContent = 'Copied';
    setTimeout(() => { button.textContent = 'Copy'; }, 2000);
  });
  pre.replaceWith(box);
  box.append(pre, button);
}

// The language of the tabs is kept in this browser. A row without it stays as it is.
const kept = 'docs-language';
function choose(language) {
  for (const input of document.querySelectorAll('.tabs > input')) if (input.value === language) input.checked = true;
}
try { choose(localStorage.getItem(kept)); } catch { /* the browser keeps nothing */ }
document.addEventListener('change', ({ target }) => {
  if (!target.matches('.tabs > input')) return;
  const at = target.getBoundingClientRect().top;
  choose(target.value);
  scrollBy({ top: target.getBoundingClientRect().top - at, behavior: 'instant' }); // rows above may have changed their height
  try { localStorage.setItem(kept, target.value); } catch { /* as above */ }
});

// The search: a dialog with a field and a list. Without it, the link leads to the page of the search.
let dialog, field, list, note, hits = [], at = 0, asked = '';

function build() {
  field = make('input', {
    type: 'search', role: 'combobox', 'aria-label': 'Search the documentation', 'aria-controls': 'found', 'aria-expanded': 'false',
    'aria-autocomplete': 'list', autocomplete: 'off', spellcheck: 'false', dir: 'auto', placeholder: 'Search guides, operations and errors',
  });
  list = make('ul', { id: 'found', role: 'listbox', 'aria-label': 'Results' });
  note = make('p', { role: 'status' }, 'Arrows choose, Enter opens, Esc closes.');
  dialog = make('dialog', { 'aria-label': 'Search' }, make('div', {}, field), list, note);
  document.body.append(dialog);
  field.addEventListener('input', look);
  field.addEventListener('keydown', (e) => {
    if (e.key === 'ArrowDown' || e.key === 'ArrowUp') {
      e.preventDefault();
      select((at + (e.key === 'ArrowDown' ? 1 : -1) + hits.length) % (hits.length || 1));
    } else if (e.key === 'Enter') {
      e.preventDefault();
      follow(hits[at]);
    }
  });
  dialog.addEventListener('click', (e) => {
    if (e.target === dialog) dialog.close();
  });
}

function follow(hit) {
  if (field.value.trim() !== asked) return; // the results are not there yet
  if (hit) location.href = new URL(hit.path, docs).href;
  else if (asked) location.href = new URL('search?q=' + encodeURIComponent(asked), docs).href;
  dialog.close();
}

function select(i) {
  at = i;
  [...list.children].forEach((e, n) => e.setAttribute('aria-selected', String(n === i)));
  const chosen = list.children[i];
  if (chosen) {
    field.setAttribute('aria-activedescendant', chosen.id);
    chosen.scrollIntoView({ block: 'nearest' });
  } else field.removeAttribute('aria-activedescendant');
}

async function look() {
  const words = field.value.trim();
  let found = { hits: [] };
  if (words) {
    await new Promise((resolve) => { setTimeout(resolve, 90); });
    if (words !== field.value.trim()) return; // typing goes on
    try {
      found = await (await fetch(new URL('search.json?q=' + encodeURIComponent(words), docs))).json();
    } catch {
      note.textContent = 'The search does not answer. Are you offline?';
      return;
    }
    if (words !== field.value.trim()) return;
  }
  asked = words;
  hits = found.hits;
  list.replaceChildren(...hits.map((hit, i) => {
    const text = make('p', {}, ...(hit.excerpt ?? []).map((part) => (part.marked ? make('mark', {}, part.text) : part.text)));
    const option = make('li', { role: 'option', id: 'found-' + i }, make('b', {}, hit.title), ' ', make('span', { class: 'kind' }, hit.kind), text);
    option.addEventListener('click', () => follow(hit));
    option.addEventListener('mousemove', () => { if (at !== i) select(i); });
    return option;
  }));
  field.setAttribute('aria-expanded', String(hits.length > 0));
  select(0);
  if (!words) note.textContent = 'Arrows choose, Enter opens, Esc closes.';
  else if (!hits.length) note.textContent = 'Nothing found. Try another word.';
  else note.textContent = hits.length + (hits.length === 1 ? ' page' : ' pages') + (found.instead ? `, read as “${found.instead}”` : '');
}

function ask() {
  if (!dialog) build();
  if (!dialog.open) dialog.showModal();
  field.select();
}

const link = document.querySelector('.find');
link.querySelector('kbd').hidden = false;
if (!/Mac|iP/.test(navigator.platform)) link.querySelector('kbd').textContent = 'Ctrl K';
link.addEventListener('click', (e) => {
  if (e.metaKey || e.ctrlKey || e.shiftKey || !document.querySelector('main#content')) return;
  e.preventDefault();
  ask();
});
document.addEventListener('keydown', (e) => {
  if (!document.querySelector('main#content')) return; // the explorer has a search of its own
  const typing = e.target.closest('input, textarea, select, [contenteditable]');
  if ((e.key === 'k' && (e.metaKey || e.ctrlKey)) || (e.key === '/' && !typing && !e.metaKey && !e.ctrlKey && !e.altKey)) {
    e.preventDefault();
    ask();
  }
});

for (const line of document.querySelectorAll('[data-health]')) {
  const began = performance.now();
  fetch(new URL(line.dataset.health, location.href)).then(async (answer) => {
    await answer.arrayBuffer(); // a body that is not read keeps its connection
    line.textContent = answer.ok ? `Works: it answered in ${Math.round(performance.now() - began)} ms.` : `Does not work: it answered ${answer.status}.`;
  }, () => { line.textContent = 'Does not answer.'; });
}
