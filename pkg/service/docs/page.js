// Adds to the pages what needs a script: buttons that copy samples, the host of this page in them, and the search.
'use strict';

// The folder of the documentation, and the folder above it: the API itself.
const nav = document.querySelector('nav[data-root]');
const docs = new URL(nav.dataset.root, location.href), api = new URL('..', docs).href.replace(/\/$/, '');

// place puts the host of this page into a sample, and leaves its colors.
function place(code) {
  const parts = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
  while (parts.nextNode()) parts.currentNode.data = parts.currentNode.data.replace(/\w+:\/\/api\.example\.com/g, api);
}

for (const pre of document.querySelectorAll('pre')) {
  const code = pre.querySelector('code');
  if (code) place(code);
  if (!navigator.clipboard) continue;
  const box = document.createElement('div'), button = document.createElement('button');
  box.className = 'sample';
  button.textContent = 'Copy';
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(pre.textContent);
    button.textContent = 'Copied';
    setTimeout(() => { button.textContent = 'Copy'; }, 2000);
  });
  pre.replaceWith(box);
  box.append(pre, button);
}

const search = document.querySelector('#search'), found = document.querySelector('#found');
let sections;

// load reads the sections of all guides once.
async function load() {
  const guides = await (await fetch(new URL('guides/index.json', docs))).json();
  return guides.flatMap((guide) => [{ id: '', heading: '', text: guide.text }, ...guide.sections].map((section) => ({
    href: new URL(guide.path, docs).href + (section.id && '#' + section.id),
    title: guide.title + (section.heading && ': ' + section.heading),
    all: `${guide.title} ${section.heading} ${section.text}`.toLowerCase(),
  })));
}

// find returns the sections that have all words, those with a word in the title first.
function find(all, words) {
  const hits = all.filter((s) => words.every((w) => s.all.includes(w)));
  const titled = (s) => words.some((w) => s.title.toLowerCase().includes(w));
  return [...hits.filter(titled), ...hits.filter((s) => !titled(s))].slice(0, 8);
}

async function show() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  const hits = words.length ? find(await (sections ??= load()), words) : [];
  found.replaceChildren(...hits.map((hit) => {
    const item = document.createElement('li'), link = document.createElement('a');
    link.href = hit.href;
    link.textContent = hit.title;
    item.append(link);
    return item;
  }));
  if (words.length && !hits.length) found.textContent = 'Nothing found';
}

search.parentElement.hidden = false;
search.addEventListener('input', show);
