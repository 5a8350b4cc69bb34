package analytics_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/store"
)

// Imported posts count in best times, and are told apart.
func TestImportedPostsCount(t *testing.T) {
	w := newWorld(t)
	w.Caller = w.Live()
	const path = "/v1/analytics/imports"
	w.Call(http.MethodPost, path, map[string]any{"social_account_id": "soc_01h455vb4pex5vsknk084sn02q"}).
		Refused(t, http.StatusNotFound, errs.NotFound, "/social_account_id")
	o := w.Principal.Owner
	telegram, vk := w.connect(o, "telegram"), w.connect(o, "vk")
	w.Call(http.MethodPost, path, map[string]any{"social_account_id": telegram}).
		Refused(t, http.StatusUnprocessableEntity, errs.ValidationFailed, "/social_account_id")
	var made, got social.PostImport
	a := w.Call(http.MethodPost, path, map[string]any{"social_account_id": vk,
		"metadata": map[string]string{"a": "b"}})
	a.Into(t, http.StatusAccepted, &made)
	w.Call(http.MethodGet, "/v1/analytics/imports/"+made.ID, nil).Into(t, http.StatusOK, &got)
	if got.State != social.ImportRunning || got.SocialAccountID != vk || got.Metadata["a"] != "b" ||
		a.Header.Get("Location") != "/v1/analytics/imports/"+made.ID {
		t.Errorf("%+v at %s", got, a.Header.Get("Location"))
	}
	w.Stranger().Call(http.MethodGet, "/v1/analytics/imports/"+made.ID, nil).Refused(t, http.StatusNotFound,
		errs.NotFound, "")
	var posts []platform.PastPost
	for n := range 40 {
		at := w.Now().Add(-time.Duration(n+5) * 24 * time.Hour).Truncate(24 * time.Hour).Add(9 * time.Hour)
		posts = append(posts, platform.PastPost{ID: fmt.Sprint(n), Kind: platform.KindPost, At: at,
			Metrics: platform.Metrics{Views: platform.Count(1000), Likes: platform.Count(int64(40 + n%5))}})
	}
	for range 2 { // a post is stored once
		w.commit(func(tx *store.Tx) error {
			_, err := social.KeepPast(t.Context(), w.DB, tx, w.Now(), o, vk, posts)
			return err
		})
	}
	b := w.best("social_account_id=" + vk)
	if b.Posts != 40 || b.Imported != 40 || b.Simulated != 0 || !b.Enough || len(b.Hours) == 0 || b.Hours[0].Hour != 9 {
		t.Errorf("%+v", b)
	}
}
