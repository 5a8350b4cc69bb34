package base_test

import (
	"testing"

	"github.com/content-automation/api/pkg/base/text"
)

// A script or a country tells which Chinese characters a reader knows.
func TestTheLanguageOfTexts(t *testing.T) {
	texts := map[string]string{"en": "English", "zh": "simplified", text.Traditional: "traditional", "he": "Hebrew",
		"pt": "Portuguese"}
	for tag, want := range map[string]string{
		"zh": "simplified", "zh-CN": "simplified", "zh-SG": "simplified", "zh-Hans": "simplified",
		"zh-Hans-TW": "simplified", "zh-TW": "traditional", "zh-HK": "traditional", "zh-MO": "traditional",
		"zh-Hant": "traditional", "zh_Hant_US": "traditional", "ZH-tw": "traditional", "pt-BR": "Portuguese", "iw": "Hebrew", "en-GB": "English",
	} {
		if got, known := text.In(texts, tag); got != want || !known {
			t.Errorf("%s: %s, %t; want %s", tag, got, known, want)
		}
	}
	for _, tag := range []string{"", "sw", "xx", "no language", "\xff"} {
		if got, known := text.In(texts, tag); got != "English" || known {
			t.Errorf("%q: %s, %t", tag, got, known)
		}
	}
}
