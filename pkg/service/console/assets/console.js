// What the pages of the account area do beyond their HTML. Each of them works without this script.
'use strict';

// A link to a form opens it in the dialog, and one to a detail in a panel beside its list. In a new tab, and a detail on a
// phone, it is a page. A form that cannot be fetched opens as a page too: the browser says there what is wrong.
const dialog = document.querySelector('#dialog'), part = { headers: { 'X-Part': 'true' } };
document.addEventListener('click', async (event) => {
  const link = event.target.closest('a[data-dialog]');
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || link.ariaBusy) return;
  if (link.matches('[data-opens]') && matchMedia('(max-width: 47.99rem)').matches) return;
  event.preventDefault();
  const address = new URL(link.href);
  address.searchParams.set('dialog', dialog.dataset.token);
  link.ariaBusy = 'true';
  const answer = await fetch(address, part).catch(() => null), text = answer?.ok && await answer.text().catch(() => '');
  link.ariaBusy = null;
  if (!text) { location.assign(link.href); return; }
  dialog.querySelector('#dialog-body').innerHTML = text;
  dialog.querySelectorAll('select').forEach(typable);
  if (!dialog.open) dialog.showModal();
});
dialog?.addEventListener('click', (event) => {
  if (event.target === dialog || event.target.closest('[data-close]')) { event.preventDefault(); dialog.close(); }
});

document.addEventListener('click', async (event) => {
  const button = event.target.closest('[data-copy]');
  if (button) {
    await navigator.clipboard.writeText(button.dataset.text ?? document.querySelector(button.dataset.copy).textContent.trim());
    const before = button.textContent, label = button.getAttribute('aria-label');
    button.textContent = button.dataset.copied;
    button.removeAttribute('aria-label');
    button.setAttribute('aria-live', 'polite');
    setTimeout(() => { button.textContent = before; if (label) button.setAttribute('aria-label', label); }, 3000);
    return;
  }
  // A preset of scopes checks its boxes.
  const preset = event.target.closest('[data-scopes]');
  if (preset) {
    event.preventDefault();
    const scopes = preset.dataset.scopes.split(' ');
    for (const row of preset.form.querySelectorAll('[data-scope-row]')) {
      const levels = [...row.querySelectorAll('input')], all = new Set(levels.flatMap((level) => level.value.split(' ')));
      const wanted = scopes.filter((scope) => all.has(scope)).join(' ');
      for (const level of levels) level.checked = level.value === wanted;
    }
    const select = preset.form.querySelector('[data-preset]');
    if (select) select.value = '';
  }
  for (const menu of document.querySelectorAll('details.menu[open]')) if (!menu.contains(event.target)) menu.open = false;
});

document.addEventListener('keydown', (event) => {
  if (event.key !== 'Escape') return;
  for (const menu of document.querySelectorAll('details.menu[open]')) { menu.open = false; menu.querySelector('summary').focus(); }
});

// Scopes that are chosen one by one are no preset.
document.addEventListener('change', (event) => {
  const select = event.target.closest('[data-scope-row]') && event.target.form.querySelector('[data-preset]');
  if (select) select.value = '';
});

// A filter applies as soon as it is chosen. Empty fields are not part of the address.
document.addEventListener('change', (event) => {
  if (event.target.matches('form[data-applies] select')) event.target.form.requestSubmit();
});
document.addEventListener('submit', (event) => {
  if (event.target.matches('form[data-applies]')) for (const field of event.target.elements) field.disabled ||= field.value === '';
});

// The pages have their times in the zone of the browser, unless the person has chosen one: a cookie tells it. A page that
// did not know it is loaded once more.
const shownZone = document.documentElement.dataset.zone, here = Intl.DateTimeFormat().resolvedOptions().timeZone;
if (here && !document.cookie.includes(`zone=${here}`)) {
  document.cookie = `zone=${here}; path=/; max-age=31536000; samesite=lax; secure`;
  if (shownZone && shownZone !== here && document.cookie.includes(`zone=${here}`)) location.reload();
}

