// Prints what the libraries of X and Bluesky find in texts: a line of JSON for each text, with offsets in bytes. The
// texts are the cases below, and others that are made of words of many scripts from a fixed seed.
// Usage: node judge.mjs <packages>
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const require = createRequire(resolve(process.argv[2], 'judge.js'));
const x = require('twitter-text');
const { RichText } = await import(pathToFileURL(require.resolve('@atproto/api')));

const cases = [
  // Links: where they begin and end.
  '詳しくはhttps://example.com/aをご覧ください。' + '新しい靴が届きました。'.repeat(14),
  'https://例え.jp/パス', 'https://example.com/?q=日本', 'https://example.com/a—next', 'https://example.com/a–b',
  `https://${'a'.repeat(64)}.com/`, `https://${'a'.repeat(63)}.com/`, 'https://host.invalidtld/path', 'https://localhost/a',
  `https://${'ü'.repeat(60)}.com/`, `https://${'ü'.repeat(50)}.com/`, `ü${'a'.repeat(59)}.com`,
  'https://example.org/wiki/Film_(2010)', '(https://example.org/wiki/Film_(2010))', '(https://example.com/a)',
  '(see https://example.com/a).', 'https://example.com/a_(b_(c))_d', 'https://example.com/a(b', 'https://example.com/a)b',
  '“https://example.com/a”', '«https://example.com/a»', '„https://example.com/a“', '‘https://example.com/a’',
  '"https://example.com/a"', 'https://example.com/a、次', 'https://example.com/a！', 'https://example.com/a。次の文',
  '（https://example.com/a）', 'https://example.com/a를 보세요', 'https://example.comをご覧', 'https://example.com，好',
  'ดูที่https://example.com/aได้เลย', 'https://ar.example.com/wiki/مصر', 'https://ru.wikipedia.org/wiki/Обувь',
  'https://example.com/a.', 'https://example.com/a,', 'https://example.com/a...', 'https://example.com/a?!',
  'https://example.com/a;b', 'https://example.com.', 'https://example.com/?', 'https://example.com?a=b&c=d#e',
  'https://example.com/#fragment', 'https://example.com/a/#b/', 'https://example.com:8080/a', 'https://example.com:/a',
  'Node.js', 'Node.js' + 'a'.repeat(262), 'done.Next', '4.Quartal', 'руб.шт', 'README.md', 'v1.2.3', 'e.g. this', '3.5 and 10.000',
  'acme.com', 'Acme.com', 'ACME.COM', 'acme.com/a?b=c', 'acme.com?b=c', 'acme.co.uk', 'acme.com.', 'acme.com,or', '(acme.com)',
  'ann@acme.com', 'ann.lee@acme.com', '@acme.com', '#acme.com', '$acme.com', '-acme.com', '_acme.com', '/acme.com', '.acme.com',
  'foo_bar.com', 'foo-bar.com', '-foo.com', 'foo-.com', 'foo..com', 'https://foo_bar.com', 'https://a_b.example.com/',
  'пример.рф', 'https://пример.рф/путь', 'https://EXAMPLE.com/A', 'HTTPS://EXAMPLE.COM/A', 'Https://example.com/a',
  'http://example.com', 'http://192.168.0.1/a', 'ftp://example.com/a', 'https://user:pw@example.com/a', 'www.example.com',
  'https://xn--r8jz45g.jp/', 'xn--r8jz45g.jp', 'xn--fiqs8s', 'https://t.co/abc', 'https://t.co/abc.def', 'https://t.co/abc/def?x=1',
  `https://t.co/${'a'.repeat(41)}`, 'https://t.co/abc?x=1&y=', 'example.com日.foo.com', '日本example.com', '日a.com日-.a.com日-.com',
  'https://example.com/a👟', '👟https://example.com/a', '👟example.com', 'https://example.com/@user/status', 'https://example.com/a|b',
  'httpbin.org', 'a.com b.com c.com', 'a.com,b.com', 'https://a.com/https://b.com/', 'https://a.comhttps://b.com', 'https://a.com/%E3%81%82',
  'https://example.com/~user/', "https://example.com/it's", 'https://example.com/a*b*', 'https://example.com/[a]', 'https://example.com/a[0]=b',
  'runs🔥-«xn--r8jz45g.jp/a»', 'a🔥example.com', '-🔥example.com', 'a.com🔥b.com', '#අදshop.example.io/a,-@user.bsky.social', 'https://example.com/Path!(b)', 'https://example.com/a_(b),(c)d',
  'https://example.com/a(b)(c).(d)', 'https://example.com/(a)', 'https://example.com/a-«b»', 'https://example.com/ﬁ', 'https://example.com/ǅ', 'example.公司', 'example.みんな', 'https://example.みんな/', 'vermögensberater.vermögensberater',
  'zero\u200bhttps://example.com/a\u200bwidth', '\u202ahttps://example.com/a\u202c', 'https://exa\u00admple.com/', `https://example.com/${'a'.repeat(5000)}`,
  // Hashtags, mentions and cashtags.
  '#हिन्दी', '#ไทยแลนด์', '#cafe\u0301', '#café', '#e-commerce', '#t-shirt', '#🔥sale', '＃東京', '#東京タワー。', '#R&D', '#C++', "#don't", '#2026', '#a.b',
  '#' + 'a'.repeat(64), '#' + 'a'.repeat(65), '#' + 'a'.repeat(70), '#' + 'é'.repeat(64), '#' + '👟'.repeat(32), '#' + '👟'.repeat(33),
  '(#sale)', 'now,#shoes', '"#boots"', '#a#b', '##a', '#a_b', '#_', '#1a', '#a1', '#-a', 'a#b', '&#a', '#️⃣', '#⃣', '#a-', '#a!', '#a…', '#a\u200db',
  '#a\u200cb', '#l·l', '#コーヒー', '#한국어를', '#русский', '#עברית', '#עבר״ית', '#العربية', '#বাংলা', '#தமிழ்', '#മലയാളം', '#አማርኛ', '#ქართული', '#ភាសាខ្មែរ', '#ລາວ', '#မြန်မာ',
  '#example.com', 'https://example.com/#a', '#a://b', '♥️#love', '#',
  '@user', '@user_name!', '@user.bsky.social', '@User.Bsky.Social.', 'a@user', '@@user', '＠user', 'RT @user', 'rt:@user', '@user/list', '@usér', '@a.test', '@x.notatld',
  '(@user.com)', '@user.com_x', '@user.com-', '@ a', '@user://',
  '$ACME', '$ACME $BETA', '$acme.b', '$ACME_b', '$TOOLONGNAME', '$A1', '$1A', 'a$ACME', '($ACME)', '$ACME,', '$ACME’s', '$5',
  // Lengths.
  'cafe\u0301', '\u1112\u1161\u11ab\u1100\u1173\u11af'.repeat(3), 'ｶﾞ', '👨‍👩‍👧', '👩‍🚀', '👩🏽‍🚀', '🏳️‍🌈', '🇩🇪', '🇦🇦', '🏴󠁧󠁢󠁥󠁮󠁧󠁿', '1️⃣', '©', '©️', '™️', '☺', '☺️', '☺︎',
  '☝️🏽', '☝🏽', '🔥️', '❤️‍🔥', '🧑‍💻', '🫶🏽', '🫠', '♟️', '⛹️‍♀️', '🕵🏽‍♂️', '“quoted” – …', '′″', '𝒳', 'ﷺ', '\ufe0f', 'a\u200bb', 'ǆ', 'ấ', 'a\u0302\u0301',
  '', ' ', '\n', 'One\nhttps://example.com/a\ntwo #a\n#b',
];

