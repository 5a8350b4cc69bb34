package text

import (
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/media/compose/script"
)

// The file of captions has every character of what is said, also those that no font has.
func TestSubtitlesHaveEveryCharacter(t *testing.T) {
	for _, c := range []struct{ lang, text string }{
		{"en", "We went to the market, which is called მაღაზია by the locals. It was ৳1,299 a pair ✗ 🏴󠁧󠁢󠁥󠁮󠁧󠁿 & <b>."},
		{"ja", "今日は東京の老舗、𠮷野家で牛丼を食べました。とてもおいしかったので、また行きたいと思います。"},
		{"zh-HK", "升𨋢大優惠，今日𠵱家開始，快啲嚟睇吓啦"},
		{"bn", "ট্রেইল দৌড় আমাদের নতুন জুতা, পুনর্ব্যবহৃত জাল থেকে তৈরি।"},
		{"am", "የመንገድ ሩጫ ጫማ ከተጣራ መረብ የተሰራ"},
		{"de", "Die neue Kranken\u00adversicherungs\u00adkarten\u00adlesegeräteverordnung gilt ab 1\u00a0000 Stück."},
		{"ar", "خصم 50% على iPhone 15 حتى 12/12/2026 فقط"},
		{"th", "วิ่งเทรลบนภูเขาที่สวยงามของประเทศไทย"},
		{"en", strings.Repeat("W", 200) + " \U00016a40\U0001e900\u0378\ue000"},
	} {
		var all strings.Builder
		last := 0
		for _, s := range Subtitles(c.text, c.lang) {
			if len(s.Lines) > subtitleLines || s.Begin < last || s.End <= s.Begin || s.End > len(c.text) {
				t.Errorf("%q: %+v", c.text, s)
			}
			last = s.End
			for _, l := range s.Lines {
				if script.Width(l) > subtitleWide+1 {
					t.Errorf("%q is %.1f wide", l, script.Width(l))
				}
				all.WriteString(l)
			}
		}
		bare := func(s string) string { return strings.Join(strings.Fields(s), "") }
		if bare(all.String()) != bare(c.text) {
			t.Errorf("%q is written as %q", c.text, all.String())
		}
	}
	if got := Subtitles(" \n", "en"); len(got) != 0 {
		t.Errorf("of nothing there are %v", got)
	}
}