// Without a connection a form is not sent, and stays as it was typed.
const offline = document.querySelector('#offline');
document.addEventListener('submit', (event) => {
  if (navigator.onLine || !offline) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  offline.hidden = false;
}, true);
addEventListener('online', () => { if (offline) offline.hidden = true; });

// The search: a field that shows what it finds while one types. The arrows choose, Enter opens.
const typed = new Map();
const remote = (address) => async (text) => {
  const answer = text && await fetch(`${address}&q=${encodeURIComponent(text)}`, part).catch(() => null);
  return answer?.ok ? answer.text() : '';
};
async function suggest(field, find, into) {
  const text = field.value.trim();
  typed.set(field, text);
  const found = await find(text);
  if (typed.get(field) !== text || !found && text) return;
  into.innerHTML = found;
  if (!found) { into.hidden = true; return; }
  for (const own of into.querySelectorAll(':scope > header, :scope > button')) own.remove(); // those of a dialog
  const links = [...into.querySelectorAll('.hits a')];
  into.setAttribute('role', 'listbox');
  into.setAttribute('aria-label', field.ariaLabel || field.labels[0]?.textContent.trim());
  for (const [i, link] of links.entries()) { link.id = `${field.id}-${i}`; link.setAttribute('role', 'option'); link.tabIndex = -1; }
  for (const one of into.querySelectorAll('ul, li, section, h2')) one.setAttribute('role', 'presentation');
  into.hidden = false;
  field.setAttribute('aria-expanded', 'true');
}
function combine(field, find, into, open) {
  let wait;
  const close = () => { into.hidden = true; field.setAttribute('aria-expanded', 'false'); field.removeAttribute('aria-activedescendant'); };
  into.id ||= `${field.id}-found`;
  for (const [name, value] of [['role', 'combobox'], ['aria-expanded', 'false'], ['aria-controls', into.id], ['aria-autocomplete', 'list']]) field.setAttribute(name, value);
  field.addEventListener('input', () => { clearTimeout(wait); wait = setTimeout(suggest, 200, field, find, into); });
  field.addEventListener('keydown', (event) => {
    const links = [...into.querySelectorAll('.hits a')], at = links.findIndex((l) => l.ariaSelected === 'true');
    if (event.key === 'Escape') close();
    if (event.key === 'ArrowDown' && into.hidden) suggest(field, find, into);
    if (into.hidden || !links.length) return;
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      const next = (at + (event.key === 'ArrowDown' ? 1 : -1) + links.length) % links.length;
      for (const [i, link] of links.entries()) link.ariaSelected = String(i === next);
      field.setAttribute('aria-activedescendant', links[next].id);
      links[next].scrollIntoView({ block: 'nearest' });
    } else if (event.key === 'Enter' && at >= 0) {
      event.preventDefault();
      open(links[at]);
    }
  });
  into.addEventListener('mousedown', (event) => {
    const link = event.target.closest('.hits a');
    if (link && !event.metaKey && !event.ctrlKey) { event.preventDefault(); open(link); }
  });
  field.addEventListener('blur', () => setTimeout(close, 150));
}
for (const form of document.querySelectorAll('form[data-search]')) {
  combine(form.elements.q, remote(form.dataset.search), form.querySelector('.results'), (link) => location.assign(link.href));
}
// A field that chooses one of many sends the id of what is chosen.
for (const field of document.querySelectorAll('input[data-combo]')) {
  const into = document.createElement('div'), id = document.createElement('input');
  into.className = 'results';
  into.hidden = true;
  id.type = 'hidden';
  field.after(into, id);
  const chosen = (value) => { [id.name, id.value, field.name] = [field.id, value, '']; };
  if (field.dataset.id && field.value === field.defaultValue) chosen(field.dataset.id);
  field.addEventListener('input', () => { id.name = ''; field.name = field.id; });
  combine(field, remote(field.dataset.combo), into, (link) => {
    field.value = link.querySelector('span').textContent;
    chosen(link.dataset.id);
    into.hidden = true;
    if (field.form.matches('[data-applies]')) field.form.requestSubmit();
  });
}

