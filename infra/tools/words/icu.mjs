// Writes a table of words for the tests: a sentence and its words, as ICU divides it, which Node has.
//
//     node infra/tools/words/icu.mjs th < sentences > pkg/media/compose/text/testdata/words.th.tsv

import { readFileSync } from 'node:fs';

const words = new Intl.Segmenter(process.argv[2], { granularity: 'word' });
for (const sentence of readFileSync(0, 'utf8').split('\n').filter(Boolean)) {
  console.log(`${sentence}\t${[...words.segment(sentence)].map((w) => w.segment).join('|')}`);
}
