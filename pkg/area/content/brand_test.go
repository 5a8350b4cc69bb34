package content_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/media"
)

// brand returns the brand of the last composition.
func (w *world) brand() *generate.Brand {
	w.T.Helper()
	switch c := w.composed[len(w.composed)-1].(type) {
	case generate.Carousel:
		return c.Brand
	case generate.Picture:
		return c.Brand
	default:
		w.T.Fatalf("composed was %T", c)
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

// The place of the logo depends on the platforms of the accounts, and settings can put it into media although TikTok
// then refuses them.
func TestThePlaceOfTheLogoByPlatform(t *testing.T) {
	w := newWorld(t)
	logo := w.own(w.Caller, &media.File{ID: "logo", Type: media.Image, Key: "media/logo", MIMEType: "image/png"})
	make := func(places object) {
		w.factory = w.makeFactory(object{"type": "brand", "name": "Acme", "language": "en",
			"settings": object{"brand_name": "Acme", "logo": logo, "logo_places": places}})
	}
	shows := func(what string, logo, name, right bool) {
		t.Helper()
		w.generated("kind", "carousel")
		b := w.brand()
		if got := b != nil && b.Logo != nil; got != logo {
			t.Errorf("%s: shows the logo: %v", what, got)
		}
		if got := b != nil && b.Name != ""; got != name {
			t.Errorf("%s: shows the name: %v", what, got)
		}
		if got := b != nil && b.Right; got != right {
			t.Errorf("%s: it is on the right: %v", what, got)
		}
	}
	vk, telegram, tiktok := w.connect("vk"), w.connect("telegram"), w.connect("tiktok")
	make(object{"vk": "top_right", "telegram": "none"})
	shows("no account", true, true, false)
	w.attach(vk)
	shows("VK alone", true, true, true)
	w.attach(telegram)
	shows("VK and Telegram", false, true, false)
	w.attach(tiktok)
	shows("TikTok, too", false, false, false)

	make(object{"tiktok": "none"})
	w.attach(tiktok)
	shows("TikTok with none", false, false, false)
	make(object{"tiktok": "top_right"})
	w.attach(tiktok)
	shows("TikTok with a place", true, true, true)
	it := w.generated("kind", "carousel")
	w.Call(http.MethodPost, path(it.ID, "publish"), object{"social_account_ids": []string{tiktok},
		"options": choices("duet", nil, "stitch", nil)}).Refused(t, 422, errs.ValidationFailed, "/media")
}