// A select of more than 15 options becomes a field in which one types a part of a name. The select stays, out of sight,
// and has the value.
const plain = (text) => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().trim();
function typable(select) {
  const options = [...select.options].filter((one) => one.value), none = [...select.options].find((one) => !one.value);
  if (options.length <= 15) return;
  const box = document.createElement('span'), field = document.createElement('input'), into = document.createElement('div');
  const shown = () => (select.value ? select.selectedOptions[0].text.trim() : '');
  box.className = 'relative block';
  [into.className, into.hidden] = ['results', true];
  [field.className, field.autocomplete, field.value, field.placeholder] = ['input w-full', 'off', shown(), none?.text ?? ''];
  for (const name of ['id', 'dir', 'required', 'aria-label', 'aria-describedby', 'aria-invalid', 'aria-errormessage']) {
    if (select.hasAttribute(name)) field.setAttribute(name, select.getAttribute(name));
    select.removeAttribute(name);
  }
  const focused = select.autofocus;
  select.hidden = true;
  select.before(box);
  box.append(field, into, select);
  if (focused) field.focus();
  const find = async (text) => {
    const words = plain(text).split(/\s+/), list = document.createElement('ul');
    const begins = (one) => Number(!plain(one.text).startsWith(plain(text)));
    const found = text === shown() ? options : options.filter((one) => words.every((word) => plain(one.text).includes(word)));
    list.className = 'hits';
    for (const one of found.toSorted((a, b) => begins(a) - begins(b))) {
      const item = document.createElement('li'), link = document.createElement('a'), name = document.createElement('span');
      name.textContent = one.text.trim();
      [name.dir, link.dataset.id] = ['auto', one.value];
      link.append(name);
      item.append(link);
      list.append(item);
    }
    return found.length ? list.outerHTML : '';
  };
  const choose = (value) => {
    const before = select.value;
    select.value = value;
    field.value = shown();
    into.hidden = true;
    if (value !== before) select.dispatchEvent(new Event('change', { bubbles: true }));
  };
  combine(field, find, into, (link) => choose(link.dataset.id));
  field.addEventListener('focus', () => field.select());
  field.addEventListener('click', () => suggest(field, find, into));
  // What was typed in full is chosen, and so is the first that fits. A field that is emptied chooses nothing.
  field.addEventListener('change', () => {
    const text = plain(field.value), fits = options.filter((one) => plain(one.text).startsWith(text) || plain(one.value) === text);
    const exact = fits.find((one) => plain(one.text) === text || plain(one.value) === text);
    if (!text && none) choose('');
    else choose((text && (exact ?? fits[0])?.value) || select.value);
  });
}
document.querySelectorAll('select').forEach(typable);

// A part of the page that waits for something is read again every two seconds, until it has it: 60 times, or as often as
// it says.
async function follow(shown, tries) {
  if (!shown?.dataset.polled || tries === 0) return;
  await new Promise((resolve) => { setTimeout(resolve, 2000); });
  const answer = document.hidden ? null : await fetch(shown.dataset.polled, part).catch(() => null);
  const fresh = answer?.ok && new DOMParser().parseFromString(await answer.text(), 'text/html').getElementById(shown.id);
  if (fresh) shown.replaceWith(fresh);
  follow(fresh || shown, tries - 1);
}
for (const shown of document.querySelectorAll('[data-polled]')) follow(shown, Number(shown.dataset.tries ?? 60));

// The language of samples is remembered.
const language = localStorage.getItem('language');
for (const samples of document.querySelectorAll('[data-samples]')) {
  const chosen = samples.querySelector(`[data-language="${CSS.escape(language ?? '')}"]`);
  if (chosen) chosen.open = true;
  samples.addEventListener('toggle', (event) => { if (event.target.open) localStorage.setItem('language', event.target.dataset.language); }, true);
}

