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
  }
  for (const menu of document.querySelectorAll('details.menu[open]')) if (!menu.contains(event.target)) menu.open = false;
});

document.addEventListener('keydown', (event) => {
  if (event.key !== 'Escape') return;
  for (const menu of document.querySelectorAll('details.menu[open]')) { menu.open = false; menu.querySelector('summary').focus(); }
});

// A filter applies as soon as it is chosen. Empty fields are not part of the address.
document.addEventListener('change', (event) => {
  if (event.target.matches('form[data-applies] select')) event.target.form.requestSubmit();
});
document.addEventListener('submit', (event) => {
  if (event.target.matches('form[data-applies]')) for (const field of event.target.elements) field.disabled ||= field.value === '';
});

// A detail opens in a panel beside the list. On a phone, and in a new tab, it is a page.
document.addEventListener('click', (event) => {
  if (!event.target.closest('a[data-opens]')) return;
  if (event.ctrlKey || event.metaKey || event.shiftKey || matchMedia('(max-width: 47.99rem)').matches) event.stopPropagation();
}, true);

// Times are shown in the time zone of the browser. Their titles are in UTC.
function localize(root) {
  const language = document.documentElement.lang === 'en' ? 'en-GB' : document.documentElement.lang;
  const whole = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'short' });
  const seconds = new Intl.DateTimeFormat(language, { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit', second: '2-digit' });
  for (const time of root.querySelectorAll('time[data-local]')) {
    time.textContent = (time.dataset.local === 'seconds' ? seconds : whole).format(new Date(time.dateTime));
  }
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
