package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/adapter/provider/sandbox"
	"github.com/content-automation/api/testdata/platforms/telegram"
)

const (
	items = "/v1/content-items"
	noon  = "2026-05-01T12:00:00Z"
)

// play makes the calls of a test suite, and returns all that the sandbox has said and sent.
func play(t *testing.T, port string, to *receiver) string {
	t.Helper()
	b := newBox(t, "--port", port, "--seed", "7", "--now", noon)
	to.listen(b)
	b.note(&b.answers, "%s", b.lines())
	for path, want := range map[string]string{"/healthz": "ok", linesPath: b.lines()} {
		if got := get(t, b.URL+path); !strings.Contains(got, want) {
			t.Errorf("%s: %s", path, got) // not noted: the order does not matter
		}
	}
	factory := b.begin(to)
	var made []string
	for _, body := range []object{
		{"kind": "post"}, {"kind": "carousel", "slides": []object{{"text": "One"}, {}}}, {"kind": "story"},
		{"kind": "video", "duration_seconds": 10, "visuals": "stills", "music": "generated"},
		{"kind": "music_clip", "duration_seconds": 15},
		{"kind": "post", "sandbox": object{"outcome": "failed", "failure_code": "content_policy"}},
		{"kind": "post", "sandbox": object{"delay_seconds": 30}},
	} {
		body["factory_id"], body["prompt"] = factory, "A shoe made of recycled nets"
		item := b.call(http.StatusAccepted, "POST", items, body)
		if item["state"] != "queued" {
			t.Errorf("a new item is %v", item["state"])
		}
		made = append(made, item["id"].(string))
	}
	for i, id := range made {
		item := b.call(http.StatusOK, "GET", items+"/"+id, nil)
		if want := map[bool]string{true: "failed", false: "generated"}[i == 5]; item["state"] != want {
			t.Errorf("item %d is %v", i, item)
		}
		for _, f := range item["media"].([]any) {
			b.note(&b.answers, "%x\n", sha256.Sum256([]byte(get(t, f.(object)["url"].(string)))))
		}
	}
	account := b.call(http.StatusCreated, "POST", "/v1/social/accounts", object{"platform": "telegram",
		"bot_token": telegram.Token, "channel": telegram.Channel})["id"].(string)
	b.call(http.StatusAccepted, "POST", items+"/"+made[0]+"/publish", object{"social_account_ids": []string{account}})
	if got := b.call(http.StatusOK, "GET", items+"/"+made[0], nil); got["state"] != "published" {
		t.Errorf("the item is %v: %v", got["state"], got["publications"])
	}
	b.call(http.StatusOK, "POST", items+"/"+made[1]+"/schedule", object{"publish_at": "2026-05-01T18:00:00Z",
		"social_account_ids": []string{account}})
	b.call(http.StatusAccepted, "POST", "/v1/factories/"+factory+"/content-plan", object{"days": 2, "posts_per_day": 1,
		"content_types": []string{"post"}})
	if got := b.call(http.StatusOK, "GET", "/v1/factories/"+factory+"/content-plan", nil); got["state"] != "completed" {
		t.Errorf("the plan is %v", got)
	}
	b.bring(t)
	live := b.callAs(b.Live, http.StatusCreated, "POST", "/v1/factories", object{"type": "brand", "name": "Nets",
		"settings": object{"brand_name": "Acme"}})["id"]
	item := b.callAs(b.Live, http.StatusAccepted, "POST", items, object{"factory_id": live, "kind": "video",
		"duration_seconds": 10, "prompt": "A shoe made of recycled nets"})["id"].(string)
	if got := b.callAs(b.Live, http.StatusOK, "GET", items+"/"+item, nil); got["state"] != "generated" {
		t.Errorf("the live item is %v", got)
	}
	b.call(http.StatusOK, "GET", items+"?limit=5", nil)
	b.call(http.StatusOK, "GET", "/v1/events?limit=100", nil)
	b.call(http.StatusUnprocessableEntity, "POST", items, object{"factory_id": factory, "kind": "painting"})
	b.call(http.StatusNotFound, "GET", items+"/cnt_00000000000000000000000000", nil)
	b.callAs("svc_test_wrong", http.StatusUnauthorized, "GET", items, nil)
	b.call(http.StatusOK, "GET", "/v1/audit-log?limit=100", nil)
	b.stop()
	return b.heard()
}