// Keys of the pages. None counts while one types.
const typing = (target) => target.matches('input:not([type="checkbox"]), textarea, select, [contenteditable]');
const queue = document.querySelector('form[data-queue]');
const posts = queue ? [...queue.querySelectorAll('[data-post]')] : [];
function choose() {
  const n = queue?.querySelectorAll('.pick:checked').length, shown = queue?.querySelector('[data-chosen]');
  if (shown) shown.textContent = n;
}
queue?.addEventListener('change', choose);
choose();
document.addEventListener('keydown', (event) => {
  const search = document.querySelector('aside form[data-search] input');
  if (event.key.toLowerCase() === 'k' && (event.metaKey || event.ctrlKey) && search) { event.preventDefault(); search.focus(); search.select(); return; }
  if (event.metaKey || event.ctrlKey || event.altKey || typing(event.target) || dialog?.open) return;
  if (event.key === '/' && search) { event.preventDefault(); search.focus(); return; }
  const link = document.querySelector(`[data-key="${CSS.escape(event.key.toLowerCase())}"]`);
  if (link) { event.preventDefault(); link.click(); return; }
  if (!posts.length) return;
  const at = posts.findIndex((post) => post.contains(document.activeElement)), post = posts[at];
  const go = (to) => { to?.querySelector('h3 a').focus(); to?.scrollIntoView({ block: 'nearest' }); };
  switch (event.key.toLowerCase()) {
    case 'j': go(posts[Math.min(at + 1, posts.length - 1)]); break;
    case 'k': go(posts[Math.max(at - 1, 0)]); break;
    case 'x': post?.querySelector('.pick')?.click(); break;
    case 'a': (queue.querySelector('.pick:checked') ? queue.querySelector('.acts [value="approve"]') : post?.querySelector('[data-approve]'))?.click(); break;
    case 'n': {
      const pick = post?.querySelector('.pick');
      if (pick && !queue.querySelector('.pick:checked')) pick.click();
      if (pick) { event.preventDefault(); queue.elements.note.focus(); }
    }
  }
});

// The calendar: a post is moved to another day by dragging it, or by Alt and the arrows.
const calendar = document.querySelector('.calendar[data-moves]');
function moveTo(item, day) {
  const form = document.querySelector('#move');
  form.action += `${item}/move`;
  form.elements.day.value = day;
  form.requestSubmit();
}
calendar?.addEventListener('dragstart', (event) => {
  const entry = event.target.closest('[data-item]');
  if (entry) event.dataTransfer.setData('text/plain', entry.dataset.item);
});
for (const kind of ['dragover', 'dragleave', 'drop']) calendar?.addEventListener(kind, (event) => {
  const day = event.target.closest('[data-date]');
  if (!day) return;
  event.preventDefault();
  day.toggleAttribute('data-over', kind === 'dragover');
  const item = kind === 'drop' ? event.dataTransfer.getData('text/plain') : '';
  if (item.startsWith('cnt_')) moveTo(item, day.dataset.date);
});
calendar?.addEventListener('keydown', (event) => {
  const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -7, ArrowDown: 7 }[event.key], entry = event.target.closest('[data-item]');
  if (!by || !event.altKey || !entry) return;
  event.preventDefault();
  const day = new Date(`${entry.closest('[data-date]').dataset.date}T12:00:00Z`);
  day.setUTCDate(day.getUTCDate() + by);
  moveTo(entry.dataset.item, day.toISOString().slice(0, 10));
});

// A page from the cache of the browser is asked for again, because the sign-in may have ended.
addEventListener('pageshow', (event) => { if (event.persisted) location.reload(); });

// The secret of a link is in the fragment, which browsers send to nobody: the form sends it in its body.
function sendFragment() {
  const form = document.querySelector('form[data-fragment]');
  if (!form || location.hash.length < 2) return;
  form.elements.link.value = location.hash.slice(1);
  history.replaceState(null, '', location.pathname);
  form.submit();
}
sendFragment();
addEventListener('hashchange', sendFragment);
