package publishing_test

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/area/content/item"
	incoming "github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/area/publishing"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/store"
)

// After a decision, the page stays at the post, and keeps what was typed about the other posts: also after an error.
func TestAReviewPageStaysInPlaceAndKeepsNotes(t *testing.T) {
	w := newWorld(t)
	first, second := w.provide("caption", "First words"), w.provide("caption", "Second words")
	_, at := w.link(object{"content_item_ids": []string{first.ID, second.ID}, "may": "decide"})
	_, _, body := w.visit(http.MethodGet, at, nil)
	if !strings.Contains(body, `<form method="post" action="?">`) || !strings.Contains(body, "0 of 2 decided") {
		t.Errorf("%s", body)
	}
	// The note about the first is missing, and one about the second is typed.
	form := url.Values(publishing.Form(second.ID, second.Version, "", "Brighter, please"))
	maps.Copy(form, publishing.Form(first.ID, first.Version, item.ChangesRequested, ""))
	status, _, body := w.visit(http.MethodPost, at, form)
	if status != http.StatusUnprocessableEntity || !strings.Contains(body, ">Brighter, please</textarea>") ||
		!strings.Contains(body, `autofocus aria-invalid="true" aria-describedby="`+first.ID+`-failed"`) {
		t.Errorf("without a note: %d %s", status, body)
	}
	// The first is approved; the note about the second stays.
	maps.Copy(form, publishing.Form(first.ID, first.Version, item.Approved, ""))
	if status, _, body = w.visit(http.MethodPost, at, form); status != http.StatusOK ||
		!strings.Contains(body, ">Brighter, please</textarea>") || !strings.Contains(body, "1 of 2 decided") ||
		!strings.Contains(body, `value="undo `+first.ID+` 2" autofocus`) {
		t.Errorf("with a note about another post: %d %s", status, body)
	}
	// It is sent again by a reload, which has no other effect.
	if status, _, _ = w.visit(http.MethodPost, at, form); status != http.StatusOK {
		t.Errorf("a reload: %d", status)
	}
	// Without another note the page goes back to itself, to the post.
	status, header, _ := w.visit(http.MethodPost, at+"?todo=1&lang=de",
		publishing.Form(second.ID, second.Version, item.ChangesRequested, "Brighter, please"))
	if to := header.Get("Location"); status != http.StatusSeeOther || !strings.HasSuffix(to, "#"+second.ID) ||
		!strings.Contains(to, "todo=1") || !strings.Contains(to, "lang=de") {
		t.Errorf("%d %s", status, to)
	}
	_, _, body = w.visit(http.MethodGet, at+"?todo=1", nil)
	if strings.Contains(body, "First words") || !strings.Contains(body, "2 of 2 decided") {
		t.Errorf("only what waits: %s", body)
	}
	// The last decision is thanked for, on the page and at its post, with the name of who gets the answers.
	owner := w.Principal.Owner.Account
	customer, err := store.NewItem(account.Kind, tenant.Of(owner, ""), string(owner), account.Account{Name: "Demo"})
	if err != nil {
		t.Fatal(err)
	}
	tx := &store.Tx{}
	if tx.Create(customer, nil); w.DB.Commit(t.Context(), tx) != nil {
		t.Fatal("the account is not stored")
	}
	const thanks = "You have decided about all posts. Thank you! Demo has your answers."
	if _, _, body = w.visit(http.MethodGet, at+"?on="+second.ID, nil); strings.Count(body, thanks) != 2 {
		t.Errorf("no thanks: %s", body)
	}
}