// A few words of each script, and the sign that ends a sentence.
const scripts = [
  ['The new shoe runs far', '.'], ['Größe über süße Füße', '!'], ['giày mới đến hôm nay', '.'], ['új cipő érkezett őszre', '…'],
  ['новая обувь уже здесь', '.'], ['νέα παπούτσια ήρθαν σήμερα', ';'], ['նոր կոշիկներ եկան այսօր', '։'], ['נעליים חדשות הגיעו היום', '.'],
  ['وصلت أحذية جديدة اليوم', '؟'], ['नए जूते आज आ गए', '।'], ['নতুন জুতা আজ এসেছে', '।'], ['ਨਵੇਂ ਜੁੱਤੇ ਅੱਜ ਆਏ', '।'], ['નવા જૂતા આજે આવ્યા', '.'],
  ['புதிய காலணிகள் இன்று வந்தன', '.'], ['కొత్త బూట్లు ఈరోజు వచ్చాయి', '.'], ['ಹೊಸ ಶೂಗಳು ಇಂದು ಬಂದಿವೆ', '.'], ['പുതിയ ഷൂസ് ഇന്ന് എത്തി', '.'],
  ['අලුත් සපත්තු අද ආවා', '.'], ['รองเท้าใหม่ มาแล้ว วันนี้', ' '], ['ເກີບໃໝ່ ມາແລ້ວ ມື້ນີ້', ' '], ['ស្បែកជើងថ្មី មកដល់ ថ្ងៃនេះ', '។'], ['ဖိနပ်အသစ် ရောက် ပြီ', '။'],
  ['ახალი ფეხსაცმელი დღეს ჩამოვიდა', '.'], ['አዲስ ጫማ ዛሬ ደረሰ', '።'], ['새로운 신발이 오늘 도착했습니다', '.'], ['新しい 靴が 今日 届きました', '。'], ['カタカナ スニーカー セール', '！'],
  ['新鞋 今天 到货 了', '，'], ['ᠰᠢᠨ᠎ᠡ ᠭᠤᠲᠤᠯ', '᠃'], ['👟🔥 ✨🎉 👩‍🚀', '❗'],
];

