// Writes the test's table of words: pkg/media/compose/text/testdata/thai.tsv has a sentence and its words, as ICU
// divides it, which Node has.
//
//     node infra/tools/words/thai.mjs < sentences > pkg/media/compose/text/testdata/thai.tsv

import { readFileSync } from 'node:fs';

const words = new Intl.Segmenter('th', { granularity: 'word' });
for (const sentence of readFileSync(0, 'utf8').split('\n').filter(Boolean)) {
  console.log(`${sentence}\t${[...words.segment(sentence)].map((w) => w.segment).join('|')}`);
}