// An approved post no longer asks for approval, and no page names ids of keys, people or links as text.
func TestAnApprovedPostAsksNoMore(t *testing.T) {
	w := newWorld(t)
	it := w.provide("caption", "Words")
	l, at := w.link(object{"content_item_ids": []string{it.ID}, "may": "decide"})
	w.Call(http.MethodPost, "/v1/approvals/"+it.ID+"/approve", object{"note": "Fine"}).Into(t, http.StatusOK, &it)
	_, _, body := w.visit(http.MethodGet, at, nil)
	if strings.Contains(body, `value="approved `) || !strings.Contains(body, "1 of 1 decided") ||
		strings.Contains(body, `value="undo `) || strings.Contains(body, "Approve<") {
		t.Errorf("%s", body)
	}
	status, _, body := w.visit(http.MethodPost, at, publishing.Form(it.ID, it.Version, item.Approved, ""))
	if status != http.StatusConflict || !strings.Contains(body, "The post was approved already.") {
		t.Errorf("%d %s", status, body)
	}
	for _, id := range []string{w.Principal.Actor.ID, l.ID, string(w.Principal.Account), w.factory} {
		if strings.Contains(body, id) {
			t.Errorf("the page has %s: %s", id, body)
		}
	}
}

// The reader takes a decision back, unless others have decided since.
func TestUndoOfADecision(t *testing.T) {
	w := newWorld(t)
	w.Call(http.MethodPatch, "/v1/factories/"+w.factory, object{"approval": "required"}).
		Into(t, http.StatusOK, new(object))
	it := w.provide("caption", "Words")
	_, at := w.link(object{"content_item_ids": []string{it.ID}, "may": "decide"})
	for _, what := range []string{item.Approved, item.ChangesRequested} {
		status, _, body := w.visit(http.MethodPost, at, publishing.Form(it.ID, it.Version, what, "Why"))
		if status != http.StatusSeeOther {
			t.Fatalf("%s: %d %s", what, status, body)
		}
		w.Call(http.MethodGet, "/v1/content-items/"+it.ID, nil).Into(t, http.StatusOK, &it)
		if _, _, body := w.visit(http.MethodGet, at, nil); !strings.Contains(body, `value="undo `+it.ID) {
			t.Errorf("%s has no undo: %s", what, body)
		}
		if status, _, _ := w.visit(http.MethodPost, at, publishing.Form(it.ID, it.Version, "undo", "")); status != 303 {
			t.Errorf("undo of %s: %d", what, status)
		}
		w.Call(http.MethodGet, "/v1/content-items/"+it.ID, nil).Into(t, http.StatusOK, &it)
		if it.Approval.State != item.ApprovalPending || it.Approval.By != nil {
			t.Errorf("after the undo of %s: %+v", what, it.Approval)
		}
	}
	w.Call(http.MethodPost, "/v1/approvals/"+it.ID+"/approve", nil).Into(t, http.StatusOK, &it)
	status, _, body := w.visit(http.MethodPost, at, publishing.Form(it.ID, it.Version, "undo", ""))
	if status != http.StatusConflict {
		t.Errorf("undo of another's decision: %d %s", status, body)
	}
	w.Call(http.MethodGet, "/v1/content-items/"+it.ID, nil).Into(t, http.StatusOK, &it)
	if it.Approval.State != item.Approved {
		t.Errorf("%+v", it.Approval)
	}
}

