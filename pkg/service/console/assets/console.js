// What the pages of the account area do beyond their HTML. Each of them works without this script.
'use strict';

// A link to a form opens it in the dialog: htmx has put the form there.
const dialog = document.querySelector('#dialog');
document.addEventListener('htmx:after:swap', (event) => { if (event.detail.ctx.target?.id === 'dialog-body' && !dialog.open) dialog.showModal(); });
// A dialog that cannot be fetched opens as a page: the browser says there what is wrong with the connection.
for (const failed of ['htmx:error', 'htmx:response:error']) document.addEventListener(failed, (event) => {
  const link = event.detail?.ctx?.sourceElement?.closest('a[href]');
  if (link) location.assign(link.href);
});
dialog?.addEventListener('click', (event) => {
  if (event.target === dialog || event.target.closest('[data-close]')) { event.preventDefault(); dialog.close(); }
});

document.addEventListener('click', async (event) => {
  const button = event.target.closest('[data-copy]');
  if (button) {
    await navigator.clipboard.writeText(document.querySelector(button.dataset.copy).textContent.trim());
    const before = button.textContent;
    button.textContent = button.dataset.copied;
    button.setAttribute('aria-live', 'polite');
    setTimeout(() => { button.textContent = before; }, 3000);
    return;
  }
  // A preset of scopes checks its boxes.
  const preset = event.target.closest('[data-scopes]');
  if (preset) {
    event.preventDefault();
    const scopes = preset.dataset.scopes.split(' ');
    for (const box of preset.form.querySelectorAll('input[name="scopes"]')) box.checked = scopes.includes(box.value);
  }
  for (const menu of document.querySelectorAll('details.menu[open]')) if (!menu.contains(event.target)) menu.open = false;
});

document.addEventListener('keydown', (event) => {
  if (event.key === 'Enter' && event.target.matches('[data-filter]')) event.preventDefault(); // a search sends no form
  if (event.key !== 'Escape') return;
  for (const menu of document.querySelectorAll('details.menu[open]')) { menu.open = false; menu.querySelector('summary').focus(); }
});

// The search of scopes hides what does not match.
document.addEventListener('input', (event) => {
  if (!event.target.matches('[data-filter]')) return;
  const wanted = event.target.value.trim().toLowerCase();
  for (const row of event.target.form.querySelectorAll('[data-row]')) row.hidden = !row.textContent.toLowerCase().includes(wanted);
});

// Times are shown in the time zone of the browser. Their titles are in UTC.
function localize(root) {
  const local = new Intl.DateTimeFormat(document.documentElement.lang, { dateStyle: 'medium', timeStyle: 'short' });
  for (const time of root.querySelectorAll('time[data-local]')) time.textContent = local.format(new Date(time.dateTime));
}
localize(document);
document.addEventListener('htmx:after:swap', () => localize(document));

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
