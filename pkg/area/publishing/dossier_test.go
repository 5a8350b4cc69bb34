package publishing_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"
	"github.com/gowebpki/jcs"

	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/content/publication"
	"github.com/content-automation/api/pkg/area/law"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/record/auditlog"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// dossier reads a dossier and verifies its signature by the steps that the guide describes.
func (w *world) dossier(publicationID string) (d publication.Dossier, sha, kid string) {
	w.T.Helper()
	var got struct {
		Dossier   json.RawMessage
		SHA256    string
		Signature string
		Key       json.RawMessage
	}
	w.Call(http.MethodGet, "/v1/publications/"+publicationID+"/dossier", nil).Into(w.T, http.StatusOK, &got)
	canonical, err := jcs.Transform(got.Dossier)
	if err != nil {
		w.T.Fatal(err)
	}
	if sum := sha256.Sum256(canonical); hex.EncodeToString(sum[:]) != got.SHA256 {
		w.T.Errorf("the hash is %s", got.SHA256)
	}
	var key jose.JSONWebKey
	if err := key.UnmarshalJSON(got.Key); err != nil {
		w.T.Fatal(err)
	}
	signed, err := jose.ParseDetached(got.Signature, canonical, []jose.SignatureAlgorithm{jose.ES256})
	if err != nil {
		w.T.Fatal(err)
	}
	if _, err := signed.Verify(key); err != nil {
		w.T.Errorf("the signature: %v", err)
	}
	if err := json.Unmarshal(got.Dossier, &d); err != nil {
		w.T.Fatal(err)
	}
	return d, got.SHA256, key.KeyID
}

// logged returns the hashes of the dossiers of a publication in the audit log.
func (w *world) logged(publicationID string) (all []string) {
	for _, row := range storetest.Rows(w.T, w.entries) {
		var e auditlog.Entry
		if err := json.Unmarshal([]byte(row["doc"]), &e); err != nil {
			w.T.Fatal(err)
		}
		if e.OperationID == "publication.published" && strings.Contains(e.Path, publicationID) && e.DossierSHA256 != nil &&
			e.Actor.ID == w.Principal.Actor.ID {
			all = append(all, *e.DossierSHA256)
		}
	}
	return all
}

// log writes the entry of a call of now into the audit log.
func (w *world) log(operation, path string) {
	w.T.Helper()
	if err := auditlog.Write(w.T.Context(), w.entries, "", w.Principal.Owner, w.Principal.Actor, auditlog.Entry{
		At: resource.Instant(w.Now()), OperationID: resource.Text(operation), Path: path, Status: 200,
		Count: 1}); err != nil {
		w.T.Fatal(err)
	}
}

// B1: a dossier has no approval that the audit log does not have for this item.
func TestB1ADossierHasNoApprovalThatNobodyGave(t *testing.T) {
	w := newWorld(t)
	telegram := w.connect("telegram")
	for name, path := range map[string]string{"none": "", "another item": "/v1/approvals/cnt_1/approve"} {
		it := w.provide("caption", name, "publish_at", w.Now().AddDate(0, 0, 1), "social_account_ids",
			[]string{telegram})
		w.work()
		w.Call(http.MethodPost, "/v1/approvals/"+it.ID+"/approve", object{"note": "Good"}).Into(t, http.StatusOK, &it)
		if path != "" {
			w.log("approveContentItem", path)
		}
		w.Clock.Add(24 * 3600e9)
		w.work()
		w.Call(http.MethodGet, "/v1/content-items/"+it.ID, nil).Into(t, http.StatusOK, &it)
		if d, _, _ := w.dossier(it.Publications[0].ID); len(d.Approvals) != 0 {
			t.Errorf("%s: %+v", name, d.Approvals)
		}
	}
}

