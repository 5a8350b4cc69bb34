package main

import (
	"io"
	"net"
	"net/http"
	"path/filepath"
	"testing"
	"time"
)

// lane starts a sandbox that does one thing at a time.
func lane(t *testing.T, args ...string) (b *box, factory string) {
	t.Helper()
	b = newBox(t, append([]string{"--port", "0", "--now", noon}, args...)...)
	return b, b.call(http.StatusCreated, "POST", "/v1/factories", object{"type": "brand", "name": "Sea",
		"settings": object{"brand_name": "Acme"}})["id"].(string)
}

// With no time ahead, work takes the time of the calls: it can be watched and canceled.
func TestWorkThatIsDueLaterWaits(t *testing.T) {
	b, factory := lane(t, "--ahead", "0s")
	var made []string
	for range 2 {
		made = append(made, b.call(http.StatusAccepted, "POST", items, object{"factory_id": factory, "kind": "post",
			"prompt": "nets", "sandbox": object{"delay_seconds": 20}})["id"].(string))
	}
	if got := b.call(http.StatusOK, "GET", items+"/"+made[0], nil)["state"]; got != "generating" {
		t.Errorf("at once it is %v", got)
	}
	b.call(http.StatusOK, "POST", items+"/"+made[1]+"/cancel", nil)
	calls := 0
	for b.call(http.StatusOK, "GET", items+"/"+made[0], nil)["state"] != "generated" {
		if calls++; calls > 200 {
			t.Fatal("it never ends")
		}
	}
	if calls < 10 {
		t.Errorf("it ended after %d calls of a second each", calls)
	}
	if got := b.call(http.StatusOK, "GET", items+"/"+made[1], nil)["state"]; got != "canceled" {
		t.Errorf("the canceled one is %v", got)
	}
}

// The clock moves by calls only: health checks do not matter, nor does the time of this machine.
func TestTheClockMovesByCalls(t *testing.T) {
	b, _ := lane(t, "--ahead", "0s")
	date := func() time.Time {
		req, err := http.NewRequestWithContext(t.Context(), "GET", b.URL+"/v1/me", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+b.Test)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		at, err := http.ParseTime(resp.Header.Get("Date"))
		if err != nil || resp.Header.Get("X-Request-Id") == "" {
			t.Fatal(resp.Header, err)
		}
		return at
	}
	first := date()
	for range 120 { // more than a deployed service answers without a key
		get(t, b.URL+"/healthz")
	}
	if second := date(); second.Sub(first) > 2*time.Second || second.Sub(first) < time.Second {
		t.Errorf("a second is %v", second.Sub(first))
	}
	if first.Format("2006-01-02T15:04") != noon[:16] {
		t.Errorf("the clock begins at %v", first)
	}
}

// A receiver may call the service before it answers, although the service does one thing at a time.
func TestAReceiverMayCallTheService(t *testing.T) {
	b, factory := lane(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	states := make(chan any, 1)
	made := make(chan string, 1)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		states <- b.call(http.StatusOK, "GET", items+"/"+<-made, nil)["state"]
	})}
	go func() { _ = server.Serve(listener) }()
	defer server.Close()
	hook := b.call(http.StatusCreated, "POST", "/v1/webhooks", object{"url": "http://" + listener.Addr().String(),
		"event_types": []string{"content.generated"}})["id"].(string)
	id := b.call(http.StatusAccepted, "POST", items, object{"factory_id": factory, "kind": "post", "prompt": "nets"})["id"]
	made <- id.(string)
	select {
	case got := <-states:
		if got != "generated" {
			t.Errorf("the receiver reads %v", got)
		}
	case <-time.After(2 * time.Minute):
		t.Fatal("the receiver waits for the service, and the service for the receiver")
	}
	// The call was part of the only attempt, which has succeeded.
	var all []any
	for range 100 { // the answer of the receiver may be on its way
		all = b.call(http.StatusOK, "GET", "/v1/webhooks/"+hook+"/deliveries", nil)["all"].([]any)
		if len(all) == 1 && all[0].(object)["state"] == "delivered" {
			break
		}
	}
	if len(all) != 1 || all[0].(object)["state"] != "delivered" || len(all[0].(object)["attempts"].([]any)) != 1 {
		t.Errorf("the deliveries are %v", all)
	}
}

// With ffmpeg, media are composed as by the live service: the same parts give other files than a sketch.
func TestMediaAreComposedByFFmpeg(t *testing.T) {
	tools := filepath.Join("..", "..", ".tools", "media")
	sums := map[any]bool{}
	real := []string{"--ffmpeg", filepath.Join(tools, "ffmpeg"), "--fonts", filepath.Join(tools, "fonts")}
	for _, args := range [][]string{nil, real} {
		b, factory := lane(t, append(args, "--seed", "1")...)
		id := b.call(http.StatusAccepted, "POST", items, object{"factory_id": factory, "kind": "story",
			"prompt": "nets"})["id"]
		item := b.call(http.StatusOK, "GET", items+"/"+id.(string), nil)
		if item["state"] != "generated" {
			t.Fatalf("the item is %v", item)
		}
		sums[item["media"].([]any)[0].(object)["sha256"]] = true
	}
	if len(sums) != 2 {
		t.Errorf("the pictures are %v", sums)
	}
}

// Signals end the program also while it works.
func TestTheProgramEndsWhileItWorks(t *testing.T) {
	b, factory := lane(t)
	b.call(http.StatusAccepted, "POST", items, object{"factory_id": factory, "kind": "video", "prompt": "nets",
		"duration_seconds": 10})
	b.stop() // waits for its end
}
