package main_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/testdata/providers/control"
	"github.com/content-automation/api/testdata/providers/heygen"
	"github.com/content-automation/api/testdata/providers/sample"
)

func TestStrictness(t *testing.T) {
	const (
		avatar = `"type":"avatar","avatar_id":"Angela-inTshirt-20220820"`
		script = `"script":"Hello","voice_id":"1bd001e7e50f421d891986aad5158bc8"`
		audio  = `"audio_url":"https://example.test/a.mp3"`
		photo  = `"type":"image","image":{"type":"url","url":"https://example.test/a.png"}`
	)
	for name, c := range map[string]struct {
		body   string
		status int
	}{
		"a script":  {avatar + `,` + script, 200},
		"speech":    {avatar + `,` + audio, 200},
		"a picture": {photo + `,` + script, 200},
		"all of it": {avatar + `,` + script +
			`,"title":"t","aspect_ratio":"9:16","resolution":"4k","voice_settings":{"speed":1.5,"pitch":-50,"locale":"en-US"}`, 200},
		"null":           {avatar + `,` + script + `,"audio_url":null,"resolution":null`, 200},
		"loopback":       {avatar + `,"audio_url":"http://127.0.0.1:8080/a.mp3"`, 200},
		"no type":        {script, 400},
		"no such type":   {`"type":"cinematic","avatar_id":"x",` + script, 400},
		"no avatar":      {`"type":"avatar",` + script, 400},
		"no such avatar": {`"type":"avatar","avatar_id":"x",` + script, 404},
		"an avatar and a picture": {avatar + `,"image":{"type":"url","url":"https://example.test/a.png"},` +
			script, 400},
		"no picture":               {`"type":"image",` + script, 400},
		"a picture of no address":  {`"type":"image","image":{"type":"url"},` + script, 400},
		"a picture as a text":      {`"type":"image","image":"https://example.test/a.png",` + script, 400},
		"nothing to say":           {avatar, 400},
		"an empty script":          {avatar + `,"script":" ","voice_id":"1bd001e7e50f421d891986aad5158bc8"`, 400},
		"a script without a voice": {avatar + `,"script":"Hello"`, 400},
		"no such voice":            {avatar + `,"script":"Hello","voice_id":"x"`, 404},
		"a script and speech":      {avatar + `,` + script + `,` + audio, 400},
		"speech without TLS":       {avatar + `,"audio_url":"http://example.test/a.mp3"`, 400},
		"no such ratio":            {avatar + `,` + script + `,"aspect_ratio":"1:1"`, 400},
		"no such resolution":       {avatar + `,` + script + `,"resolution":"480p"`, 400},
		"too fast":                 {avatar + `,` + script + `,"voice_settings":{"speed":2}`, 400},
		"no such locale":           {avatar + `,` + script + `,"voice_settings":{"locale":"english"}`, 400},
		"an unknown member":        {avatar + `,` + script + `,"seconds":5`, 400},
		"a number for a text":      {avatar + `,` + script + `,"title":5`, 400},
	} {
		log := control.New()
		w := httptest.NewRecorder()
		heygenNewFake(log).ServeHTTP(w, request("POST", "/v3/videos", `{`+c.body+`}`, "k"))
		if w.Code != c.status {
			t.Errorf("%s: status %d, want %d: %s", name, w.Code, c.status, w.Body)
		}
		if n := len(log.Accepted()); (n == 1) != (c.status == 200) {
			t.Errorf("%s: %d accepted", name, n)
		}
	}
}

func TestNobodyComesInWithoutTheKey(t *testing.T) {
	for _, path := range []string{"POST /v3/videos", "GET /v3/videos/v_1"} {
		for _, key := range []string{"", "x"} {
			method, path, _ := strings.Cut(path, " ")
			w := httptest.NewRecorder()
			heygenNewFake(control.New()).ServeHTTP(w, request(method, path, `{}`, key))
			if w.Code != http.StatusUnauthorized {
				t.Errorf("%s with the key %q: status %d", path, key, w.Code)
			}
		}
	}
}

func TestFilesNeedASignature(t *testing.T) {
	for _, query := range []string{"", "?Expires=9999999999", "?Expires=9999999999&Signature=00",
		"?Expires=x&Signature="} {
		w := httptest.NewRecorder()
		heygenNewFake(control.New()).ServeHTTP(w, request("GET", "/files/avatar-9x16.mp4"+query, "", ""))
		if w.Code != http.StatusForbidden {
			t.Errorf("%q: status %d", query, w.Code)
		}
	}
}

// A fake can be below a prefix, together with other providers' fakes.
func TestAddressesHaveThePrefixOfTheFake(t *testing.T) {
	now := time.Now()
	clock := func() time.Time { return now }
	mux := http.NewServeMux()
	mux.Handle("/heygen/", http.StripPrefix("/heygen",
		heygen.New(heygen.Config{Control: control.New(), Media: sample.Files, Now: clock, Took: time.Second})))
	call := func(method, path, body string) (into struct {
		Data struct {
			ID  string `json:"video_id"`
			URL string `json:"video_url"`
		}
	}) {
		t.Helper()
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, request(method, path, body, "any"))
		if err := json.Unmarshal(w.Body.Bytes(), &into); err != nil || w.Code != http.StatusOK {
			t.Fatalf("%s %s: %d %s", method, path, w.Code, w.Body)
		}
		return into
	}
	id := call("POST", "/heygen/v3/videos",
		`{"type":"avatar","avatar_id":"Angela-inTshirt-20220820","audio_url":"https://example.test/a.mp3"}`).Data.ID
	now = now.Add(time.Second)
	address := call("GET", "/heygen/v3/videos/"+id, "").Data.URL
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, httptest.NewRequest("GET", address, nil))
	if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "video/mp4" || w.Body.Len() == 0 {
		t.Errorf("%s: %d, %d bytes", address, w.Code, w.Body.Len())
	}
}

func heygenNewFake(c *control.Control) http.Handler {
	return heygen.New(heygen.Config{Control: c, Media: sample.Files, Now: time.Now, Key: "k"})
}

func request(method, path, body, key string) *http.Request {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Api-Key", key)
	return r
}