func TestTheDossierOfAPublishedPost(t *testing.T) {
	w := newWorld(t)
	telegram := w.connect("telegram")
	w.Call(http.MethodPatch, "/v1/factories/"+w.factory, object{"region": "RU", "ad_marking": object{"advertiser": "ООО A",
		"tax_id": "7707083893", "erid": "2VtzqxKFvxM"}}).Into(t, http.StatusOK, new(object))
	it := w.provide("caption", "Words <&> “quoted”", "publish_at", w.Now().AddDate(0, 0, 1), "social_account_ids",
		[]string{telegram})
	w.work()
	w.Call(http.MethodGet, "/v1/content-items/"+it.ID, nil).Into(t, http.StatusOK, &it)
	pub := it.Publications[0].ID
	path := "/v1/publications/" + pub + "/dossier"
	w.Call(http.MethodGet, path, nil).Refused(t, http.StatusConflict, errs.InvalidState, "")
	w.Call(http.MethodGet, "/v1/publications/pub_01h455vb4pex5vsknk084sn02q/dossier", nil).
		Refused(t, http.StatusNotFound, errs.NotFound, "")
	w.Call(http.MethodPost, "/v1/approvals/"+it.ID+"/approve", object{"note": "Good"}).Into(t, http.StatusOK, &it)
	w.log("approveContentItem", "/v1/approvals/"+it.ID+"/approve")
	w.Clock.Add(24 * 3600e9)
	w.work()
	d, sha, kid := w.dossier(pub)
	w.Call(http.MethodGet, "/v1/content-items/"+it.ID, nil).Into(t, http.StatusOK, &it)
	text := "Words <&> “quoted”\n\nРеклама. ООО A, ИНН 7707083893. erid: 2VtzqxKFvxM"
	if d.PublicationID != pub || d.ContentItemID != it.ID || d.Platform != "telegram" || d.Region != "RU" ||
		string(d.Texts.Text) != text || !d.PublishedAt.Equal(it.Publications[0].PublishedAt.Time) ||
		d.PublishedFor != w.Principal.Actor.ID {
		t.Errorf("%+v", d)
	}
	var rules []string
	for _, r := range d.Rules {
		if rules = append(rules, r.ID); r.Result != "kept" || r.Version != law.RuleOf(r.ID).Version ||
			r.Jurisdiction != "RU" {
			t.Errorf("%+v", r)
		}
	}
	if !slices.Equal(rules, []string{law.AdPlatforms, law.AdMarked}) {
		t.Errorf("rules %v", rules)
	}
	if len(d.Approvals) != 1 || d.Approvals[0].By != w.Principal.Actor.ID || d.Approvals[0].Note != "Good" {
		t.Errorf("%+v", d.Approvals)
	}
	if !strings.HasPrefix(kid, "test-only-") {
		t.Errorf("the key of a sandbox is %s", kid)
	}
	if got := w.logged(pub); !slices.Equal(got, []string{sha}) {
		t.Errorf("the audit log has %v, want %s", got, sha)
	}
	// It stays as it was when the post is changed and deleted.
	w.Call(http.MethodPatch, "/v1/publications/"+pub, object{"caption": "Other words"}).
		Into(t, http.StatusOK, new(item.PublishedPost))
	w.work()
	if got := w.get(pub).Posted.Text; !strings.HasSuffix(string(got), "erid: 2VtzqxKFvxM") {
		t.Errorf("a changed text lost its marking: %q", got)
	}
	w.Call(http.MethodDelete, "/v1/publications/"+pub, nil).Into(t, http.StatusOK, new(item.PublishedPost))
	w.work()
	if _, now, _ := w.dossier(pub); now != sha {
		t.Errorf("it changed from %s to %s", sha, now)
	}
	kept, err := w.DB.Get(t.Context(), publication.DossierKey(pub))
	if err != nil {
		t.Fatal(err)
	}
	tx := &store.Tx{}
	if tx.Delete(kept); w.DB.Commit(t.Context(), tx) != nil {
		t.Fatal("it is not deleted")
	}
	w.Call(http.MethodGet, path, nil).Refused(t, http.StatusNotFound, errs.NotFound, "")
	w.Stranger().Call(http.MethodGet, path, nil).Refused(t, http.StatusNotFound, errs.NotFound, "")
}

func TestAFailedPublicationHasNoDossier(t *testing.T) {
	w := newWorld(t)
	w.connect("telegram")
	it := w.provide()
	w.Call(http.MethodPost, "/v1/content-items/"+it.ID+"/publish", object{"sandbox": object{"outcome": "failed"}}).
		Into(t, http.StatusAccepted, &it)
	w.work()
	pub := it.Publications[0].ID
	w.Call(http.MethodGet, "/v1/publications/"+pub+"/dossier", nil).
		Refused(t, http.StatusConflict, errs.InvalidState, "")
	if got := w.logged(pub); len(got) > 0 {
		t.Errorf("the audit log has %v", got)
	}
}

// An answer of the audit log that is lost neither ends the publication as failed nor posts anything twice.
func TestALostAnswerOfTheAuditLog(t *testing.T) {
	w := newWorld(t)
	faults := &storetest.Faults{}
	w.entries = storetest.Open(t, w.Now, faults.Attach)
	w.connect("telegram")
	it := w.provide()
	w.Call(http.MethodPost, "/v1/content-items/"+it.ID+"/publish", nil).Into(t, http.StatusAccepted, &it)
	faults.Lose("PutItem", 1)
	w.work()
	pub := it.Publications[0].ID
	_, sha, _ := w.dossier(pub)
	if got := w.logged(pub); len(got) == 0 || got[len(got)-1] != sha {
		t.Errorf("the audit log has %v, want %s", got, sha)
	}
	if calls := faults.Operations(); !strings.Contains(calls, "PutItem") {
		t.Errorf("nothing was lost: %s", calls)
	}
	if got := w.get(pub); got.State != item.PublicationPublished || len(w.posts) > 1 {
		t.Errorf("%s, %d posts", got.State, len(w.posts))
	}
}

// The entry of a post in the audit log names the mandate under which a key has ordered it, and the request.
func TestTheEntryOfAPostNamesItsMandateAndRequest(t *testing.T) {
	w := newWorld(t)
	telegram := w.connect("telegram")
	w.Caller = w.As(func(p *auth.Principal) { p.Mandate = &auth.Mandate{ID: p.Actor.ID + ":2"} })
	w.Gateway.RequestID = "req-order"
	it := w.provide("caption", "Words", "publish_at", w.Clock.Now().AddDate(0, 0, 1), "social_account_ids",
		[]string{telegram})
	w.work()
	w.Gateway.RequestID = "req-approve"
	w.Call(http.MethodPost, "/v1/approvals/"+it.ID+"/approve", nil).Into(t, http.StatusOK, new(object))
	w.Clock.Add(24 * 3600e9)
	w.work()
	found := 0
	for _, row := range storetest.Rows(t, w.entries) {
		var e auditlog.Entry
		if err := json.Unmarshal([]byte(row["doc"]), &e); err != nil {
			t.Fatal(err)
		}
		if e.OperationID == "publication.published" {
			if found++; e.Mandate == nil || *e.Mandate != w.Principal.Actor.ID+":2" {
				t.Errorf("the entry names %v", e.Mandate)
			}
			if e.RequestID != "req-order" {
				t.Errorf("the entry names the request %q", e.RequestID)
			}
		}
	}
	if found != 1 {
		t.Errorf("there are %d entries", found)
	}
}
