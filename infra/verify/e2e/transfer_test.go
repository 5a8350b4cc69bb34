package e2e

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/poll"
)

// transferred is an export or import.
type transferred struct {
	ID        string
	State     string
	Parts     []object
	Resources map[string]any
	Map       map[string]string
	Failure   any
	MapURL    string `json:"map_url"`
}

// transferEnds waits for the end of an export or import.
func transferEnds(t *testing.T, secret, path string, begun transferred) (ended transferred) {
	t.Helper()
	poll.Until(t, "the end of "+begun.ID, func() bool {
		ended = into[transferred](call(t, secret, "GET", path+"/"+begun.ID, nil), http.StatusOK)
		return ended.State != "running"
	})
	if ended.State != "completed" {
		t.Fatalf("it is %+v", ended)
	}
	return ended
}

// download reads a signed URL.
func download(t *testing.T, url string) []byte {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	content, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d, %v", url, resp.StatusCode, err)
	}
	return content
}

// TestAnAccountMoves exports the sandbox of an account, and imports it into another account.
func TestAnAccountMoves(t *testing.T) {
	from, to := newCustomer(t), newCustomer(t)
	old, other := from.test.Secret, to.live.Secret
	hooks := newReceiver(t)
	call(t, old, "POST", "/v1/webhooks", object{"url": hooks.URL + "/hook", "event_types": []string{"export.*"}})
	item := ended(t, old, into[contentItem](call(t, old, "POST", contentPath, object{"factory_id": from.factory(old),
		"kind": "post", "prompt": "A shoe made of recycled nets"}), http.StatusAccepted).ID)
	begun := into[transferred](call(t, old, "POST", "/v1/exports", object{}), http.StatusAccepted)
	x := transferEnds(t, old, "/v1/exports", begun)
	poll.Until(t, "export.completed", func() bool { return len(hooks.about(x.ID)) == 1 })
	if first := download(t, x.Parts[0]["url"].(string)); !bytes.HasPrefix(first, []byte(`{"kind":"header"`)) {
		t.Errorf("it begins with %.100s", first)
	}
	begun = into[transferred](call(t, other, "POST", "/v1/imports", object{"parts": x.Parts}), http.StatusAccepted)
	i := transferEnds(t, other, "/v1/imports", begun)
	made := into[contentItem](call(t, other, "GET", contentPath+"/"+i.Map[item.ID], nil), http.StatusOK)
	if made.State != "generated" || len(made.Media) != len(item.Media) || i.Map[item.ID] == item.ID {
		t.Fatalf("%+v of %+v", made, item)
	}
	for n := range made.Media {
		if !bytes.Equal(download(t, made.Media[n].URL), download(t, item.Media[n].URL)) {
			t.Errorf("file %d is another one", n)
		}
	}
	var line object
	if err := json.Unmarshal(bytes.SplitN(download(t, i.MapURL), []byte("\n"), 2)[0], &line); err != nil ||
		line["new_id"] != i.Map[line["old_id"].(string)] {
		t.Errorf("the map begins with %v, %v", line, err)
	}
	// A key of the other account does not see the export.
	if err := call(t, other, "GET", "/v1/exports/"+x.ID, nil).refused(http.StatusNotFound, "not_found"); err != nil {
		t.Error(err)
	}
}
