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
	type written struct {
		letters *unicode.RangeTable
		word    string
	}
	var bodies []object
	var wanted []written
	for _, one := range []struct {
		language, prompt string
		written
	}{
		{"de", "Unser neuer Laufschuh aus alten Netzen", written{unicode.Latin, "was du wissen willst"}},
		{"ar", "حذاؤنا الجديد للجري من شباك قديمة", written{unicode.Arabic, "الصورة"}},
		{"ja", "古い網から作った新しいランニングシューズ", written{unicode.Hiragana, "写真"}},
	} {
		for _, asked := range []string{one.prompt, english} {
			for _, kind := range []string{"post", "story", "carousel"} {
				bodies = append(bodies, object{"factory_id": factory, "kind": kind, "language": one.language,
					"prompt": asked})
				wanted = append(wanted, one.written)
			}
		}
	}
	made := into[[]contentItem](call(t, key, http.MethodPost, contentPath+"/batch", object{"items": bodies}),
		http.StatusAccepted)
	for i, want := range wanted {
		got := ended(t, key, made[i].ID)
		if got.State != "generated" {
			t.Errorf("%v: %+v", bodies[i], got.Failure)
			continue
		}
		if !strings.ContainsFunc(got.Caption, func(r rune) bool { return unicode.Is(want.letters, r) }) ||
			bodies[i]["kind"] == "post" && !strings.Contains(got.Caption, want.word) {
			t.Errorf("%v: the caption is %q", bodies[i], got.Caption)
		}
	}
}
