package e2e

import (
	"net/http"
	"strings"
	"testing"
	"unicode"
)

// Items of a live key are written in their languages, whether the prompt is in the language or in English.
func TestLiveItemsAreInTheirLanguages(t *testing.T) {
	t.Parallel()
	c := newCustomer(t)
	c.topUp(1000)
	key := c.live.Secret
	factory := c.factory(key)
	english := "Our new trail running shoe, made of recycled nets"
	for _, one := range []struct {
		language, prompt string
		letters          *unicode.RangeTable
		word             string
	}{
		{"de", "Unser neuer Laufschuh aus alten Netzen", unicode.Latin, "was du wissen willst"},
		{"ar", "حذاؤنا الجديد للجري من شباك قديمة", unicode.Arabic, "الصورة"},
		{"ja", "古い網から作った新しいランニングシューズ", unicode.Hiragana, "写真"},
	} {
		for _, asked := range []string{one.prompt, english} {
			for _, kind := range []string{"post", "story", "carousel"} {
				body := object{"factory_id": factory, "kind": kind, "language": one.language, "prompt": asked}
				made := into[contentItem](call(t, key, http.MethodPost, contentPath, body), http.StatusAccepted)
				got := ended(t, key, made.ID)
				if got.State != "generated" {
					t.Errorf("%s %s about %q: %+v", one.language, kind, asked, got.Failure)
					continue
				}
				if !strings.ContainsFunc(got.Caption, func(r rune) bool { return unicode.Is(one.letters, r) }) ||
					kind == "post" && !strings.Contains(got.Caption, one.word) {
					t.Errorf("%s %s about %q: the caption is %q", one.language, kind, asked, got.Caption)
				}
			}
		}
	}
}
