package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"
)

// goodBooks returns the books of an account whose work has ended, some of it in failure.
func goodBooks() (done []accepted, b books) {
	at := func(seconds int) time.Time { return time.Unix(int64(1000+seconds), 0) }
	event := func(kind, id string, seconds int) told {
		e := told{Type: kind, CreatedAt: at(seconds)}
		e.Data.Object.ID = id
		return e
	}
	state := func(s string) *string { return &s }
	return []accepted{{"cnt_1", at(0)}, {"gen_2", at(1)}, {"gen_3", at(20)}}, books{
		endings: map[string]ending{
			"cnt_1": {ID: "cnt_1", State: "generated", CostCredits: 7, Media: []file{{URL: "x"}}},
			"gen_2": {ID: "gen_2", State: "failed"},
			"gen_3": {ID: "gen_3", State: "generated", CostCredits: 5, Media: []file{{URL: "y"}}},
		},
		events: []told{event("content.generated", "cnt_1", 12), event("studio.failed", "gen_2", 14),
			event("studio.generated", "gen_3", 30)},
		entries: []entry{
			{Kind: "top_up", Subject: "acc_1", Credits: 100},
			{Kind: "reserve", Subject: "cnt_1", Credits: -7, State: state("charged")},
			{Kind: "reserve", Subject: "gen_2", Credits: -9, State: state("released")},
			{Kind: "release", Subject: "gen_2", Credits: 9},
			{Kind: "reserve", Subject: "gen_3", Credits: -5, State: state("charged")},
		},
		balance: 88, sums: sums{Made: 1, CostCredits: 7},
	}
}

func TestJudge(t *testing.T) {
	done, good := goodBooks()
	v := judge(done, good, time.Unix(1010, 0))
	if err := v.broken(); err != nil {
		t.Errorf("all is well, but: %v", err)
	}
	if v.accepted != 3 || v.generated != 2 || v.failed != 1 || v.charged != 12 || v.last != 4*time.Second {
		t.Errorf("got %+v", v)
	}
	for says, change := range map[string]func(*books){
		"1 of 3 pieces of work have not ended": func(
			b *books) {
			delete(b.endings, "gen_3")
		},
		"1 pieces of work were made that nobody asked for": func(
			b *books) {
			b.endings["gen_4"] = ending{ID: "gen_4", State: "generated"}
		},
		"of 1 pieces of work not exactly one event": func(
			b *books) {
			b.events = append(b.events, b.events[0])
		},
		"of 2 pieces of work not exactly one event": func(
			b *books) {
			b.events = b.events[:1]
		},
		"of 1 pieces of work not exactly one event tells that": func(
			b *books) {
			b.events[1].Type = "studio.generated"
		},
		"1 files are missing or damaged": func(
			b *books) {
			b.broken = 1
		},
		"the analytics show {Made:2 Failed:0 CostCredits:7} of content that is {Made:1 Failed:0 CostCredits:7}": func(
			b *books) {
			b.sums.Made++
		},
		"the entries add up to 88, the balance is 89": func(
			b *books) {
			b.balance++
		},
		"gen_2 failed, costs 0, and 0 of 9 was released": func(
			b *books) {
			b.entries[3].Kind = "adjust"
		},
		"cnt_1 costs 6, and 7 of 7 was charged": func(b *books) {
			b.endings["cnt_1"] = ending{ID: "cnt_1", State: "generated", CostCredits: 6, Media: []file{{}}}
		},
		"gen_3 costs 5, and 10 of 10 was charged": func(
			b *books) {
			b.entries = append(b.entries, b.entries[4])
		},
		"gen_3 is generated and was reserved 3 times": func(
			b *books) {
			b.entries = append(b.entries, b.entries[4], b.entries[4])
		},
		"gen_2 is failed and was reserved 1 times": func(
			b *books) {
			b.entries[2].State = b.entries[1].State
		},
		"7 was charged, all work together costs 12": func(
			b *books) {
			b.entries[4].State = nil
		},
		"3 pieces of work, and reservations for 4": func(
			b *books) {
			b.entries = append(b.entries, entry{Kind: "reserve", Subject: "gen_9"})
		},
		"the providers were asked for 7 generations, without a fault for 6": nil,
	} {
		_, b := goodBooks()
		if change != nil {
			change(&b)
		}
		v := judge(done, b, time.Time{})
		if change == nil {
			v.bounds.once, v.bought, v.usual = true, 7, 6
		}
		v.name = "Row"
		if err := v.broken(); err == nil || !strings.Contains(err.Error(), "Row: ") ||
			!strings.Contains(err.Error(), says) {
			t.Errorf("want %q, got %v", says, err)
		}
	}
	_, longer := goodBooks()
	longer.entries = append(longer.entries, entry{Kind: "reserve", Subject: "gen_3", Credits: -2,
		State: longer.entries[4].State})
	longer.balance, longer.endings["gen_3"] = 86, ending{ID: "gen_3", State: "generated", CostCredits: 7,
		Media: []file{{URL: "y"}}}
	if v := judge(done, longer, time.Time{}); v.broken() != nil || v.charged != 14 {
		t.Errorf("a result that costs more: %v, %d charged", v.broken(), v.charged)
	}
	_, b := goodBooks()
	b.endings["cnt_1"] = ending{ID: "cnt_1", State: "generated", CostCredits: 7}
	if v := judge(done, b, time.Time{}); v.media != 1 {
		t.Errorf("work without files: %+v", v)
	}
	if err := (verdict{name: "Row", trouble: errors.New("no answer")}).broken(); err == nil ||
		err.Error() != "Row: no answer" {
		t.Errorf("got %v", err)
	}
}

func TestFetchComparesAFile(t *testing.T) {
	content := []byte("a file")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/there" {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(content)
	}))
	t.Cleanup(server.Close)
	hash := sha256.Sum256(content)
	good := file{server.URL + "/there", int64(len(content)), hex.EncodeToString(hash[:])}
	if err := fetch(t.Context(), good); err != nil {
		t.Error(err)
	}
	for name, f := range map[string]file{
		"gone":     {server.URL + "/gone", good.Bytes, good.SHA256},
		"too long": {good.URL, good.Bytes - 1, good.SHA256},
		"another":  {good.URL, good.Bytes, strings.Repeat("0", 64)},
	} {
		if err := fetch(t.Context(), f); err == nil {
			t.Errorf("%s will do", name)
		}
	}
}

func TestTheMixHasWorkOfAllQueues(t *testing.T) {
	w := &world{receiver: &receiver{address: "http://127.0.0.1:1"}}
	var paths, kinds []string
	for n := range 2 * len(mix) {
		path, body := w.order("fac_1", n)
		paths = append(paths, path)
		if kind, ok := body["kind"].(string); ok {
			kinds = append(kinds, kind)
		}
		if body["prompt"] == nil && body["text"] == nil {
			t.Errorf("%s has nothing to make: %v", path, body)
		}
	}
	for _, path := range []string{"/v1/studio/images", "/v1/studio/videos", "/v1/studio/music", "/v1/studio/voices",
		"/v1/studio/avatars"} {
		if !slices.Contains(paths, path) {
			t.Errorf("nothing of %s", path)
		}
	}
	for _, kind := range []string{"post", "video", "carousel", "story"} {
		if !slices.Contains(kinds, kind) {
			t.Errorf("no %s", kind)
		}
	}
	if _, ok := mix[0].body["prompt"]; ok {
		t.Error("the mix itself was changed")
	}
}