// A page is in the language of its reader, and its times in the zone that they choose.
func TestAReviewPageInEightLanguages(t *testing.T) {
	w := newWorld(t)
	it := w.provide("caption", "Words")
	_, at := w.link(object{"content_item_ids": []string{it.ID}, "may": "decide"})
	for accept, words := range map[string][]string{
		"": {"Approve", "Posts to review", `lang="en"`}, "ru-RU": {"Согласовать", "Решено: 0 из 1", `<html lang="ru" dir="ltr">`},
		"de": {"Freigeben", "0 von 1 entschieden"}, "es-MX": {"Aprobar", "Publicaciones para revisar"},
		"fr": {"Approuver", "0 sur 1 décidées"}, "pt-BR,en;q=0.5": {"Aprovar", "0 de 1 decididas"}, "nl": {"Approve"},
		"ar-EG": {"موافقة", `<html lang="ar" dir="rtl">`, "تم البت في 0 من 1"}, "ja": {"承認", "回答済み 0/1"},
	} {
		req := httptest.NewRequest(http.MethodGet, at, nil)
		req.Header.Set("Accept-Language", accept)
		rec := httptest.NewRecorder()
		w.service.With(http.NotFoundHandler()).ServeHTTP(rec, req)
		for _, word := range words {
			if !strings.Contains(rec.Body.String(), word) {
				t.Errorf("%q lacks %q: %s", accept, word, rec.Body)
			}
		}
	}
	w.Call(http.MethodPost, "/v1/content-items/"+it.ID+"/schedule", object{"social_account_ids": []string{
		w.connect("telegram")}, "publish_at": w.Now().Add(48 * time.Hour).Truncate(time.Hour)}).
		Into(t, http.StatusOK, new(object))
	for query, words := range map[string][]string{
		"?lang=de&zone=Asia/Tokyo": {"Freigeben", "Geplant für", "(Asia/Tokyo)"}, "": {"Planned for", "(UTC)"},
		"?lang=xx&zone=Mars/Olympus": {"Approve", "(UTC)"}, "?zone=Local": {"(UTC)"},
	} {
		_, _, body := w.visit(http.MethodGet, at+query, nil)
		for _, word := range words {
			if !strings.Contains(body, word) {
				t.Errorf("%s lacks %q: %s", query, word, body)
			}
		}
	}
}

// A page shows thumbnails: a click opens the whole picture, and a video is fetched when it is played. Files without one
// are shown as they are.
func TestAReviewPageShowsThumbnails(t *testing.T) {
	w := newWorld(t)
	file := media.File{Type: media.Image, MIMEType: "image/png", Key: "media/a/test/med_1/1/1.png", Width: 1080,
		Height: 1350, Bytes: 1, SHA256: strings.Repeat("0", 64)}
	whole := w.own(file)
	file.Key, file.Thumb = "media/a/test/med_2/1/2.png", true
	small := w.own(file)
	file.Key, file.Type, file.MIMEType, file.DurationSeconds = "media/a/test/med_3/1/3.mp4", media.Video, "video/mp4", 9
	clip := w.own(file)
	it := w.provide("kind", "carousel", "media", []string{whole, small, clip})
	_, at := w.link(object{"content_item_ids": []string{it.ID}})
	_, header, body := w.visit(http.MethodGet, at, nil)
	for _, want := range []string{
		`<img src="https?://[^"]*/med_1/1/1\.png\?[^"]*" alt="Image 1 of 3`,
		`<a href="https?://[^"]*/med_2/1/2\.png\?[^"]*" target="_blank" rel="noopener">` +
			`<img src="https?://[^"]*/med_2/1/2\.png\.thumb\.jpg\?`,
		`<video controls preload="none" poster="https?://[^"]*/3\.mp4\.thumb\.jpg\?[^"]*" src="https?://[^"]*/3\.mp4\?`,
	} {
		if !regexp.MustCompile(want).MatchString(body) {
			t.Errorf("the page lacks %s: %s", want, body)
		}
	}
	if policy := header.Get("Content-Security-Policy"); !strings.Contains(policy, "img-src data: http") {
		t.Errorf("%s", policy)
	}
}

// own brings a media with a file in.
func (w *world) own(file media.File) string {
	w.T.Helper()
	now := w.Clock.Now()
	r := incoming.New(id.New(id.Media, now), now, incoming.Declared{}, "", nil)
	create := &store.Tx{}
	if err := incoming.Create(create, now, w.Principal.Owner, r); err != nil {
		w.T.Fatal(err)
	}
	if err := w.DB.Commit(w.T.Context(), create); err != nil {
		w.T.Fatal(err)
	}
	it, err := w.DB.Get(w.T.Context(), store.IDKey(r.ID))
	if err != nil {
		w.T.Fatal(err)
	}
	settle := &store.Tx{}
	if err := incoming.Settle(settle, now, it, r, &file, nil); err != nil {
		w.T.Fatal(err)
	}
	if err := w.DB.Commit(w.T.Context(), settle); err != nil {
		w.T.Fatal(err)
	}
	w.Clock.Add(time.Second)
	return r.ID
}
