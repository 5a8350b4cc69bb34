package content_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/generate/composition"
)

// brand returns the brand of the last composition.
func (w *world) brand() *composition.Brand {
	w.t.Helper()
	switch c := w.composed[len(w.composed)-1].(type) {
	case composition.Carousel:
		return c.Brand
	case composition.Picture:
		return c.Brand
	default:
		w.t.Fatalf("composed was %T", c)
		return nil
	}
}

// TikTok permits no logo and no name of a brand in media. They are made without for a
// factory with an account there, and others are not published there.
func TestMediaForTikTokShowNoBrand(t *testing.T) {
	w := newWorld(t)
	w.factory = w.makeFactory(object{"type": "brand", "name": "Acme", "language": "en",
		"settings": object{"brand_name": "Acme", "colors": []string{"#ff6600"}}})
	w.attach(w.connect("vk"))
	branded := w.generated("kind", "carousel")
	if b := w.brand(); b == nil || b.Name != "Acme" || b.Color != "#ff6600" {
		t.Fatalf("without TikTok it shows %+v", b)
	}
	tiktok := w.connect("tiktok")
	const why = "permits no logo and no name of a brand in media, and those of the item show them"
	refuses := func(it item.Item) bool {
		a := w.Call(http.MethodPost, path(it.ID, "publish"), object{"social_account_ids": []string{tiktok}})
		return a.Status == http.StatusUnprocessableEntity && strings.Contains(a.Raw, why)
	}
	if !refuses(branded) {
		t.Error("TikTok takes media with a brand")
	}
	w.publish(branded.ID, "social_account_ids", []string{w.connect("telegram")}) // others take it
	w.attach(tiktok)
	plain := w.generated("kind", "carousel")
	if b := w.brand(); b == nil || b.Name != "" || b.Logo != nil || b.Color != "#ff6600" {
		t.Errorf("for TikTok it shows %+v", b)
	}
	if refuses(plain) {
		t.Error("TikTok refuses media without a brand")
	}
	// TikTok takes no stories.
	w.generated("kind", "story")
	if b := w.brand(); b == nil || b.Name != "Acme" {
		t.Errorf("a story shows %+v", b)
	}
}
