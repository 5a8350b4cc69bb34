package content_test

import (
	"maps"
	"net/http"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/media"
)

// choices are the choices of a person who posts on TikTok.
func choices(changes ...any) object {
	all := object{"privacy": "public", "comments": true, "duet": false, "stitch": false, "disclosure": "none",
		"consent": true}
	for i := 0; i+1 < len(changes); i += 2 {
		if changes[i+1] == nil {
			delete(all, changes[i].(string))
		} else {
			all[changes[i].(string)] = changes[i+1]
		}
	}
	return object{"tiktok": all}
}

func TestAPostOnTikTokNeedsTheChoicesOfAPerson(t *testing.T) {
	w := newWorld(t)
	tiktok := w.connect("tiktok")
	clip := w.own(w.Caller, &media.File{ID: "med_2_1", Type: media.Video, MIMEType: "video/mp4",
		Key: "media/a/test/med_2/1/1.mp4", Width: 1080, Height: 1920, DurationSeconds: 9, Bytes: 9})
	it := w.provide("kind", "video", "media", []string{clip}, "caption", "Words")
	ask := func(options object) (params map[string]bool) {
		a := w.Call(http.MethodPost, path(it.ID, "schedule"), object{"publish_at": w.Now().Add(time.Hour),
			"social_account_ids": []string{tiktok}, "options": options})
		params = map[string]bool{}
		if a.Error != nil {
			for _, d := range a.Error.Details {
				params[d.Param] = true
			}
			return params
		}
		w.Call(http.MethodPost, path(it.ID, "schedule"), object{"publish_at": nil}).Into(t, 200, new(item.Item))
		return params
	}
	at := func(names ...string) map[string]bool {
		all := map[string]bool{}
		for _, name := range names {
			all["/options/tiktok/"+name] = true
		}
		return all
	}
	for name, c := range map[string]struct {
		options object
		want    map[string]bool
	}{
		"nothing":    {nil, at("privacy", "comments", "duet", "stitch", "disclosure", "consent")},
		"no privacy": {choices("privacy", nil), at("privacy")},
		"no consent": {choices("consent", false), at("consent")},
		"private branded content": {choices("disclosure", "paid_partnership", "privacy", "private"),
			at("privacy")},
		"an inbox without consent": {object{"tiktok": object{"mode": "inbox"}}, at("consent")},
		"an inbox":                 {object{"tiktok": object{"mode": "inbox", "consent": true}}, at()},
		"all":                      {choices(), at()},
	} {
		if got := ask(c.options); !maps.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	// Calls that name no account leave it out, and say so.
	w.attach(tiktok, w.connect("vk"))
	other := w.provide("kind", "video", "media", []string{clip}, "caption", "Words")
	w.publish(other.ID)
	w.work()
	got := w.get(other.ID)
	if got.State != item.Published || len(got.Publications) != 1 || len(got.OmittedAccounts) != 1 ||
		got.OmittedAccounts[0].Code != "choices_required" {
		t.Errorf("%+v", got)
	}
	w.Call(http.MethodPost, path(other.ID, "publish"), object{"social_account_ids": []string{tiktok},
		"options": object{"tiktok": object{"disclosure": "all"}}}).
		Refused(t, http.StatusUnprocessableEntity, errs.ValidationFailed, "/options/tiktok/disclosure")
	w.publish(other.ID, "social_account_ids", []string{tiktok}, "options", choices())
	w.work()
	if got = w.get(other.ID); len(got.Publications) != 2 || got.Publications[1].State != "published" {
		t.Errorf("%+v", got.Publications)
	}
}