// begin makes the first calls of the suite, and returns the id of a factory.
func (b *box) begin(to *receiver) string {
	b.call(http.StatusOK, "GET", "/v1/me", nil)
	b.call(http.StatusCreated, "POST", "/v1/webhooks", object{"url": to.URL, "event_types": []string{"*"}})
	return b.call(http.StatusCreated, "POST", "/v1/factories", object{"type": "musician", "name": "Sea",
		"settings": object{"artist_name": "The Nets", "genres": []string{"folk"}}})["id"].(string)
}

// bring uploads a picture.
func (b *box) bring(t *testing.T) {
	t.Helper()
	content, err := sandbox.JPEG(sandbox.Scene{Width: 640, Height: 640})
	if err != nil {
		t.Fatal(err)
	}
	made := b.call(http.StatusCreated, "POST", "/v1/media", object{"mime_type": "image/jpeg", "bytes": len(content),
		"sha256": fmt.Sprintf("%x", sha256.Sum256(content))})
	upload := made["upload"].(object)
	req, err := http.NewRequestWithContext(t.Context(), upload["method"].(string), upload["url"].(string),
		bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range upload["headers"].(object) {
		req.Header.Set(name, value.(string))
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatal(resp, err)
	}
	defer resp.Body.Close()
	b.note(&b.answers, "%s", headers(resp.Header))
	if got := b.call(http.StatusOK, "GET", "/v1/media/"+made["id"].(string), nil); got["state"] != "ready" {
		t.Errorf("the upload is %v", got)
	}
}

// get reads a public address.
func get(t *testing.T, url string) string {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	content, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d %s, %v", url, resp.StatusCode, content, err)
	}
	return string(content)
}

// The same calls get the same answers, to the byte, and the same webhooks are sent, in the same order, with the same
// seed and time.
func TestTheSameSeedGivesTheSameAnswers(t *testing.T) {
	port, to := freePort(t), newReceiver(t)
	first := play(t, port, to)
	if n := strings.Count(first, "webhook\n"); n < 12 {
		t.Errorf("%d webhooks were sent", n)
	}
	again := play(t, port, to)
	if first != again {
		was, is := strings.Split(first, "\n"), strings.Split(again, "\n")
		for i := range min(len(was), len(is)) {
			if was[i] != is[i] {
				t.Fatalf("line %d was\n%s\nand is\n%s", i, was[i], is[i])
			}
		}
		t.Fatalf("there were %d lines, and are %d", len(was), len(is))
	}
	other := newBox(t, "--port", port, "--seed", "8", "--now", noon)
	to.listen(other)
	if id := other.begin(to); strings.Contains(first, other.Test) || strings.Contains(first, id) {
		t.Error("another seed gives the same keys or ids")
	}
}

// The seed alone determines the keys.
func TestTheSeedDeterminesTheKeys(t *testing.T) {
	keys := func(args ...string) [2]string {
		b := newBox(t, append([]string{"--port", "0"}, args...)...)
		b.call(http.StatusOK, "GET", "/v1/me", nil)
		b.callAs(b.Live, http.StatusOK, "GET", "/v1/me", nil)
		return [2]string{b.Test, b.Live}
	}
	first := keys("--seed", "3")
	if again := keys("--seed", "3"); again != first {
		t.Errorf("%v is %v the next time", first, again)
	}
	for _, other := range [][2]string{keys("--seed", "4"), keys()} {
		if other[0] == first[0] || other[1] == first[1] {
			t.Errorf("%v is the same as %v", other, first)
		}
	}
}