// The 32 bits of a linear congruential generator of fixed seed.
let state = 20261129;
const below = (n) => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return Math.floor((state / 2 ** 32) * n);
};
const pick = (list) => list[below(list.length)];

const addresses = ['https://example.com', 'http://example.com/a', 'https://example.org/wiki/Film_(2010)', 'https://shop.example.co.uk/a-b_c/?x=1&y=2',
  'https://bücher.example.de/größe', 'https://пример.рф/путь', 'https://例え.jp/靴', 'example.com', 'shop.example.io/a', 'Node.js', '4.Quartal',
  'https://example.com/a#b', 'https://t.co/AbC123', 'https://example.unknowntld/a', 'acme.москва', 'https://example.com/?q=', 'sub_domain.example.com',
  'HTTP://Example.COM/Path', 'https://example.com:443/a.html', 'xn--r8jz45g.jp/a'];
const around = [['', ''], ['(', ')'], ['“', '”'], ['«', '»'], ['「', '」'], ['"', '"'], ['', '.'], ['', '、'], ['', ','], ['[', ']'], ["'", "'"], ['', '…'], ['', '!']];
const glue = ['', ' ', ' ', ' ', '\n', ', ', '-'];
const signs = ['#', '#', '#', '＃', '@', '$'];
const emojis = ['👟', '❤️', '👨‍👩‍👧‍👦', '🇫🇷', '1️⃣', '👍🏽', '☺️', '™️'];

const wordOf = ([words]) => pick(words.split(' '));
const piece = (script) => {
  switch (below(9)) {
    case 0: case 1: {
      const [open, close] = pick(around);
      return open + pick(addresses) + close;
    }
    case 2: case 3: return pick(signs) + wordOf(script) + pick(['', '', '2026', '_x', '-x', '.y', '🔥', '!']);
    case 4: return pick(emojis);
    case 5: return pick(['@user', '@user.bsky.social', '$ACME', '#sale', '#2026', 'ann@example.com', 'RT @user:']);
    case 6: return wordOf(script) + script[1];
    default: return wordOf(script);
  }
};
const made = scripts.flatMap((script) => Array.from({ length: 12 }, () => {
  let text = wordOf(script);
  for (let n = 2 + below(5); n > 0; n--) text += pick(glue) + piece(script);
  return below(8) === 0 ? text.normalize('NFD') : text;
}));

const bytes = (text, units) => Buffer.byteLength(text.slice(0, units));
for (const text of new Set([...cases, ...made])) {
  const at = ({ indices: [from, to] }) => [bytes(text, from), bytes(text, to)];
  const entities = x.extractEntitiesWithIndices(text);
  const rich = new RichText({ text });
  rich.detectFacetsWithoutResolution();
  const facets = (rich.facets ?? []).map(({ index: { byteStart, byteEnd }, features: [f] }) =>
    [f.$type.split('#')[1], byteStart, byteEnd, f.uri ?? f.tag ?? f.did]);
  console.log(JSON.stringify({
    text, length: x.parseTweet(text).weightedLength, links: x.extractUrlsWithIndices(text).map(at),
    hashtags: x.extractHashtagsWithIndices(text).map(at), mentions: entities.filter((e) => 'screenName' in e).map(at),
    cashtags: entities.filter((e) => 'cashtag' in e).map(at),
    facets: facets.sort((a, b) => a[1] - b[1] || (a[0] < b[0] ? -1 : 1)),
  }));
}
